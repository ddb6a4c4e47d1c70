package child_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/workbench/internal/child"
)

// What left its parent, its session and its mark behind ends with its server all the same, while servers that were started
// after go on.
func TestFaultG31_EscapedProcess(t *testing.T) {
	g := newGuard(t)
	for range 3 {
		p := mustStart(t, g.Start, spec("family", "stay", "double", "setsid", "unmarked", "stubborn"))
		escaped := relative(t, p)
		heir := mustStart(t, g.Start, spec("echo"))
		stop(t, p, child.Grace{EOF: -1, Term: -1})
		waitGone(t, escaped)
		if !alive(heir.PID()) {
			t.Error("the server that was started after is gone")
		}
		stop(t, heir, child.Grace{})
	}
}

// A process that was concealed cannot be looked into by others of its user.
func TestFaultG40_Concealed(t *testing.T) {
	const secret = "SECRET=canary"
	for _, mode := range []string{"concealed", "sleep"} {
		cmd := exec.Command("/proc/self/exe", "helper", mode)
		cmd.Args[0] = "child.test"
		cmd.Env = []string{secret}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		unprivileged(cmd)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = cmd.Wait() }()
		defer unix.Kill(cmd.Process.Pid, unix.SIGKILL)
		if _, err := out.Read(make([]byte, 1)); err != nil { // it has begun
			t.Fatal(err)
		}
		look := exec.Command("/bin/cat", "/proc/"+strconv.Itoa(cmd.Process.Pid)+"/environ")
		unprivileged(look)
		text, err := look.CombinedOutput()
		if seen := strings.Contains(string(text), secret); seen != (mode == "sleep") {
			t.Errorf("%s: got %q, %v from a process of the same user", mode, text, err)
		}
	}
}

// unprivileged has a command run as a user who may not look into everything.
func unprivileged(cmd *exec.Cmd) {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
}
