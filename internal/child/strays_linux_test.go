package child_test

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/workbench/internal/child"
)

// What left its parent, its session and its mark behind ends with its server all the same, while servers that were
// started after go on.
func TestFaultG31_EscapedProcess(t *testing.T) {
	g := child.NewGuard([]string{os.Args[0], "helper", "bareguard"})
	t.Cleanup(g.Close)
	for range 3 {
		p := mustStart(t, g.Start, spec("family", "stay", "double", "setsid", "unmarked", "stubborn"))
		escaped := relative(t, p)
		time.Sleep(20 * time.Millisecond) // the system tells in hundredths of a second when a process was born
		heir := mustStart(t, g.Start, spec("echo"))
		stop(t, p, child.Grace{EOF: -1, Term: -1})
		waitGone(t, escaped)
		if !alive(heir.PID()) {
			t.Error("the server that was started after is gone")
		}
		stop(t, heir, child.Grace{})
	}
}

// Where memory runs short the system ends a server before workbench.
func TestServersAreDispensable(t *testing.T) {
	g := child.NewGuard([]string{os.Args[0], "helper", "bareguard"})
	t.Cleanup(g.Close)
	p := mustStart(t, g.Start, spec("echo"))
	ours := scoreOf(t, os.Getpid())
	for pid, want := range map[int]int{p.PID(): max(300, ours), parent(t, p.PID()): ours} {
		if got := scoreOf(t, pid); got != want {
			t.Errorf("got %d of %d, want %d", got, pid, want)
		}
	}
}

// scoreOf reads by how much sooner than others the system ends a process.
func scoreOf(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/oom_score_adj")
	if err != nil {
		t.Fatal(err)
	}
	score, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return score
}

// Where control groups can be made, it is known of each process which server it is of, whatever it does.
func TestFaultG31G32G33_Groups(t *testing.T) {
	if !child.MayGroup() {
		t.Skip("no control groups can be made here")
	}
	escape := []string{"family", "stay", "double", "setsid", "unmarked", "stubborn"}
	t.Run("the server ends", func(t *testing.T) {
		g := newGuard(t)
		elder := mustStart(t, g.Start, spec(escape[0], escape[1:]...))
		spared := relative(t, elder)
		p := mustStart(t, g.Start, spec(escape[0], escape[1:]...))
		escaped := relative(t, p)
		stop(t, p, child.Grace{EOF: -1, Term: -1})
		waitGone(t, escaped)
		if !alive(elder.PID()) || !alive(spared) {
			t.Error("another server, or what it started, is gone")
		}
	})
	t.Run("the server crashes", func(t *testing.T) {
		g := newGuard(t)
		mustStart(t, g.Start, spec("echo"))
		p := mustStart(t, g.Start, spec(escape[0], append([]string{"crash"}, escape[2:]...)...))
		escaped := relative(t, p)
		waitDone(t, p)
		waitGone(t, escaped)
	})
	t.Run("the guard is killed", func(t *testing.T) {
		p := mustStart(t, newGuard(t).Start, spec(escape[0], escape[1:]...))
		escaped := relative(t, p)
		unix.Kill(parent(t, p.PID()), unix.SIGKILL)
		waitDone(t, p)
		waitGone(t, escaped)
	})
	t.Run("the guard and its owner are killed", func(t *testing.T) {
		cmd, pids := startOwner(t, escape...)
		unix.Kill(pids[2], unix.SIGKILL)
		unix.Kill(cmd.Process.Pid, unix.SIGKILL)
		_ = cmd.Wait()
		mustStart(t, newGuard(t).Start, spec("echo")) // the next one finds what was left
		waitGone(t, pids...)
	})
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

// What a guard starts has its secrets in the guard's memory too, so that the guard is concealed as well: its files in
// /proc are root's.
func TestConcealedGuard(t *testing.T) {
	cmd := exec.Command("/proc/self/exe", "helper", "owner", "sleep")
	cmd.Args[0] = "/proc/self/exe"
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	unprivileged(cmd)
	cmd.SysProcAttr.Setpgid = true
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { unix.Kill(-cmd.Process.Pid, unix.SIGKILL); _ = cmd.Wait() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, wrong := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || wrong != nil {
		t.Fatalf("the owner says %q (%v)", line, err)
	}
	for what, pid := range map[string]int{"the server": pid, "the guard": parent(t, pid)} {
		var st unix.Stat_t
		if err := unix.Stat("/proc/"+strconv.Itoa(pid)+"/environ", &st); err != nil {
			t.Fatal(err)
		}
		if concealed := st.Uid == 0; concealed != (what == "the guard") {
			t.Errorf("the files of %s are those of user %d", what, st.Uid)
		}
	}
}

// unprivileged has a command run as a user who may not look into everything.
func unprivileged(cmd *exec.Cmd) {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
}
