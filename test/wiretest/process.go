package wiretest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Process is a Client of a process, joined to its stdin and stdout.
type Process struct {
	*Client
	cmd    *exec.Cmd
	stderr string        // the file that has it
	exited chan struct{} // closed when the process was waited for
}

// Start starts the command and joins it. The command's Stdin, Stdout and Stderr are set here. When the test ends, its
// stdin is closed and it must end by itself within the limit; one that does not is killed and fails the test.
func Start(tb testing.TB, cmd *exec.Cmd, opts Options) *Process {
	tb.Helper()
	inRead, inWrite := pipe(tb)
	outRead, outWrite := pipe(tb)
	// A file and not a pipe: grandchildren that keep it open then hold up nobody.
	stderr, err := os.Create(filepath.Join(tb.TempDir(), "stderr"))
	if err != nil {
		tb.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inRead, outWrite, stderr
	err = cmd.Start()
	for _, theirs := range []*os.File{inRead, outWrite, stderr} {
		_ = theirs.Close()
	}
	if err != nil {
		_, _ = inWrite.Close(), outRead.Close()
		tb.Fatalf("start %s: %v", cmd, err)
	}
	p := &Process{Client: newClient(tb, inWrite, opts), cmd: cmd, stderr: stderr.Name(), exited: make(chan struct{})}
	p.read(outRead)
	go func() {
		_ = cmd.Wait() // the outcome is in cmd.ProcessState
		close(p.exited)
	}()
	tb.Cleanup(func() { p.finish(outRead) })
	return p
}

func pipe(tb testing.TB) (r, w *os.File) {
	tb.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	return r, w
}

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exit waits for the process to end and returns how. It fails the test when the process does not end within the limit.
func (p *Process) Exit() *os.ProcessState {
	p.tb.Helper()
	if !p.wait() {
		p.tb.Fatalf("wait for the end of %s: it runs after %v", p.cmd.Path, p.limit)
	}
	return p.cmd.ProcessState
}

// Stderr returns what the process has written to it up to now.
func (p *Process) Stderr() string {
	text, err := os.ReadFile(p.stderr)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (p *Process) wait() bool {
	timer := time.NewTimer(p.limit)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

func (p *Process) finish(out *os.File) {
	p.tb.Helper()
	p.CloseInput()
	if !p.wait() {
		p.tb.Errorf("%s did not end within %v of the end of its input", p.cmd.Path, p.limit)
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
	// What the process wrote is in the pipe by now. A descendant that lives on may hold the pipe open for ever; whether
	// one may is for Mark to say, and must not keep the reader here.
	_ = out.SetReadDeadline(time.Now().Add(time.Second))
	p.reading.Wait()
	_ = out.Close()
	p.report()
	if p.tb.Failed() {
		text := p.Stderr()
		p.tb.Logf("end of stderr:\n%s", text[max(0, len(text)-4000):])
	}
}
