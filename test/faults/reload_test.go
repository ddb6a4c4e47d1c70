package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// boxOf is a configuration with these servers in the toolbox "box".
func boxOf(servers entry) string {
	return wiretest.JSON(entry{"openTimeout": "10s", "toolboxes": entry{"box": entry{"mcpServers": servers}, "more": entry{"mcpServers": entry{}}}})
}

// logs waits until the log has a line with all the pieces, and so many of them.
func (b *bed) logs(n int, pieces ...string) {
	b.t.Helper()
	var text string
	if !eventually(func() bool {
		log, _ := os.ReadFile(b.path("log"))
		text = string(log)
		found := 0
		for line := range strings.Lines(text) {
			all := true
			for _, p := range pieces {
				all = all && strings.Contains(line, p)
			}
			if all {
				found++
			}
		}
		return found >= n
	}) {
		b.t.Fatalf("the log has not %d lines with %q:\n%s", n, pieces, text)
	}
}

const reloaded = "configuration reloaded"

func TestFaultD9_EditedWhileRunning(t *testing.T) {
	let := filepath.Join(t.TempDir(), "let")
	b := newBed(t, "late "+let, setup{})
	sick, well := b.pid("sick"), b.pid("well")
	id := b.begin("sick", "fault", "{}")
	changed := b.server("well")
	changed["env"].(entry)["MORE"] = "x"
	b.configure(boxOf(entry{"sick": b.server("late", let), "well": changed}))
	b.logs(1, reloaded, "toolbox box: servers restarted well")
	if got := b.pid("well"); got == well {
		t.Errorf("the server that was changed is still process %d", got)
	}
	if got := b.pid("sick"); got != sick {
		t.Errorf("the server that was not changed is process %d, before it was %d", got, sick)
	}
	if err := os.WriteFile(let, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.answers(b.outcome(id), "late")
}

func TestFaultD10_FileIsBrokenOrGone(t *testing.T) {
	b := newBed(t, "well", setup{})
	pid := b.pid("sick")
	path := b.path("workbench-config.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	now := func() string { return b.status().ConfigProblem }
	const refused = "was not reloaded"
	for _, fault := range []struct {
		name, says string
		put        func() error
	}{
		{"a half of it", path + ":1:", func() error { return os.WriteFile(path, text[:len(text)/2], 0o600) }},
		{"nothing in it", path + ":1:", func() error { return os.Truncate(path, 0) }},
		{"no file", "no such file", func() error { return os.Remove(path) }},
		{"a link to nowhere", "no such file", func() error { return os.Symlink("nowhere", path) }},
		{"a folder", "is a folder", func() error { return firstError(os.Remove(path), os.Mkdir(path, 0o700)) }},
		{"writable by all", "can be written by everybody", func() error {
			return firstError(os.Remove(path), os.WriteFile(path, append(text, '\n'), 0o600), os.Chmod(path, 0o666))
		}},
	} {
		if err := fault.put(); err != nil {
			t.Fatal(err)
		}
		if fault.name != "a link to nowhere" { // which is the fault before it
			b.logs(1, refused, fault.says)
		}
		if !eventually(func() bool { return strings.Contains(now(), fault.says) }) {
			t.Errorf("%s: got status %q, want %q", fault.name, now(), fault.says)
		}
		if got := b.pid("sick"); got != pid {
			t.Errorf("%s: the server is process %d, before it was %d", fault.name, got, pid)
		}
	}
	if err := firstError(os.Remove(path), os.WriteFile(path, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	b.logs(1, reloaded, "nothing")
	b.signal(syscall.SIGHUP)
	b.logs(2, reloaded, "nothing")
	if got := b.pid("sick"); got != pid || now() != "" {
		t.Errorf("when it is as it was: got process %d and problem %q, want %d and none", got, now(), pid)
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestFaultD11_EditedAllTheTime(t *testing.T) {
	b := newBed(t, "well", setup{})
	pid := b.pid("sick")
	servers := entry{"sick": b.server("well"), "well": b.server("well")}
	text := boxOf(servers)
	const edits = 100
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for i := range edits {
		<-tick.C
		b.configure(strings.Replace(text, `"more"`, fmt.Sprintf(`"more%d"`, i), 1))
	}
	b.logs(1, reloaded, fmt.Sprintf("more%d", edits-1))
	log, _ := os.ReadFile(b.path("log"))
	if got := strings.Count(string(log), reloaded); got > edits/2 {
		t.Errorf("%d edits were taken for %d, want much less", edits, got)
	}
	if got := b.pid("sick"); got != pid {
		t.Errorf("a server that was not changed is process %d, before it was %d", got, pid)
	}
}

func TestFaultD14_ServerIsRemovedInACall(t *testing.T) {
	let := filepath.Join(t.TempDir(), "let")
	b := newBed(t, "late "+let, setup{})
	sick, well := b.server("late", let), b.server("well")
	processes := len(wiretest.Marked(b.mark))
	pid := b.pid("well")
	from := b.Mark()
	id := b.begin("sick", "fault", "{}")
	b.configure(boxOf(entry{"well": well}))
	b.Notification(from, "notifications/tools/list_changed")
	b.fails(b.call("sick", "echo", "{}"), "tool not found", "box__well__echo")
	if err := os.WriteFile(let, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.answers(b.outcome(id), "late")
	if !eventually(func() bool { return len(wiretest.Marked(b.mark)) < max(processes, 1) }) {
		t.Errorf("the server goes on: %v", wiretest.Marked(b.mark))
	}
	if got := b.pid("well"); got != pid {
		t.Errorf("the other server is process %d, before it was %d", got, pid)
	}
	from = b.Mark()
	b.configure(boxOf(entry{"sick": sick, "well": well}))
	b.Notification(from, "notifications/tools/list_changed")
	b.works()
}
