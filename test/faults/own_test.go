package faults

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

func TestFaultB1_EndOfInput(t *testing.T) {
	t.Parallel()
	t.Run("a call that is answered", func(t *testing.T) {
		let := t.TempDir() + "/let"
		b := newBed(t, "late "+let, setup{})
		id := b.begin("sick", "fault", "{}")
		b.CloseInput()
		if err := os.WriteFile(let, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		b.answers(b.outcome(id), "late")
		b.ends(0)
	})
	t.Run("a call that hangs", func(t *testing.T) {
		b := newBed(t, "hang", setup{})
		b.begin("sick", "fault", "{}")
		b.CloseInput()
		b.ends(0)
	})
	t.Run("a call that hangs at a server that ends by SIGTERM alone", func(t *testing.T) {
		b := newBed(t, "ignoreeof", setup{})
		b.begin("sick", "fault", "{}")
		b.CloseInput()
		b.ends(0)
	})
	t.Run("servers that start", func(t *testing.T) {
		b := newClosedBed(t, "hanginit", setup{})
		b.Request("tools/call", `{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"box"}}`)
		b.CloseInput()
		b.ends(0)
	})
}

// ends wants the program to end soon with that exit status, and nothing to be left of what it started. It returns how
// long that took, and whether the program gave up waiting, as it does after 1.9 s: on a machine that is busy with other
// tests that is no fault, and inTime is for those that hang.
func (b *bed) ends(status int) (took time.Duration, gaveUp bool) {
	b.t.Helper()
	began := time.Now()
	got := b.Exit().ExitCode()
	took = time.Since(began)
	b.t.Logf("the end took %v", took.Round(time.Millisecond))
	gaveUp = status == 0 && got == 1 && took > 1500*time.Millisecond
	if got != status && !gaveUp {
		b.t.Errorf("got exit status %d, want %d", got, status)
	}
	if took > 30*time.Second {
		b.t.Errorf("the end took %v", took)
	}
	if !eventually(func() bool { return len(wiretest.Marked(b.mark)) == 0 }) {
		b.t.Errorf("left: %v", wiretest.Marked(b.mark))
	}
	return took, gaveUp
}

// inTime wants an end within the two seconds that it takes at most, in which the program did not give up waiting: of six
// ends one is to be so. The machine may be busy with other tests. So an end counts only if that of a program whose
// servers all end by themselves, right behind it, takes no more than twice what it does on a quiet machine: there those
// that are killed need a sixth of what is kept for them. Three that count are enough for a fault.
func inTime(t *testing.T, prepare func(again bool) *bed) {
	t.Helper()
	const most = 2500 * time.Millisecond
	counted := 0
	for n := range 6 {
		if took, gaveUp := prepare(n > 0).ends(0); took <= most && !gaveUp {
			return
		}
		b := newBed(t, "well", setup{again: true, more: 5})
		b.openMore()
		b.CloseInput()
		if took, gaveUp := b.ends(0); took <= 100*time.Millisecond && !gaveUp {
			counted++
		}
		if counted == 3 {
			t.Fatal("none of three ends was in time")
		}
	}
	t.Skip("none of six ends was in time, but the machine is so busy that an end without any fault is late too")
}

func TestFaultB2_ClientIsGone(t *testing.T) {
	p := newPlain(t, "hang")
	p.say(wiretest.Request("2", "tools/call", callOf("sick", "fault", "{}")))
	p.stopReading()
	p.say(wiretest.Request("3", "ping", "")) // the answer finds nobody
	p.ends()
}

// An end by a signal is an end: clients end their servers so. A second signal ends at once, and is a fault.
func TestFaultB3H11_Signals(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		for moment, fault := range map[string]string{"idle": "well", "in a call": "hang", "starting": "hanginit"} {
			t.Run(signal.String()+" "+moment, func(t *testing.T) {
				b := newClosedBed(t, fault, setup{top: entry{"openTimeout": "100ms"}})
				b.open()
				if fault == "hang" {
					b.begin("sick", "fault", "{}")
				}
				b.signal(signal)
				b.ends(0)
				if got := b.Stderr(); got != "" {
					t.Errorf("got %q on standard error, want nothing", got)
				}
			})
		}
	}
	for name, second := range map[string]struct {
		signal syscall.Signal
		code   int
	}{
		"a second one":                           {syscall.SIGTERM, 1},
		"the same, passed on by another program": {syscall.SIGINT, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, "ignoreterm", setup{})
			b.begin("well", "fault", "{}")
			b.signal(syscall.SIGINT)
			b.signal(second.signal)
			b.ends(second.code)
			if got := b.Stderr(); strings.Contains(got, "received signal") {
				t.Errorf("got %q: it ended as at the first one", got)
			}
		})
	}
	t.Run("with streams open", func(t *testing.T) {
		b := newClosedBed(t, "well", setup{flags: []string{"--http", "127.0.0.1:0", "--no-token"}, modern: true})
		url := b.url()
		session := b.stream(url, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
		listened := b.stream(url, wiretest.Request("7", "subscriptions/listen", wiretest.Modern(`{"notifications":{"toolsListChanged":true}}`, "{}")),
			"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
		standing := b.stream(url, "", "Mcp-Session-Id", session.Header.Get("Mcp-Session-Id"))
		b.signal(syscall.SIGTERM)
		for name, resp := range map[string]*http.Response{"subscription": listened, "standing stream": standing} {
			text, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Errorf("the end of the %s: %v", name, err)
			}
			if last := `"result":{"resultType":"complete"`; resp == listened && !strings.Contains(string(text), last) {
				t.Errorf("the subscription had %q, want a last message with %s", text, last)
			}
		}
		b.ends(0)
	})
}

// url is where the program says that it serves over HTTP.
func (b *bed) url() (url string) {
	b.t.Helper()
	if !eventually(func() bool {
		log, _ := os.ReadFile(b.path("log"))
		_, rest, _ := strings.Cut(string(log), `"url":"`)
		url, _, _ = strings.Cut(rest, `"`)
		return url != ""
	}) {
		b.t.Fatal("the log does not say where it is served")
	}
	return url
}

// stream makes a request, a GET without a body, and returns the response without reading it.
func (b *bed) stream(url, body string, header ...string) *http.Response {
	b.t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(resp.Status)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func (b *bed) signal(s os.Signal) {
	b.t.Helper()
	p, err := os.FindProcess(b.PID())
	if err == nil {
		err = p.Signal(s)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

func TestFaultB8B9_BadInput(t *testing.T) {
	b := newBed(t, "well", setup{})
	for _, tt := range []struct {
		line, id string
		code     int
	}{
		{`{"jsonrpc":"2.0","id":5,"method":"ping"`, "null", -32700},
		{"hello", "null", -32700},
		{"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\",\"params\":{\"x\":\"\xff\"}}", "null", -32700},
		{`{"jsonrpc":"2.0","id":5,"method":"ping"}{}`, "null", -32700},
		{`"ping"`, "null", -32600},
		{`[{"jsonrpc":"2.0","id":5,"method":"ping"}]`, "null", -32600},
		{`{"id":5,"method":"ping"}`, "5", -32600},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", -32600},
		{`{"jsonrpc":"2.0","id":5,"Method":"ping"}`, "5", -32600},
		{`{"jsonrpc":"2.0","id":5,"method":"ping","method":"tools/call"}`, "5", -32600},
		{`{"jsonrpc":"2.0","id":5,"method":"no/such/method"}`, "5", -32601},
	} {
		from := b.Mark()
		b.Send(tt.line)
		got, _ := b.Next(from, "an error", func(m wiretest.Message) bool { return m.Error != nil })
		if string(got.ID) != tt.id || got.Error.Code != tt.code {
			t.Errorf("%q: got %s, want id %s and code %d", tt.line, got.Raw, tt.id, tt.code)
		}
		b.wellAnswers()
	}
}

func TestFaultB10_ManyAtOnce(t *testing.T) {
	const calls = 10_000
	b := newBed(t, "well", setup{level: "info"})
	from := b.Mark()
	answered := make(map[string]int)
	withinMemory(t, b.PID(), little, func() {
		for i := range calls {
			b.Send(wiretest.Request(fmt.Sprintf(`"n%d"`, i), "tools/call", callOf("well", "echo", fmt.Sprintf(`{"n":%d}`, i))))
		}
		b.Next(from, "all replies", func(m wiretest.Message) bool {
			if m.Method == "" {
				answered[string(m.ID)]++
			}
			return len(answered) == calls
		})
	})
	for id, n := range answered {
		if n != 1 {
			t.Errorf("%s was answered %d times", id, n)
		}
	}
}

func TestFaultB11_IDTwice(t *testing.T) {
	let := t.TempDir() + "/let"
	b := newBed(t, "late "+let, setup{})
	from := b.Mark()
	b.Send(wiretest.Request(`"x"`, "tools/call", callOf("sick", "fault", "{}")))
	b.Send(wiretest.Request(`"x"`, "tools/call", callOf("well", "echo", "{}")))
	refused, at := b.Next(from, "a reply", func(m wiretest.Message) bool { return m.IsReply(`"x"`) })
	if refused.Error == nil || refused.Error.Code != -32600 {
		t.Errorf("the second: got %s, want -32600", refused.Raw)
	}
	if err := os.WriteFile(let, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	first, _ := b.Next(at, "the first reply", func(m wiretest.Message) bool { return m.IsReply(`"x"`) })
	if !strings.Contains(string(first.Result), "late") {
		t.Errorf("the first: got %s", first.Raw)
	}
}

func TestFaultB12_Handshake(t *testing.T) {
	b := newClosedBed(t, "well", setup{modern: true})
	if got := b.Call("tools/list", "{}"); got.Error == nil || !strings.Contains(got.Error.Message, "initialize") {
		t.Errorf("before initialize: got %s", got.Raw)
	}
	if got := string(b.Initialize("1999-01-01", "{}")); !strings.Contains(got, wiretest.Legacy) {
		t.Errorf("an unknown version: got %s, want one that is known", got)
	}
	b.Call("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
	b.open()
	b.works()
}

// A client that does not read is not read from either, and what it is owed waits for it.
func TestFaultB13_ClientDoesNotRead(t *testing.T) {
	const calls = 40
	p := newPlain(t, "well")
	var writing sync.WaitGroup
	withinMemory(t, p.pid, much, func() {
		long := fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 1<<20))
		var sent sync.WaitGroup
		sent.Add(4) // that many it takes at least
		writing.Go(func() {
			for i := range calls {
				p.say(wiretest.Request(fmt.Sprintf(`"n%d"`, i), "tools/call", callOf("well", "echo", long)))
				if i < 4 {
					sent.Done()
				}
			}
		})
		sent.Wait()
		time.Sleep(300 * time.Millisecond) // this is the fault
		for range calls {
			p.hear()
		}
	})
	writing.Wait()
}

func TestFaultB14_CancelStorm(t *testing.T) {
	b := newBed(t, "hang", setup{level: "info"})
	for i := range 2000 {
		id := fmt.Sprintf(`"c%d"`, i)
		b.Send(wiretest.Request(id, "tools/call", callOf("sick", "fault", "{}")))
		for _, cancelled := range []string{id, id, `"never"`, "1"} {
			b.Notify("notifications/cancelled", `{"requestId":`+cancelled+`}`)
		}
	}
	b.works()
}

// Without descriptors no more servers are started, which is said; those that run go on, and the configuration can be
// mended.
func TestFaultB16_OutOfDescriptors(t *testing.T) {
	b := newBed(t, "hang", setup{more: 40, wrap: []string{"/bin/sh", "-c", `ulimit -n 64; exec "$@"`, "sh"}})
	var got []byte
	if !eventually(func() bool { // an open does not wait for all that are being started
		got = b.openMore()
		return strings.Contains(string(got), "too many open files")
	}) {
		t.Errorf("got %s, want it to say what is missing", wiretest.Clip(string(got)))
	}
	if !strings.Contains(string(got), `"state":"ready"`) {
		t.Errorf("got %s, want some to run", wiretest.Clip(string(got)))
	}
	b.works()
	b.wellAnswers()
	// Those that could not be started are tried again and again. Without them all is as before.
	b.configure(boxOf(entry{"sick": b.server("hang"), "well": b.server("well")}))
	b.logs(1, reloaded)
}

func TestFaultB17_LittleMemory(t *testing.T) {
	b := newBed(t, "crash", setup{env: []string{"GOMEMLIMIT=32MiB"}})
	long := fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 1<<20))
	for range 20 { // more than the limit, in either direction
		b.answers(b.call("well", "echo", long), long)
	}
	b.fails(b.fault(), "exit status 9")
	b.works()
}

// Nothing but the protocol goes to stdout: that each line is a message is checked by wiretest in every case, and that
// no other code than the program's front can write there is seen in the code.
func TestFaultB18_OutputIsProtocol(t *testing.T) {
	b := newBed(t, "junk", setup{level: "debug", env: []string{"GODEBUG=inittrace=1"}})
	b.answers(b.fault(), "done")
	for _, folder := range []string{"config", "proxy", "toolbox", "workflowsrv", "internal/child", "internal/wire"} {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					x, _ := s.X.(*ast.Ident)
					if x != nil && (x.Name == "os" && s.Sel.Name == "Stdout" || x.Name == "fmt" && strings.HasPrefix(s.Sel.Name, "Print")) {
						t.Errorf("%s writes to stdout: %s.%s", path, x.Name, s.Sel.Name)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestFaultB19_ManyPrograms(t *testing.T) {
	b := newBed(t, "crash", setup{})
	line := []string{wiretest.Program("workbench"), "serve", "--config", b.path("workbench-config.json"), "--log-level", "off"}
	others := make([]*bed, 7)
	for i := range others {
		other := *b
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Env = b.environ()
		other.Process = wiretest.Start(t, cmd, wiretest.Options{})
		other.Initialize(wiretest.Legacy, "{}")
		others[i] = &other
	}
	for _, other := range others {
		other.open()
	}
	for _, other := range others {
		other.fails(other.fault(), "exit status 9")
		other.works()
		other.CloseInput()
		other.Exit()
	}
}
