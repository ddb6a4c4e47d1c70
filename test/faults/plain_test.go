package faults

import (
	"bufio"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// plain is a program whose output is read only when the test says so, with the toolbox "box" open.
type plain struct {
	t           *testing.T
	mark        string
	pid         int
	in          io.WriteCloser
	out         *bufio.Reader
	stopReading func()
	exited      chan struct{}
}

func newPlain(t *testing.T, fault string) *plain {
	t.Helper()
	t.Parallel()
	b := &bed{t: t, mark: wiretest.Mark(t), canary: "canary", folder: t.TempDir(), runtime: shortDir(t)}
	b.configure(wiretest.JSON(entry{"toolMode": "proxy", "toolboxes": entry{"box": entry{"mcpServers": entry{
		"sick": b.server(strings.Fields(fault)...), "well": b.server("well")}}}}))
	cmd := exec.Command(wiretest.Program("workbench"), "serve", "--config", b.path("workbench-config.json"), "--log-level", "off")
	cmd.Env = b.environ()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &plain{t: t, mark: b.mark, pid: cmd.Process.Pid, in: in, out: bufio.NewReaderSize(out, 64<<10), exited: make(chan struct{})}
	p.stopReading = func() { _ = out.Close() }
	go func() {
		_, _ = cmd.Process.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = in.Close()
		p.stopReading()
		p.ends()
	})
	p.say(wiretest.Request("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`))
	p.hear()
	p.say(wiretest.Request("1", "tools/call", `{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"box"}}`))
	p.hear()
	return p
}

// say writes a line. That the program is gone is for others to notice.
func (p *plain) say(line string) { _, _ = io.WriteString(p.in, line+"\n") }

// hear reads a line.
func (p *plain) hear() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("the program said %q and then nothing: %v", line, err)
	}
	return line
}

// ends wants the program to end soon, and nothing to be left of what it started.
func (p *plain) ends() {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(2 * time.Minute):
		p.t.Errorf("the program does not end")
		kill(p.t, p.pid)
		<-p.exited
	}
	if !eventually(func() bool { return len(wiretest.Marked(p.mark)) == 0 }) {
		p.t.Errorf("left: %v", wiretest.Marked(p.mark))
	}
}
