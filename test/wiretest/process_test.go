package wiretest_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

func child(mode string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, "WIRETEST_CHILD="+mode)...)
	return cmd
}

func TestProcess(t *testing.T) {
	p := wiretest.Start(t, child("echo", wiretest.Mark(t)), wiretest.Options{})
	p.Send(`{"odd": "\u0041"}`)
	if got, want := string(p.Reply("1").Result), `{"odd": "\u0041"}`; got != want {
		t.Errorf("got result %s want the line as it was sent, %s", got, want)
	}
	p.CloseInput()
	if got := p.Exit().ExitCode(); got != 3 {
		t.Errorf("got exit status %d want 3", got)
	}
	if got, want := p.Stderr(), "echo begins\n"; got != want {
		t.Errorf("got stderr %q want %q", got, want)
	}
}

func TestProcessThatStays(t *testing.T) {
	got := failures(t, func(tb testing.TB) {
		p := wiretest.Start(tb, child("stay"), wiretest.Options{Limit: 200 * time.Millisecond})
		p.CloseInput()
		p.Exit()
	})
	for _, want := range []string{"it runs after 200ms", "did not end within 200ms"} {
		if !strings.Contains(got, want) {
			t.Errorf("got failures %q want %q", got, want)
		}
	}
}

func TestMark(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows the environment of a process")
	}
	t.Parallel()
	var orphan *exec.Cmd
	got := failures(t, func(tb testing.TB) {
		mark := wiretest.MarkFor(tb, 100*time.Millisecond) // all of which passes, since the orphan does not end
		orphan = child("stay", mark)
		out, err := orphan.StdoutPipe()
		if err == nil {
			err = orphan.Start()
		}
		if err == nil {
			_, err = out.Read(make([]byte, 1)) // it is up, so its environment can be seen
		}
		if err != nil {
			t.Error(err)
			return
		}
		running := wiretest.Marked(mark)
		if len(running) != 1 || running[0].PID != orphan.Process.Pid || running[0].Args[0] != os.Args[0] {
			t.Errorf("got %v marked, want process %d", running, orphan.Process.Pid)
		}
	})
	if !strings.Contains(got, "left running: ") {
		t.Errorf("got failures %q want the process that was left", got)
	}
	if err := orphan.Wait(); err == nil || orphan.ProcessState.Exited() {
		t.Errorf("got %v for the orphan, want it killed", err)
	}
}

func TestKill(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows the environment of a process")
	}
	mark := wiretest.Mark(t)
	p := wiretest.Start(t, child("stay", mark), wiretest.Options{})
	p.Notification(0, "notifications/up")
	wiretest.Kill(t, mark, os.Args[0])
	if p.Exit().Exited() {
		t.Error("the process ended by itself, want it killed")
	}
	if got := failures(t, func(tb testing.TB) { wiretest.Kill(tb, mark, os.Args[0]) }); !strings.Contains(got, "want one") {
		t.Errorf("got failures %q for a process that is not there", got)
	}
}
