package httpfront_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/trail"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/proxy/httpfront"
	"github.com/mcp-workbench/workbench/test/wiretest"
	"github.com/mcp-workbench/workbench/toolbox"
)

// web is a front that listens on a port of its own.
type web struct {
	t       testing.TB
	address string
	client  *http.Client
	front   *httpfront.Front
	proxy   *proxy.Proxy
	stop    func() error // ends it, once, and says how serving ended
}

// webOptions are how one is made; the zero value will do.
type webOptions struct {
	http   httpfront.Options
	direct string
	log    io.Writer
	trail  func(trail.Event)
	listen func() net.Listener // nil means a free port
	inside toolbox.Builtin     // nil means mcptest.New of the args
}

// newWeb serves a configuration of fakes, see readConfig.
func newWeb(t testing.TB, cfg string, opts webOptions) *web {
	t.Helper()
	if opts.listen == nil {
		opts.listen = func() net.Listener {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			return ln
		}
	}
	if opts.inside == nil {
		opts.inside = func(_ principal.Principal, s config.Server) (wire.Endpoint, error) { return mcptest.New(s.Args...) }
	}
	var log zerolog.Logger
	if opts.log != nil {
		log = zerolog.New(opts.log).Level(zerolog.DebugLevel)
	}
	var record *calls.Log
	if opts.trail != nil {
		record = calls.New(calls.Off)
		record.Tell(func(c *calls.Call) { opts.trail(trail.OfCall(c)) })
	}
	ln := opts.listen()
	root, err := proxy.New(readConfig(t, cfg), proxy.Options{Version: "test", Direct: opts.direct, Logger: log, Calls: record, Trail: opts.trail, Toolbox: toolbox.Options{
		Environ:  []string{"PATH=/usr/bin:/bin"},
		Builtins: map[string]toolbox.Builtin{inside: opts.inside},
	}})
	if err != nil {
		t.Fatal(err)
	}
	opts.http.Addr, opts.http.Version, opts.http.Logger, opts.http.Trail = ln.Addr(), "test", log, opts.trail
	front, err := httpfront.New(root, opts.http)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(front.Serve(ctx, ln), root.Close()) }()
	w := &web{t: t, front: front, proxy: root, address: ln.Addr().String(), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}}
	stopped := false
	w.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		w.client.CloseIdleConnections()
		if err := w.stop(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return w
}

// do makes a request with the headers that every good POST has, as changed by header: "Name: value" sets, "Name:"
// removes.
func (w *web) do(ctx context.Context, method, path, body string, header ...string) *http.Response {
	w.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+w.address+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range header {
		name, value, _ := strings.Cut(h, ":")
		if value = strings.TrimSpace(value); value == "" {
			req.Header.Del(name)
		} else {
			req.Header.Set(name, value)
		}
	}
	resp, err := w.client.Do(req)
	if err != nil {
		w.t.Fatalf("%s %s %.200s: %v", method, path, body, err)
	}
	return resp
}

// status makes a request and returns the status and the body of its response.
func (w *web) status(method, path, body string, header ...string) (int, string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), peerWait)
	defer cancel()
	resp := w.do(ctx, method, path, body, header...)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatalf("%s %s: reading the response: %v", method, path, err)
	}
	return resp.StatusCode, string(text)
}

// messages is a response read message by message, whether it is a stream or not.
type messages struct {
	t      testing.TB
	resp   *http.Response
	r      *bufio.Reader
	leave  context.CancelFunc
	lastID string // the id of the last event
}

// open makes a request and reads its response bit by bit.
func (w *web) open(method, path, body string, header ...string) *messages {
	w.t.Helper()
	m := w.forever(method, path, body, header...)
	late := time.AfterFunc(peerWait, m.leave)
	w.t.Cleanup(func() {
		late.Stop()
		m.close()
	})
	return m
}

// forever is open for a response that may take as long as it likes.
func (w *web) forever(method, path, body string, header ...string) *messages {
	w.t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	resp := w.do(ctx, method, path, body, header...)
	return newMessages(w.t, resp, leave)
}

func newMessages(t testing.TB, resp *http.Response, leave context.CancelFunc) *messages {
	return &messages{t: t, resp: resp, r: bufio.NewReader(resp.Body), leave: leave}
}

func (m *messages) close() {
	m.leave()
	_ = m.resp.Body.Close()
}

// drain reads on without looking, to the end of the test at most.
func (m *messages) drain() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, m.r)
	}()
	m.t.Cleanup(func() {
		m.close()
		<-done
	})
}

// next returns the next message, and false at the end.
func (m *messages) next() (string, bool) {
	m.t.Helper()
	if !strings.HasPrefix(m.resp.Header.Get("Content-Type"), "text/event-stream") {
		text, err := io.ReadAll(m.r)
		if err != nil {
			m.t.Fatal(err)
		}
		return string(text), len(text) > 0
	}
	var data bytes.Buffer
	for {
		line, err := m.r.ReadString('\n')
		if err != nil {
			return "", false
		}
		line = strings.TrimSuffix(line, "\n")
		field, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && data.Len() > 0:
			return data.String(), true
		case field == "id":
			m.lastID = value
		case field == "data":
			data.WriteString(value)
		}
	}
}

// want reads on to the first message that has all the pieces.
func (m *messages) want(pieces ...string) string {
	m.t.Helper()
	var seen []string
next:
	for {
		msg, ok := m.next()
		if !ok {
			m.t.Fatalf("status %d: the response ended without %q; it had %q", m.resp.StatusCode, pieces, seen)
		}
		for _, p := range pieces {
			if !strings.Contains(msg, p) {
				seen = append(seen, msg)
				continue next
			}
		}
		return msg
	}
}

// rest returns all messages to the end.
func (m *messages) rest() (all []string) {
	m.t.Helper()
	for {
		msg, ok := m.next()
		if !ok {
			return all
		}
		all = append(all, msg)
	}
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{"elicitation":{},"roots":{}},"clientInfo":{"name":"c","version":"1"}}}`

// begin makes a session and returns the header that names it.
func (w *web) begin(path, version string, header ...string) string {
	w.t.Helper()
	m := w.open("POST", path, fmt.Sprintf(hello, version), header...)
	defer m.close()
	m.want(`"protocolVersion":"` + version + `"`)
	session := "Mcp-Session-Id: " + m.resp.Header.Get("Mcp-Session-Id")
	if got, _ := w.status("POST", path, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, append(header, session)...); got != http.StatusAccepted {
		w.t.Fatalf("initialized: got %d, want 202", got)
	}
	return session
}

// callOf is a tools/call.
func callOf(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"progressToken":%d}}}`, id, tool, arguments, id)
}

// modernCall is one of revision 2026-07-28, with the headers that belong to it.
func modernCall(id int, tool, arguments, more string) (body string, header []string) {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s%s,%s}}`, id, tool, arguments, more, meta(fmt.Sprintf(`,"progressToken":%d`, id))),
		[]string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: " + tool}
}

// code returns the error code of a reply, 0 if it has none.
func code(t *testing.T, reply string) int {
	t.Helper()
	var m struct{ Error struct{ Code int } }
	if err := json.Unmarshal([]byte(reply), &m); err != nil {
		t.Fatalf("%q: %v", reply, err)
	}
	return m.Error.Code
}

// raw writes text to a new connection and returns the status line of what comes.
func (w *web) raw(text string) string {
	w.t.Helper()
	c, err := net.Dial("tcp", w.address)
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(peerWait))
	if _, err := io.WriteString(c, text); err != nil {
		w.t.Fatal(err)
	}
	method, _, _ := strings.Cut(text, " ") // the answer to HEAD has no body
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		w.t.Fatalf("%q: %v", text, err)
	}
	_ = resp.Body.Close()
	return resp.Status[:3]
}

// oneBox is a toolbox "box" with one server "s", a fake in this process.
const oneBox = `{"toolboxes":{"box":{"description":"B","mcpServers":{"s":{"command":"inside"}}},"other":{"description":"O","mcpServers":{"s":{"command":"inside"}}}}}`

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

// peerWait bounds every wait of a test client; no working test comes near it.
const peerWait = 2 * time.Minute

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"roots":{}}%s}`

// meta is the metadata of a request of revision 2026-07-28, with more members.
func meta(more string) string { return fmt.Sprintf(modernMeta, more) }

func field(t *testing.T, msg string, path ...string) json.RawMessage {
	t.Helper()
	raw := json.RawMessage(msg)
	for _, name := range path {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil {
			t.Fatalf("%v at %q of %s", err, path, msg)
		}
		raw = object[name]
	}
	return raw
}

// newFront makes a front of nothing.
func newFront(opts httpfront.Options) (*httpfront.Front, error) {
	root, err := proxy.New(&config.Config{}, proxy.Options{})
	if err != nil {
		return nil, err
	}
	return httpfront.New(root, opts)
}
