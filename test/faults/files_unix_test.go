//go:build unix

package faults

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// A configuration that becomes a pipe is a fault like another: what runs goes on, and so does the program when the file
// is there again, and it ends when it is to.
func TestFaultG46_ConfigurationIsAPipe(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*bed){
		"end of input": func(b *bed) { b.CloseInput(); b.ends(0) },
		"SIGTERM":      func(b *bed) { b.signal(syscall.SIGTERM); b.ends(0) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, "well", setup{})
			config := b.path("workbench-config.json")
			whole, err := os.ReadFile(config)
			if err != nil {
				t.Fatal(err)
			}
			pipe := func() {
				_ = os.Remove(config)
				if err := syscall.Mkfifo(config, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			pipe()
			b.logs(1, "not a regular file")
			b.works()
			_ = os.Remove(config)
			b.configure(strings.Replace(string(whole), `"openTimeout":"10s"`, `"openTimeout":"9s"`, 1))
			b.logs(1, "configuration reloaded")
			pipe()
			b.signal(syscall.SIGHUP)
			end(b)
		})
	}
	t.Run("at the start", func(t *testing.T) {
		t.Parallel()
		fifo := filepath.Join(t.TempDir(), "workbench-config.json")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"check", "serve"} {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			out, err := exec.CommandContext(ctx, wiretest.Program("workbench"), command, "--config", fifo).CombinedOutput()
			cancel()
			if err == nil || !strings.Contains(string(out), "is a pipe, not a regular file") {
				t.Errorf("%s: got %v and %q, want the reason", command, err, out)
			}
		}
	})
	t.Run("handed over by the caller", func(t *testing.T) {
		t.Parallel()
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(wiretest.Program("workbench"), "check", "--config", "/dev/fd/3")
		cmd.ExtraFiles = []*os.File{r}
		if _, err := w.WriteString(`{"toolboxes": {"piped": {"mcpServers": {}}}}`); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		out, err := cmd.CombinedOutput()
		_ = r.Close()
		if err != nil || !strings.Contains(string(out), "piped: 0 servers") {
			t.Errorf("got %v and %q, want what was piped", err, out)
		}
	})
}

// Pipes in place of all that is remembered from one run to the next hold nothing up.
func TestFaultG47_PipesForWhatIsRemembered(t *testing.T) {
	b := newBed(t, "well", setup{})
	var kept []string
	if !eventually(func() bool {
		kept, _ = filepath.Glob(b.path("workbench/catalogue/*.mcp"))
		return len(kept) > 0
	}) {
		t.Fatalf("got the catalogue %q, want what was seen of the servers", kept)
	}
	b.CloseInput()
	b.ends(0)
	for _, path := range append(kept, b.path("workbench/clients.json")) {
		_ = os.Remove(path)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(wiretest.Program("workbench"), "serve", "--config", b.path("workbench-config.json"), "--log-level", "debug", "--log-file", b.path("log2"))
	cmd.Env = b.environ()
	b.Process = wiretest.Start(t, cmd, wiretest.Options{})
	b.Initialize(wiretest.Legacy, "{}")
	b.open()
	b.works()
	b.CloseInput()
	b.ends(0)
	fifo := b.path("fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"token", "--token-file", fifo}, {"serve", "--log-file", fifo}} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		cmd := exec.CommandContext(ctx, wiretest.Program("workbench"), flags...)
		cmd.Env, cmd.Stdin = b.environ(), strings.NewReader("")
		out, err := cmd.CombinedOutput()
		cancel()
		if err == nil || !strings.Contains(string(out), "is a pipe, not a regular file") {
			t.Errorf("%q: got %v and %q, want the reason", flags, err, out)
		}
	}
}

// A client that does not read the program's standard error keeps neither the servers nor the program from what they do.
func TestFaultG48_StandardErrorIsNotRead(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*bed){
		"end of input": func(b *bed) { b.CloseInput() },
		"SIGTERM":      func(b *bed) { b.signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			fifo := filepath.Join(t.TempDir(), "stderr")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			unread, err := os.OpenFile(fifo, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer unread.Close()
			inTime(t, func(again bool) *bed {
				b := newBed(t, "stderr 4", setup{
					wrap:  []string{"/bin/sh", "-c", `exec "$@" 2>` + fifo, "sh"},
					flags: []string{"--log-file", ""},
					again: again,
				})
				b.answers(b.fault(), "done") // after 4 MB of standard error, each line of which is logged: 12 times what is queued
				if got := b.open().state("sick"); got != "ready" {
					t.Errorf("got the server %s, want it ready", got)
				}
				b.works()
				end(b)
				return b
			})
		})
	}
}

// The end is there in two seconds, whatever servers do, and nothing is left then.
func TestFaultG30_EndIsInTime(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, fault string
		before      func(*bed)
	}{
		{"a server that ignores the end of its input", "ignoreeof", func(*bed) {}},
		{"and SIGTERM", "ignoreterm", func(*bed) {}},
		{"and hangs in a call", "ignoreterm", func(b *bed) { b.begin("sick", "fault", "{}") }},
		{"and the guard is stopped", "ignoreterm", func(b *bed) {
			kill := parent(b.t, b.pid("sick"))
			if err := syscall.Kill(kill, syscall.SIGSTOP); err != nil {
				b.t.Fatal(err)
			}
		}},
		{"a server that is stopped", "well", func(b *bed) {
			if err := syscall.Kill(b.pid("sick"), syscall.SIGSTOP); err != nil {
				b.t.Fatal(err)
			}
		}},
		{"processes that left their parent", "daemon", func(*bed) {}},
		{"many", "ignoreterm", func(b *bed) { b.openMore() }},
	} {
		for name, end := range map[string]func(*bed){
			"end of input": func(b *bed) { b.CloseInput() },
			"SIGTERM":      func(b *bed) { b.signal(syscall.SIGTERM) },
		} {
			t.Run(tt.name+", "+name, func(t *testing.T) {
				inTime(t, func(again bool) *bed {
					b := newBed(t, tt.fault, setup{level: "info", more: 5, as: "ignoreterm", again: again})
					tt.before(b)
					end(b)
					return b
				})
			})
		}
	}
}

// parent is that of a process.
func parent(t *testing.T, pid int) int {
	t.Helper()
	out, err := exec.Command("ps", "-o", "ppid=", "-p", strconv.Itoa(pid)).Output()
	parent, numErr := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil || numErr != nil {
		t.Fatalf("the parent of %d: got %q, %v", pid, out, err)
	}
	return parent
}

// Over HTTP the end is as soon, where no call is under way.
func TestFaultG30_EndOverHTTP(t *testing.T) {
	inTime(t, func(again bool) *bed { return endingOverHTTP(t, again) })
}

func endingOverHTTP(t *testing.T, again bool) *bed {
	b := newClosedBed(t, "ignoreterm", setup{flags: []string{"--http", "127.0.0.1:0", "--no-token"}, modern: true, level: "info", again: again})
	url := b.url()
	session := b.stream(url, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	opened := b.stream(url, wiretest.Request("1", "tools/call", `{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"box"}}`),
		"Mcp-Session-Id", session.Header.Get("Mcp-Session-Id"))
	if text, err := io.ReadAll(opened.Body); err != nil || !strings.Contains(string(text), "sick") {
		t.Fatalf("open: got %.300q, %v", text, err)
	}
	b.signal(syscall.SIGTERM)
	return b
}
