package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/test/wiretest"
	"github.com/mcp-workbench/workbench/toolbox"
)

// inside is the name of the built-in server that test configurations ask for.
const inside = "inside"

// readConfig reads a configuration of fakes: the command "inside" is a server in this process, "child" one that is a
// process, both of the specs in args.
func readConfig(t testing.TB, text string) *config.Config {
	t.Helper()
	cfg, err := config.Parse("config.json", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return withFakes(t, cfg)
}

// withFakes has a configuration start fakes.
func withFakes(t testing.TB, cfg *config.Config) *config.Config {
	t.Helper()
	for _, box := range cfg.Toolboxes {
		for i := range box.Servers {
			s := &box.Servers[i]
			switch s.Command {
			case inside:
				s.Transport, s.Builtin = config.TransportBuiltin, inside
			case "child":
				s.Command = wiretest.Program("fakeserver")
			}
		}
	}
	return cfg
}

// newFront makes the front of a configuration of fakes.
func newFront(t *testing.T, cfg *config.Config, direct string) *proxy.Proxy {
	t.Helper()
	return newFrontWith(t, cfg, proxy.Options{Direct: direct})
}

// newFrontWith is newFront with what options say besides.
func newFrontWith(t *testing.T, cfg *config.Config, opts proxy.Options) *proxy.Proxy {
	t.Helper()
	opts.Version = "test"
	opts.Toolbox.Environ = []string{"PATH=/usr/bin:/bin"}
	opts.Toolbox.Builtins = map[string]toolbox.Builtin{
		inside: func(_ principal.Principal, s config.Server) (wire.Endpoint, error) { return mcptest.New(s.Args...) },
	}
	front, err := proxy.New(cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	return front
}

// peerWait bounds every wait of a test client; no working test comes near it.
const peerWait = 2 * time.Minute

// line is a client at the other end of two pipes from an endpoint.
type line struct {
	t     *testing.T
	in    *io.PipeWriter
	ended chan error

	mu   sync.Mutex
	got  []string // what came, in order
	used []bool   // it was waited for
	more chan struct{}
	done bool // nothing more comes
}

// connect serves an endpoint on pipes.
func connect(t *testing.T, e wire.Endpoint) *line {
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	l := &line{t: t, in: in, ended: make(chan error, 1), more: make(chan struct{})}
	go func() {
		err := wire.Serve(context.Background(), toServer, fromServer, e, wire.ServeOptions{})
		_ = fromServer.Close()
		l.ended <- err
	}()
	go l.read(out)
	t.Cleanup(func() { _ = in.Close(); _ = out.Close() })
	return l
}

func (l *line) read(out io.Reader) {
	r := bufio.NewReader(out)
	for {
		text, err := r.ReadString('\n')
		l.mu.Lock()
		if err == nil {
			l.got, l.used = append(l.got, strings.TrimSuffix(text, "\n")), append(l.used, false)
		} else {
			l.done = true
		}
		close(l.more)
		l.more = make(chan struct{})
		l.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (l *line) send(text string) {
	l.t.Helper()
	if _, err := io.WriteString(l.in, text+"\n"); err != nil {
		l.t.Fatalf("sending %.200s: %v", text, err)
	}
}

// wait returns the first message that match accepts and that was not waited for.
func (l *line) wait(what string, match func(string) bool) string {
	l.t.Helper()
	late := time.NewTimer(peerWait)
	defer late.Stop()
	for {
		l.mu.Lock()
		for i, text := range l.got {
			if !l.used[i] && match(text) {
				l.used[i] = true
				l.mu.Unlock()
				return text
			}
		}
		more, done, got := l.more, l.done, l.got
		l.mu.Unlock()
		if done {
			l.t.Fatalf("waiting for %s: the front ended; it had sent\n%s", what, strings.Join(got, "\n"))
		}
		select {
		case <-more:
		case <-late.C:
			l.t.Fatalf("waiting for %s: nothing came in %s; the front had sent\n%s", what, peerWait, strings.Join(got, "\n"))
		}
	}
}

// reply waits for the reply to the request with that id token.
func (l *line) reply(id string) string {
	l.t.Helper()
	return l.wait("the reply to "+id, func(text string) bool {
		var m wire.Message
		err := wire.Scan([]byte(text), &m)
		return err == nil && m.Method == wire.Span{} && (string(m.Bytes(m.ID)) == id)
	})
}

// method waits for a request or notification of that method.
func (l *line) method(name string) string {
	l.t.Helper()
	return l.wait(name, func(text string) bool {
		var m wire.Message
		return wire.Scan([]byte(text), &m) == nil && m.IsMethod(name)
	})
}

// close ends the client's stream and returns all that came, once the other side has ended.
func (l *line) close() []string {
	l.t.Helper()
	_ = l.in.Close()
	late := time.NewTimer(peerWait)
	defer late.Stop()
	select {
	case err := <-l.ended:
		if err != nil {
			l.t.Errorf("after the end of its input Serve returned %v, want nil", err)
		}
	case <-late.C:
		l.t.Fatalf("the front did not end within %s of its input", peerWait)
	}
	for {
		l.mu.Lock()
		more, done := l.more, l.done
		l.mu.Unlock()
		if done {
			return l.got
		}
		<-more
	}
}

// initialize makes the handshake of the legacy era and forgets its reply.
func (l *line) initialize(version, capabilities string) {
	l.t.Helper()
	l.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":` + capabilities + `,"clientInfo":{"name":"test","version":"1"}}}`)
	l.forget(l.reply(`"hello"`))
	l.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// forget takes a message out of what came.
func (l *line) forget(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, got := range l.got {
		if got == text {
			l.got = append(l.got[:i:i], l.got[i+1:]...)
			l.used = append(l.used[:i:i], l.used[i+1:]...)
			return
		}
	}
}

// callOf is a tools/call.
func callOf(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"progressToken":%d}}}`, id, tool, arguments, id)
}
