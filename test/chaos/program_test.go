//go:build linux

package chaos

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

// entry is a piece of a configuration.
type entry map[string]any

// program is a workbench that runs, and the client of it. Its methods may be called by several goroutines.
type program struct {
	t      *testing.T
	mark   string // environment entry of it and of what it starts
	folder string
	more   entry // of the configuration, beside the toolboxes
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	read   chan struct{} // closed at the end of out
	exited chan struct{}

	mu      sync.Mutex
	last    int
	waiting map[string]chan []byte
	strays  int // replies that nobody waits for
}

// start starts the program with toolboxes of badchilds, a fault for each server's name, for each toolbox's name, and
// with flags of serve.
func start(t *testing.T, boxes map[string]map[string]string, flags ...string) *program {
	t.Helper()
	return startWith(t, nil, boxes, flags...)
}

// startWith starts the program with more in its configuration.
func startWith(t *testing.T, more entry, boxes map[string]map[string]string, flags ...string) *program {
	t.Helper()
	folder, err := os.MkdirTemp("", "wb") // short, for there is a socket in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	p := &program{t: t, mark: wiretest.Mark(t), folder: folder, more: more, read: make(chan struct{}), exited: make(chan struct{}), waiting: make(map[string]chan []byte)}
	p.configure(boxes)
	p.cmd = exec.Command(wiretest.Program("workbench"), "serve", "--config", p.config(), "--log-file", filepath.Join(folder, "log"))
	p.cmd.Args = append(p.cmd.Args, flags...)
	p.cmd.Env = append(os.Environ(), p.mark, "WORKBENCH_CONFIG=")
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"} {
		p.cmd.Env = append(p.cmd.Env, name+"="+folder)
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, w, err := os.Pipe() // not StdoutPipe, which Wait closes before all is read
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout, p.out = w, bufio.NewReaderSize(out, 64<<10)
	err = p.cmd.Start()
	_ = w.Close()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in cmd.ProcessState
		close(p.exited)
	}()
	t.Cleanup(func() {
		p.end()
		_ = out.SetReadDeadline(time.Now().Add(time.Second))
		select {
		case <-p.read:
		case <-time.After(2 * time.Second): // nobody began to read
		}
		_ = out.Close()
	})
	return p
}

// end has it end by itself.
func (p *program) end() {
	p.t.Helper()
	_ = p.in.Close()
	select {
	case <-p.exited:
	case <-time.After(30 * time.Second):
		p.t.Error("the program does not end")
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
}

func (p *program) config() string { return filepath.Join(p.folder, "workbench-config.json") }

// configure writes the configuration.
func (p *program) configure(boxes map[string]map[string]string) {
	p.t.Helper()
	key, value, _ := strings.Cut(p.mark, "=")
	toolboxes := entry{}
	for box, faults := range boxes {
		servers := entry{}
		for name, fault := range faults {
			servers[name] = entry{"command": wiretest.Program("badchild"), "args": strings.Fields(fault), "env": entry{key: value},
				"timeouts": entry{"start": "60s", "callIdle": "5s"}}
		}
		toolboxes[box] = entry{"mcpServers": servers}
	}
	all := entry{"toolMode": "proxy", "openTimeout": "20s", "toolboxes": toolboxes}
	maps.Copy(all, p.more)
	text := wiretest.JSON(all)
	if err := os.WriteFile(p.config(), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// greet shakes hands and reads from then on.
func (p *program) greet() {
	p.t.Helper()
	go p.receive()
	p.initialize()
}

// hello are the parameters of initialize.
const hello = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"chaos","version":"1"}}`

func (p *program) initialize() {
	p.t.Helper()
	if _, err := p.ask("initialize", hello); err != nil {
		p.t.Fatal(err)
	}
	p.say(wiretest.Request("", "notifications/initialized", ""))
}

// receive hands on replies until the program ends.
func (p *program) receive() {
	defer close(p.read)
	in := wire.NewReader(p.out, 64<<20)
	var m wire.Message
	for {
		line, err := in.Next()
		if err != nil {
			return
		}
		if wire.Scan(line, &m) != nil || m.Kind != wire.Result && m.Kind != wire.Failure {
			continue
		}
		p.mu.Lock()
		id := string(m.Bytes(m.ID))
		waits := p.waiting[id]
		delete(p.waiting, id)
		if waits == nil {
			p.strays++
		}
		p.mu.Unlock()
		if waits != nil {
			waits <- bytes.Clone(line)
		}
	}
}

func (p *program) say(line string) { _, _ = io.WriteString(p.in, line+"\n") }

var errLost = errors.New("no reply came")

// patience is how long a reply may take before it is taken for lost.
const patience = 90 * time.Second

// ask makes a request and returns the line of its reply.
func (p *program) ask(method, params string) (string, error) {
	reply := make(chan []byte, 1)
	p.mu.Lock()
	p.last++
	id := strconv.Itoa(p.last)
	p.waiting[id] = reply
	p.mu.Unlock()
	p.say(wiretest.Request(id, method, params))
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case line := <-reply:
		return string(line), nil
	case <-p.read:
		return "", errLost
	case <-late.C:
		return "", errLost
	}
}

// call calls a tool and returns the text that it gives, and whether that is an error.
func (p *program) call(box, server, tool, arguments string) (text string, failed bool, err error) {
	line, err := p.ask("tools/call", fmt.Sprintf(`{"name":"workbench_use_tool","arguments":{"tool":{"toolbox":%q,"server":%q,"name":%q},"arguments":%s}}`, box, server, tool, arguments))
	if err != nil {
		return "", true, err
	}
	var reply struct {
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
		Error *struct{ Message string }
	}
	if err := json.Unmarshal([]byte(line), &reply); err != nil {
		return "", true, err
	}
	switch {
	case reply.Error != nil:
		return reply.Error.Message, true, nil
	case len(reply.Result.Content) == 0:
		return "", reply.Result.IsError, nil
	}
	return reply.Result.Content[0].Text, reply.Result.IsError, nil
}

// open opens a toolbox.
func (p *program) open(box string) {
	if _, err := p.ask("tools/call", fmt.Sprintf(`{"name":"workbench_open_toolbox","arguments":{"toolbox_name":%q}}`, box)); err != nil {
		p.t.Errorf("open %s: %v", box, err)
	}
}

// echo calls the tool echo of a server that is well, and returns how long that took.
func (p *program) echo(box, server string) time.Duration {
	p.t.Helper()
	return took(func() {
		if got, failed, err := p.call(box, server, "echo", `{"n":1}`); got != `{"n":1}` || failed || err != nil {
			p.t.Errorf("echo: got %q, %v", got, err)
		}
	})
}

// strayed is how many replies came that nobody waited for.
func (p *program) strayed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.strays
}

// eventually asks until something is so, since the system tells nobody, and reports whether it became so. It asks less
// often the longer that takes.
func eventually(so func() bool) bool {
	pause := 5 * time.Millisecond
	for deadline := time.Now().Add(2 * time.Minute); !so(); pause = min(pause*5/4, 50*time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}
