package servers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// direct is a server that is started without workbench.
type direct struct {
	peer
	cmd     *exec.Cmd
	out     *protocol
	stderr  bytes.Buffer
	leaving sync.Once
	took    time.Duration // from the end of its input to the end of its output; noExit if it had to be killed
}

// noExit is longer than any server that exits by itself may take to do so.
const noExit = 8 * time.Second

// start starts a server.
func (b *bed) start(tb testing.TB, s server) *direct {
	tb.Helper()
	line := b.line(s)
	d := &direct{cmd: exec.Command(line[0], line[1:]...)}
	d.cmd.Dir = b.files
	d.cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	for key, value := range b.environ(s) {
		d.cmd.Env = append(d.cmd.Env, key+"="+value)
	}
	d.cmd.Stderr = &d.stderr
	d.cmd.WaitDelay = time.Second // a descendant may hold stderr open
	in, err := d.cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	d.out = &protocol{lines: bufio.NewReader(out), ended: make(chan struct{})}
	d.peer = peer{Client: wiretest.New(tb, in, d.out, wiretest.Options{Answer: b.answer}), bed: b}
	tb.Cleanup(d.leave)
	return d
}

// leave ends the server: by the end of its input or, if that does not help, by force.
func (d *direct) leave() {
	d.leaving.Do(func() {
		begin := time.Now()
		d.CloseInput()
		timer := time.NewTimer(noExit)
		defer timer.Stop()
		select {
		case <-d.out.ended:
			d.took = time.Since(begin)
		case <-timer.C:
			d.took = noExit
			_ = d.cmd.Process.Kill() // it may have ended by now
			<-d.out.ended
		}
		_ = d.cmd.Wait() // how it ended is not the question
	})
}

// hello shakes hands as a client of the era does. It returns the revision agreed on, the capabilities of the server
// and, if it knows no handshake but the older one, how it refused the newer.
func (d *direct) hello(tb testing.TB, modern bool, ours string) (version string, theirs map[string]json.RawMessage, refusal *wiretest.Error) {
	tb.Helper()
	c := d.Client.In(tb)
	var reply struct {
		ProtocolVersion string
		Capabilities    map[string]json.RawMessage
	}
	if modern {
		discovered := c.Call("server/discover", wiretest.Modern("", ours))
		if refusal = discovered.Error; refusal == nil {
			d.modern = true
			unmarshal(tb, "server/discover", discovered.Result, &reply)
			return wiretest.ModernOnly, reply.Capabilities, nil
		}
	}
	unmarshal(tb, "initialize", c.Initialize(wiretest.Legacy, ours), &reply)
	return reply.ProtocolVersion, reply.Capabilities, refusal
}

// protocol is the output of a server without the lines that are no message.
type protocol struct {
	lines *bufio.Reader
	rest  []byte
	noise []string      // what was left out; to be read after the end
	ended chan struct{} // closed at the end
}

// Read implements [io.Reader] for one goroutine.
func (p *protocol) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		line, err := p.lines.ReadBytes('\n')
		switch {
		case json.Valid(line):
			p.rest = line
		case len(bytes.TrimSpace(line)) > 0:
			p.noise = append(p.noise, strings.TrimSpace(string(line)))
		}
		if err != nil && len(p.rest) == 0 {
			close(p.ended)
			return 0, io.EOF
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
