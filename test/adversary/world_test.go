//go:build linux

package adversary

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

// signalsIgnored has a fiend outlive what should end it.
func signalsIgnored() { signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) }

// plan is what is drawn of a run before it begins.
type plan struct {
	seed    uint64
	http    bool // the front
	modern  bool // the honest client
	newer   bool // the honest servers
	fiends  int
	slow    bool // the honest client reads slowly, over stdio
	loud    bool // there are hostile clients, or, over stdio, hostile lines between those of the honest one
	touches bool // the honest servers' resource changes
	calm    bool // nobody is hostile: what the program needs by itself
}

func newPlan(seed uint64) plan {
	d := newDraw(seed, "plan")
	p := plan{seed: seed, http: d.chance(50), modern: d.chance(50), newer: d.chance(50), fiends: one(d, 1, 1, 2, 3, 10), loud: d.chance(50), slow: d.chance(25), touches: d.chance(50)}
	return p
}

func (p plan) String() string {
	return fmt.Sprintf("seed %d: http %t, modern client %t, modern server %t, %d hostile servers, hostile clients %t, slow reader %t, changes %t", p.seed, p.http, p.modern, p.newer, p.fiends, p.loud, p.slow, p.touches)
}

// world is one run.
type world struct {
	plan
	t     *testing.T
	ctx   context.Context
	http  *http.Client
	work  sync.WaitGroup
	mark  string
	log   string // where the program writes it
	cmd   *exec.Cmd
	in    io.WriteCloser
	stdio *client // the honest client, if the front is stdio
	write func(out io.Writer, line string)

	ending, cut atomic.Bool // its input was closed; a line was cut off by its end

	mu       sync.Mutex
	findings []string
	good     int
	evil     int
	slowest  time.Duration // of the honest calls
	peak     int           // of memory, in bytes
	pause    time.Duration // the longest that this process had to wait for the machine
	end      time.Duration
	starved  time.Duration // for how long a thread of the program, at its end, waited for a processor
}

// find notes what must not be.
func (w *world) find(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.findings) < 20 {
		w.findings = append(w.findings, fmt.Sprintf(format, args...))
	}
}

func (w *world) answered(took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.good++
	w.slowest = max(w.slowest, took)
}

func (w *world) answeredEvil(time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.evil++
}

// play makes one run of a plan that goes on for some time, and returns what came of it.
func play(t *testing.T, p plan, how time.Duration) *world {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	w := &world{plan: p, t: t, ctx: ctx, http: &http.Client{Transport: transport}, mark: wiretest.Mark(t)}
	var writing sync.Mutex
	w.write = func(out io.Writer, line string) {
		writing.Lock()
		defer writing.Unlock()
		_, _ = io.WriteString(out, line+"\n")
	}
	good := httptest.NewServer(newHonest(p.newer, false))
	folder := t.TempDir()
	servers := map[string]any{"good": w.child("honest", strconv.FormatBool(p.newer)), "far": map[string]any{"transport": "http", "url": good.URL}}
	var remote []*httptest.Server
	if !p.calm {
		for i := range p.fiends {
			name := fmt.Sprintf("bad%d", i)
			if i%2 == 0 {
				servers[name] = w.child("fiend", strconv.FormatUint(p.seed, 10), name)
			} else {
				s := httptest.NewServer(newFiend(p.seed, name))
				remote = append(remote, s)
				servers[name] = map[string]any{"transport": "http", "url": s.URL, "timeouts": timeouts("fiend")}
			}
		}
	}
	config := filepath.Join(folder, "workbench-config.json")
	text := wiretest.JSON(map[string]any{"openTimeout": "2s", "maxMessage": maxLine, "toolboxes": map[string]any{"box": map[string]any{"mcpServers": servers}}})
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.log = filepath.Join(folder, "log")
	w.start(config, folder)
	sampled := make(chan struct{})
	go func() {
		defer close(sampled)
		w.weigh()
	}()
	var clients []*client
	if p.http {
		url := w.address(w.log)
		c := newClient(w, "h", p.modern)
		other := newClient(w, "h", !p.modern) // of the other era, with the same ids
		c.url, other.url = url, url
		clients = append(clients, c, other)
	}
	w.playTo(clients, how)
	w.close()
	cancel()
	transport.CloseIdleConnections()
	w.work.Wait()
	<-sampled
	for _, s := range append(remote, good) {
		s.CloseClientConnections()
		s.Close()
	}
	if !eventually(3*time.Second, func() bool { return len(wiretest.Marked(w.mark)) == 0 }) {
		w.find("left: %v", wiretest.Marked(w.mark))
	}
	return w
}

// child is the configuration of a server that is this test binary in a role.
func (w *world) child(role ...string) map[string]any {
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	key, value, _ := strings.Cut(w.mark, "=")
	return map[string]any{"command": self, "args": role, "env": map[string]any{roleVariable: role[0], key: value, "GORACE": "atexit_sleep_ms=0"},
		"timeouts": timeouts(role[0])}
}

// timeouts are short for fiends, so that one that says nothing is soon asked again.
func timeouts(role string) map[string]any {
	if role == "fiend" {
		return map[string]any{"start": "5s", "callIdle": "700ms", "callTotal": "3s"}
	}
	return map[string]any{}
}

func (w *world) start(config, folder string) {
	w.cmd = exec.Command(wiretest.Program("workbench"), "serve", "--config", config, "--log-file", filepath.Join(folder, "log"))
	if w.plan.http {
		w.cmd.Args = append(w.cmd.Args, "--http", "127.0.0.1:0", "--no-token")
	}
	w.cmd.Env = append(os.Environ(), w.mark, "WORKBENCH_CONFIG=", "HOME="+folder, "XDG_CONFIG_HOME="+folder, "XDG_STATE_HOME="+folder,
		"XDG_CACHE_HOME="+folder, "XDG_RUNTIME_DIR="+folder)
	stderr, err := os.Create(filepath.Join(folder, "stderr"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer stderr.Close()
	w.cmd.Stderr = stderr
	in, err := w.cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	w.in = in
	reading := func() {}
	if !w.plan.http {
		out, theirs, err := os.Pipe() // not StdoutPipe, which Wait closes before all is read
		if err != nil {
			w.t.Fatal(err)
		}
		defer theirs.Close()
		w.cmd.Stdout = theirs
		prefix := "h"
		if w.loud {
			prefix = "q" // which no hostile line has
		}
		c := newClient(w, prefix, w.modern)
		c.out, c.shares = in, w.loud
		w.stdio = c
		reading = func() {
			defer out.Close()
			w.read(c, out)
		}
	}
	if err := w.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.work.Go(reading)
}

// read judges each line of standard output.
func (w *world) read(c *client, out io.Reader) {
	lines, got := wire.NewReader(out, 64<<20), 0
	for {
		line, err := lines.Next()
		if err != nil {
			return
		}
		c.line(line)
		if got += len(line); w.slow && got > 1<<20 {
			got = 0
			time.Sleep(200 * time.Millisecond)
		}
	}
}

// address waits until the log says where the program serves.
func (w *world) address(log string) (url string) {
	if !eventually(patience, func() bool {
		text, _ := os.ReadFile(log)
		_, rest, _ := strings.Cut(string(text), `"url":"`)
		url, _, _ = strings.Cut(rest, `"`)
		return url != ""
	}) {
		w.t.Fatal("the program does not serve")
	}
	return url
}

func eventually(limit time.Duration, is func() bool) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if is() {
			return true
		}
	}
	return is()
}

// playTo has everybody do what they do until the time is over and what was asked is answered.
func (w *world) playTo(clients []*client, how time.Duration) {
	if w.stdio != nil {
		clients = []*client{w.stdio}
	}
	for _, c := range clients {
		c.greet()
		if r := c.request("tools/call", `,"name":"workbench_open_toolbox","arguments":{"toolbox_name":"box"}`, &expected{evil: true}, patience); r == nil {
			w.find("the open was not answered")
		}
	}
	for _, c := range clients {
		c.ready("good")
		c.ready("far")
		c.subscribe()
	}
	end := time.Now().Add(how)
	var honest, hostile sync.WaitGroup
	for i, c := range clients {
		for k := range 4 {
			honest.Go(func() {
				d := newDraw(w.seed, fmt.Sprint("honest ", i, k))
				for n := 0; time.Now().Before(end); n++ {
					nonce := fmt.Sprintf("n-%d-%d-%d-%d", w.seed, i, k, n)
					switch d.IntN(16) {
					case 0:
						c.read()
					case 1:
						c.give(d, nonce)
					case 2, 3:
						c.work(d, one(d, "good", "far"), nonce)
					case 4:
						c.list()
					case 5:
						switch {
						case c.modern:
							c.discover()
						case w.touches && !c.shares:
							c.touch(nonce)
						}
					default:
						c.callGood(d, one(d, "good", "far"), nonce)
					}
				}
			})
		}
		if w.calm {
			continue
		}
		for k := range 3 {
			honest.Go(func() {
				d := newDraw(w.seed, fmt.Sprint("evil ", i, k))
				for time.Now().Before(end) {
					c.callEvil(d, fmt.Sprint("bad", d.IntN(w.fiends)))
				}
			})
		}
	}
	if w.loud && !w.calm {
		for k := range 3 {
			d := newDraw(w.seed, fmt.Sprint("hostile ", k))
			hostile.Go(func() {
				for time.Now().Before(end) {
					if w.stdio != nil {
						w.interject(d)
					} else {
						w.intrude(d, clients[0].url)
					}
				}
			})
		}
	}
	honest.Wait()
	hostile.Wait()
}

// interject puts hostile lines between those of the honest client.
func (w *world) interject(d *draw) {
	for range 1 + d.IntN(20) {
		line := d.line()
		// What answers a question does so for the honest client, and a handshake changes its era.
		if strings.Contains(line, "\n") || strings.Contains(line, `"wb-`) || strings.Contains(line, `"initialize"`) && w.modern {
			continue
		}
		w.write(w.in, line)
	}
	time.Sleep(time.Duration(d.IntN(100)) * time.Millisecond)
}

// intrude does one thing that a hostile client does over HTTP.
func (w *world) intrude(d *draw, url string) {
	address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	ctx, cancel := context.WithTimeout(w.ctx, time.Duration(d.IntN(2000))*time.Millisecond)
	defer cancel()
	do := func(method, body string, headers ...string) *http.Response {
		req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
		if err != nil {
			return nil
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		for i := 0; i+1 < len(headers); i += 2 {
			req.Header.Set(headers[i], strings.Map(func(r rune) rune {
				if r < ' ' || r > '~' {
					return '?'
				}
				return r
			}, headers[i+1]))
		}
		resp, err := w.http.Do(req)
		if err != nil {
			return nil
		}
		return resp
	}
	finish := func(resp *http.Response) {
		if resp == nil {
			return
		}
		if d.chance(50) {
			_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, int64(d.IntN(1<<20))))
		} else {
			<-ctx.Done() // it does not read
		}
		_ = resp.Body.Close()
	}
	switch d.IntN(6) {
	case 0: // no HTTP at all
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			return
		}
		_ = conn.SetDeadline(time.Now().Add(time.Duration(d.IntN(500)) * time.Millisecond))
		_, _ = io.WriteString(conn, one(d, d.line(), "POST /mcp HTTP/1.1\r\nHost: "+address+"\r\nContent-Length: 1000000\r\n\r\n{", "GET /mcp HTTP/1.1\r\n", "POST /mcp HTTP/1.1\r\nHost: evil\r\n\r\n"))
		_, _ = bufio.NewReader(conn).ReadByte()
		_ = conn.Close()
	case 1:
		finish(do(one(d, "GET", "DELETE", "PUT", "OPTIONS", "POST"), d.line(), "Mcp-Session-Id", d.text(), "Last-Event-ID", d.text(), "MCP-Protocol-Version", d.text(), "Mcp-Method", d.method(), "Mcp-Name", d.text()))
	case 2: // a modern request without a session
		method := d.method()
		finish(do("POST", `{"jsonrpc":"2.0","id":`+d.id()+`,"method":`+quote(method)+`,"params":`+d.params()+`}`, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", d.text()))
	default: // a session
		resp := do("POST", `{"jsonrpc":"2.0","id":`+d.id()+`,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":`+d.value(2)+`,"clientInfo":`+one(d, `{"name":"x","version":"1"}`, d.value(2))+`}}`)
		if resp == nil {
			return
		}
		session := resp.Header.Get("Mcp-Session-Id")
		_ = resp.Body.Close()
		if session == "" {
			return
		}
		for range d.IntN(30) {
			if ctx.Err() != nil {
				return
			}
			if resp := do("POST", d.line(`"h-1"`, `"h-2"`, `"h-3"`, `"wb-1"`), "Mcp-Session-Id", session, "MCP-Protocol-Version", "2025-11-25"); resp != nil {
				_ = resp.Body.Close()
			}
		}
		if d.chance(50) {
			finish(do("GET", "", "Mcp-Session-Id", session))
		}
		if d.chance(50) {
			finish(do("DELETE", "", "Mcp-Session-Id", session))
		}
	}
}

// weigh follows the memory of the program until it ends, and how long it is kept from a processor at its end.
func (w *world) weigh() {
	path := fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid)
	var before map[string]time.Duration
	for {
		waited := delayed(w.cmd.Process.Pid)
		if !w.ending.Load() {
			before = waited
		}
		text, err := os.ReadFile(path)
		_, rest, found := strings.Cut(string(text), "VmRSS:")
		if err != nil || !found {
			return
		}
		var kb int
		_, _ = fmt.Sscan(rest, &kb)
		w.mu.Lock()
		w.peak = max(w.peak, kb<<10)
		for thread, now := range waited {
			w.starved = max(w.starved, now-before[thread])
		}
		w.mu.Unlock()
		began := time.Now()
		time.Sleep(25 * time.Millisecond)
		w.mu.Lock()
		w.pause = max(w.pause, time.Since(began))
		w.mu.Unlock()
	}
}

// delayed is for how long each thread of a process has been ready to run while others did.
func delayed(pid int) map[string]time.Duration {
	all := make(map[string]time.Duration)
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, path := range threads {
		text, _ := os.ReadFile(path)
		var run, wait time.Duration
		_, _ = fmt.Sscan(string(text), &run, &wait)
		all[path] = wait
	}
	return all
}

// close has the program end, and measures how long that takes.
func (w *world) close() {
	began := time.Now()
	w.ending.Store(true)
	if w.plan.http {
		_ = w.cmd.Process.Signal(syscall.SIGTERM)
	} else {
		if w.seed%2 == 1 { // the client dies while it writes
			_, _ = io.WriteString(w.in, one(newDraw(w.seed, "half"), "{", `{"jsonrpc":"2.0","id":"half","method":"tools/call","params":{"name":"`, strings.Repeat("x", maxLine+1)))
		}
		_ = w.in.Close()
	}
	stuck := time.AfterFunc(patience, func() {
		w.find("the program does not end")
		_ = w.cmd.Process.Kill()
	})
	err := w.cmd.Wait()
	stuck.Stop()
	w.end = time.Since(began)
	w.work.Wait()                                                // what is left to read
	if err != nil && !w.cut.Load() && w.end < w.limit()-endAll { // what is late ends with an error, and is judged as late
		w.find("the program ended with %v", err)
	}
}
