//go:build linux

package adversary

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// request is what a server reads of a message.
type request struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name            string
		ProtocolVersion string
		Arguments       json.RawMessage
		InputResponses  map[string]json.RawMessage
		Cursor, TaskID  string
		Task            json.RawMessage
		Meta            struct {
			Token   json.RawMessage `json:"progressToken"`
			Version string          `json:"io.modelcontextprotocol/protocolVersion"`
			Can     struct {
				Extensions map[string]json.RawMessage
			} `json:"io.modelcontextprotocol/clientCapabilities"`
		} `json:"_meta"`
	}
	Result json.RawMessage
}

// answerTo is what the honest server makes of arguments, which nobody else can know.
func answerTo(arguments []byte) string { return fmt.Sprintf("good %x", sha256.Sum256(arguments)) }

// Arguments of the honest server's tools.
type arguments struct {
	Nonce string
	Steps int // of progress
	Ms    int // to wait
	Ask   bool
	Touch bool // says that the resource has changed
}

// honest is the server whose every answer is known. send writes a message; a call's messages go where it came from.
type honest struct {
	modern bool
	alone  bool // on stdio, where it can say that a resource has changed

	mu      sync.Mutex
	asked   int
	answers map[string]chan json.RawMessage
	calls   map[string]int // how often each nonce came
	tasks   map[string]*task
	listens []string // ids of subscriptions, of the modern era
}

func newHonest(modern, alone bool) *honest {
	return &honest{modern: modern, alone: alone, answers: make(map[string]chan json.RawMessage), calls: make(map[string]int), tasks: make(map[string]*task)}
}

// take handles one message of workbench; it returns when it is answered.
func (h *honest) take(line []byte, send func(string)) {
	var r request
	if json.Unmarshal(line, &r) != nil {
		return
	}
	if r.Method == "" {
		h.mu.Lock()
		answer := h.answers[string(r.ID)]
		delete(h.answers, string(r.ID))
		h.mu.Unlock()
		if answer != nil {
			answer <- r.Result
		}
		return
	}
	if r.ID == nil {
		return
	}
	reply := func(result string) {
		if h.modern && !strings.HasPrefix(result, `{"resultType"`) {
			result = `{"resultType":"complete",` + result[1:]
		}
		send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, result))
	}
	can := fmt.Sprintf(`{"tools":{},"resources":{"subscribe":%t},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}`, h.alone)
	if h.modern {
		can = fmt.Sprintf(`{"tools":{},"resources":{"subscribe":%t},"extensions":{"io.modelcontextprotocol/tasks":{}}}`, h.alone)
	}
	switch {
	case r.Method == "initialize" && !h.modern:
		reply(fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"serverInfo":{"name":"good","version":"1"}}`, r.Params.ProtocolVersion, can))
	case r.Method == "server/discover" && h.modern:
		reply(`{"supportedVersions":["2026-07-28"],"capabilities":` + can + `,"ttlMs":0,"cacheScope":"private"}`)
	case r.Method == "tools/list": // three pages, of which one is empty
		reply(map[string]string{"": `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}],"nextCursor":"good 2"}`,
			"good 2": `{"tools":[],"nextCursor":"good 3"}`,
			"good 3": `{"tools":[{"name":"work","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}`}[r.Params.Cursor])
	case r.Method == "resources/list":
		reply(`{"resources":[{"uri":"x:good","name":"good"}]}`)
	case r.Method == "resources/templates/list":
		reply(`{"resourceTemplates":[]}`)
	case r.Method == "resources/read":
		reply(`{"contents":[{"uri":"x:good","text":"the good one"}]}`)
	case r.Method == "resources/subscribe" && h.alone:
		reply(`{}`)
	case r.Method == "subscriptions/listen" && h.alone:
		h.mu.Lock()
		h.listens = append(h.listens, string(r.ID))
		h.mu.Unlock()
		send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":{"resourceSubscriptions":["x:good"]}}}`, r.ID))
	case r.Method == "tools/call" && r.Params.Name == "work" && h.takesTask(&r):
		reply(h.begin(&r))
	case strings.HasPrefix(r.Method, "tasks/"):
		h.about(&r, reply, send)
	case r.Method == "tools/call":
		h.call(&r, reply, send)
	default:
		send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, r.ID))
	}
}

func (h *honest) call(r *request, reply func(string), send func(string)) {
	var a arguments
	_ = json.Unmarshal(r.Params.Arguments, &a)
	h.mu.Lock()
	h.calls[a.Nonce]++
	twice := h.calls[a.Nonce] > 1 && len(r.Params.InputResponses) == 0
	h.mu.Unlock()
	if twice && a.Nonce != "" {
		reply(`{"content":[{"type":"text","text":"the call came twice"}]}`)
		return
	}
	for i := range a.Steps {
		if r.Params.Meta.Token != nil && len(r.Params.InputResponses) == 0 {
			send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"message":%q}}`, r.Params.Meta.Token, i+1, a.Nonce))
		}
	}
	if a.Touch {
		h.touch(send)
	}
	time.Sleep(time.Duration(a.Ms) * time.Millisecond)
	heard := ""
	if a.Ask {
		question := fmt.Sprintf(`"method":"elicitation/create","params":{"message":%q,"requestedSchema":{"type":"object","properties":{}}}`, a.Nonce)
		var answer json.RawMessage
		switch got, ok := r.Params.InputResponses["q"]; {
		case ok:
			answer = got
		case h.modern:
			send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"input_required","inputRequests":{"q":{%s}},"requestState":%q}}`, r.ID, question, a.Nonce))
			return
		default:
			h.mu.Lock()
			h.asked++
			id := strconv.Itoa(h.asked)
			c := make(chan json.RawMessage, 1)
			h.answers[id] = c
			h.mu.Unlock()
			send(`{"jsonrpc":"2.0","id":` + id + `,` + question + `}`)
			answer = <-c
		}
		var said struct{ Content struct{ Said string } }
		_ = json.Unmarshal(answer, &said)
		heard = " heard " + said.Content.Said
	}
	reply(fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, answerTo(r.Params.Arguments)+heard))
}

// serveStdio runs a server on standard input and output, as a child.
func serveStdio(take func(line []byte, send func(string))) {
	var mu sync.Mutex
	send := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.WriteString(os.Stdout, line+"\n")
	}
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	var work sync.WaitGroup
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			os.Exit(0)
		}
		work.Go(func() { take(line, send) })
	}
}

// serveHTTP is the honest server behind HTTP, each answer a stream.
func (h *honest) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var m request
	if json.Unmarshal(body, &m) != nil || m.ID == nil || m.Method == "" {
		h.take(body, func(string) {})
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	var mu sync.Mutex
	h.take(body, func(line string) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = fmt.Fprintf(w, "data: %s\n\n", line)
		_ = http.NewResponseController(w).Flush()
	})
}

// fiend is a server that does what it likes. It mostly shakes hands, so that there is something to spoil.
type fiend struct {
	child bool // it is a process of its own

	mu  sync.Mutex
	d   *draw
	ids []string // of requests that it may answer, in whatever way
}

func newFiend(seed uint64, name string) *fiend { return &fiend{d: newDraw(seed, name)} }

// die ends the process of a fiend on stdio; over HTTP it ends the exchange.
func (f *fiend) take(line []byte, send func(string), die func()) {
	var r request
	_ = json.Unmarshal(line, &r)
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.d
	if r.ID != nil && r.Method != "" {
		f.ids = append(f.ids, string(r.ID))
		if len(f.ids) > 20 {
			f.ids = f.ids[1:]
		}
	}
	reply := func(result string) { send(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"result":` + result + `}`) }
	if d.chance(10) {
		f.spoil(send, die)
	}
	switch {
	case r.ID == nil || r.Method == "":
	case r.Method == "initialize" && d.chance(90):
		reply(fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"logging":{},"tasks":{},"completions":{}},"serverInfo":{"name":"EVIL","version":"1"},"instructions":%s}`,
			one(d, r.Params.ProtocolVersion, "2025-11-25", "2026-07-28"), quote(d.text())))
	case r.Method == "server/discover" && d.chance(50):
		reply(`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{},"prompts":{}},"resultType":"complete"}`)
	case strings.HasSuffix(r.Method, "/list") && d.chance(90):
		reply(f.list(r.Method))
	case d.chance(40):
		reply(d.result())
	default:
		f.spoil(send, die)
	}
	if d.chance(10) {
		f.spoil(send, die)
	}
}

// list is one of whatever is asked for, with names that mean something to others.
func (f *fiend) list(method string) string {
	d := f.d
	kind := map[string]string{"tools/list": "tools", "resources/list": "resources", "resources/templates/list": "resourceTemplates", "prompts/list": "prompts"}[method]
	var items []string
	n, filler := one(d, 0, 3, 10, 10, 2000), strings.Repeat("d", one(d, 0, 0, 0, 500))
	for i := range n {
		name := d.text()
		if n > 100 {
			name = fmt.Sprintf("tool%d", i)
		}
		items = append(items, fmt.Sprintf(`{"name":%s,"uri":%s,"uriTemplate":%s,"description":%s,"inputSchema":%s}`,
			quote(name), quote(name), quote(one(d, "x:{id}", "{+any}", "x:good", name)), quote(d.text()+filler), one(d, `{"type":"object"}`, d.value(5))))
	}
	items = append(items, `{"name":"evil","uri":"evil:1","uriTemplate":"evil:{x}","inputSchema":{"type":"object"}}`)
	next := ""
	if d.chance(20) {
		next = `,"nextCursor":` + quote(fmt.Sprint(d.Uint32()))
	}
	return `{"` + kind + `":[` + strings.Join(items, ",") + `]` + next + `}`
}

// spoil does something that no server does.
func (f *fiend) spoil(send func(string), die func()) {
	d := f.d
	switch d.IntN(12) {
	case 10: // questions that differ
		filler := strings.Repeat("q", d.IntN(2000))
		for i := range 5000 {
			send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"e-%d-%d","method":%q,"params":{"message":"EVIL","requestedSchema":{"type":"object","properties":{}},"x":%q}}`, d.Uint32(), i, one(d, "elicitation/create", "sampling/createMessage", "roots/list", "none/such"), filler))
		}
	case 11: // notifications that differ
		filler := strings.Repeat("m", d.IntN(4000))
		for i := range 5000 {
			send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/%s","params":{"uri":"x:%d","level":"error","data":%q,"taskId":"%d"}}`, one(d, "message", "resources/updated", "tasks/status", "none", "tools/list_changed", "elicitation/complete"), i, filler, i))
		}
	case 0, 1, 2, 3, 4:
		for range 1 + d.IntN(5) {
			send(d.line(f.ids...))
		}
	case 5: // a flood
		line := d.line(f.ids...)
		for range min(20000, 4<<20/(len(line)+1)) {
			send(line)
		}
	case 6: // a flood of different lines
		for range 300 {
			send(d.line(f.ids...))
		}
	case 7:
		time.Sleep(time.Duration(d.IntN(1500)) * time.Millisecond)
	case 8:
		if text := strings.Repeat(d.text()+"\n", 1+d.IntN(2000)); f.child {
			fmt.Fprint(os.Stderr, text)
		}
	default:
		if d.chance(40) {
			die()
		}
	}
}

// fiendMain is a fiend as a child.
func fiendMain(seed uint64, name string) {
	f := newFiend(seed, name)
	f.child = true
	if f.d.chance(10) {
		signalsIgnored()
	}
	serveStdio(func(line []byte, send func(string)) {
		f.take(line, send, func() {
			switch f.d.IntN(5) {
			case 0:
				os.Exit(f.d.IntN(3))
			case 1:
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			case 2: // half a line
				_, _ = io.WriteString(os.Stdout, f.d.line(f.ids...)[:0]+`{"jsonrpc":"2.0","id":`)
				os.Exit(1)
			case 3:
				_ = os.Stdout.Close()
			default:
				_ = os.Stdin.Close()
				time.Sleep(time.Hour)
			}
		})
	})
}

// ServeHTTP is a fiend behind HTTP, which spoils that too.
func (f *fiend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	f.mu.Lock()
	how, status, kind := f.d.IntN(20), one(f.d, 200, 204, 301, 400, 401, 403, 404, 405, 429, 500, 503), one(f.d, "text/html", "application/json", "text/event-stream", "")
	text, pause := f.d.line(f.ids...), time.Duration(f.d.IntN(1000))*time.Millisecond
	if f.d.chance(30) {
		w.Header().Set("Mcp-Session-Id", f.d.text()+"s")
	}
	f.mu.Unlock()
	switch how {
	case 0:
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Location", "http://127.0.0.1:1/")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
		return
	case 1:
		time.Sleep(pause)
		panic(http.ErrAbortHandler)
	case 2:
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "id: "+text+"\nretry: 99999999999\ndata: "+text+"\ndata:\n\nevent: "+text+"\n\n: "+text)
		return
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	f.take(body, func(line string) {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", line)
	}, func() { panic(http.ErrAbortHandler) })
}
