//go:build linux

package adversary

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// client is the honest one: it knows what must come of each of its calls, and reports what else comes.
type client struct {
	w      *world
	prefix string // of its ids
	modern bool
	shares bool // others speak on its connection: what is not for its own ids is theirs
	out    io.Writer
	url    string       // of its front, if that is HTTP
	alone  sync.RWMutex // held by a call that may be asked something, where that has to be the only one

	acknowledged atomic.Bool  // a subscription
	updates      atomic.Int64 // of the honest server's resource
	cutOff       atomic.Bool  // it was behind with what comes on its own, so that some of that is lost

	refusing chan struct{} // has room for the answers that are under way to fiends

	mu      sync.Mutex
	session string
	last    int
	asked   int  // by fiends
	ignored bool // some of that was not answered
	pending map[string]*expected
	over    map[string]bool // ids that were answered
}

// expected is what must come of one call.
type expected struct {
	evil  bool // of a fiend: some reply
	tasks bool // the client takes a task for an answer
	nonce string
	want  string
	steps int // of progress that came
	done  chan json.RawMessage
}

func newClient(w *world, prefix string, modern bool) *client {
	return &client{w: w, prefix: prefix, modern: modern, refusing: make(chan struct{}, 16), pending: make(map[string]*expected), over: make(map[string]bool)}
}

// line judges one line that came.
func (c *client) line(raw []byte) {
	var m wire.Message
	if err := wire.Scan(raw, &m); err != nil && c.w.ending.Load() && bytes.HasPrefix(raw, []byte(`{"jsonrpc":"2.0"`)) {
		c.w.cut.Store(true) // what a client has not read when the program must be gone is not waited for
		return
	} else if err != nil {
		c.w.find("a line to a client is not JSON-RPC: %v: %.300q", err, raw)
		return
	}
	id := string(m.Bytes(m.ID))
	switch m.Kind {
	case wire.Request:
		c.question(&m)
	case wire.Notification:
		switch {
		case m.IsMethod("notifications/progress"):
			c.progress(&m)
		case m.IsMethod("notifications/resources/updated"):
			c.changed(string(m.Bytes(m.Params)))
		case m.IsMethod("notifications/subscriptions/acknowledged"):
			c.acknowledged.Store(true)
		}
	default:
		c.mu.Lock()
		e, twice := c.pending[id], c.over[id]
		delete(c.pending, id)
		if e != nil {
			c.over[id] = true
		}
		c.mu.Unlock()
		switch {
		case e != nil:
			e.done <- append(json.RawMessage(nil), raw...)
		case twice:
			c.w.find("a second reply to %s: %.300q", id, raw)
		case !c.shares && !(c.w.ending.Load() && id == "null"): // as half a line has
			c.w.find("a reply to nobody: %.300q", raw)
		}
	}
}

func (c *client) progress(m *wire.Message) {
	var p struct {
		Token    json.RawMessage `json:"progressToken"`
		Progress int
		Message  string
	}
	if json.Unmarshal(m.Bytes(m.Params), &p) != nil {
		return // a fiend's
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.pending[string(p.Token)]
	switch {
	case e == nil && c.over[string(p.Token)]:
		c.w.find("progress of %s after its reply: %.200q", p.Token, m.Raw)
	case e == nil:
		if !c.shares {
			c.w.find("progress of nothing: %.200q", m.Raw)
		}
	case e.evil:
	case p.Message != e.nonce:
		c.w.find("progress of another's for %s: %.200q", p.Token, m.Raw)
	case p.Progress <= e.steps:
		c.w.find("progress of %s in the wrong order: %.200q", p.Token, m.Raw)
	default:
		e.steps = p.Progress
	}
}

// question answers what the honest server asks and refuses what others do.
func (c *client) question(m *wire.Message) {
	id := string(m.Bytes(m.ID))
	if m.IsMethod("ping") {
		c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id))
		return
	}
	c.mu.Lock()
	nonce := ""
	for _, e := range c.pending {
		if !e.evil && m.IsMethod("elicitation/create") && strings.Contains(string(m.Bytes(m.Params)), e.nonce+`"`) {
			nonce = e.nonce
		}
	}
	c.mu.Unlock()
	if nonce == "" {
		c.mu.Lock()
		c.asked++
		ignored := c.asked%2 == 0 // what fiends ask need not be answered; a call of theirs may wait for that
		if !ignored {
			select {
			case c.refusing <- struct{}{}:
			default: // a client that did one after the other would be behind with all else
				ignored = true
			}
		}
		c.ignored = c.ignored || ignored
		c.mu.Unlock()
		if strings.Contains(string(m.Bytes(m.Params)), `"n-`) {
			c.w.find("a question of the honest server to somebody else: %.300q", m.Raw)
		}
		if !ignored {
			go func() {
				c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, id))
				<-c.refusing
			}()
		}
		return
	}
	c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"said":%q}}}`, id, nonce))
}

// say sends a message that has no reply.
func (c *client) say(line string) {
	if c.url == "" {
		c.w.write(c.out, line)
		return
	}
	c.post(line, "", nil)
}

// request makes a request and waits for its reply; nil if none comes in time.
func (c *client) request(method, params string, e *expected, limit time.Duration) json.RawMessage {
	c.mu.Lock()
	c.last++
	id := fmt.Sprintf(`"%s-%d"`, c.prefix, c.last)
	e.done = make(chan json.RawMessage, 1)
	c.pending[id] = e
	c.mu.Unlock()
	meta := `"progressToken":` + id
	if members := modernMembers; c.modern {
		if e.tasks {
			members = taskMembers
		}
		meta += "," + members
	}
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"_meta":{%s}%s}}`, id, method, meta, params)
	if c.url == "" {
		go c.w.write(c.out, line)
	} else {
		name := "" // the first member of the params, where a header has it too
		if method == "tools/call" || method == "resources/read" || strings.HasPrefix(method, "tasks/") {
			_, name, _ = strings.Cut(params, `":"`)
			name, _, _ = strings.Cut(name, `"`)
		}
		go c.post(line, id, map[string]string{"Mcp-Method": method, "Mcp-Name": name})
	}
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case reply := <-e.done:
		return reply
	case <-late.C:
		return nil
	}
}

// post sends a line over HTTP and judges what comes of it. id is that of the request in it.
func (c *client) post(line, id string, modern map[string]string) {
	req, err := http.NewRequestWithContext(c.w.ctx, http.MethodPost, c.url, strings.NewReader(line))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.modern {
		req.Header.Set("MCP-Protocol-Version", "2026-07-28")
		for name, value := range modern {
			if value != "" {
				req.Header.Set(name, value)
			}
		}
	}
	c.follow(req, id)
}

// follow makes a request of HTTP and judges each message of its response. What is too long is refused before its id is
// read, so that the refusal has none.
func (c *client) follow(req *http.Request, id string) {
	c.mu.Lock()
	session := c.session
	c.mu.Unlock()
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	resp, err := c.w.http.Do(req)
	if err != nil {
		return // what was lost by that is found by who waits for it
	}
	defer resp.Body.Close()
	if s := resp.Header.Get("Mcp-Session-Id"); s != "" {
		c.mu.Lock()
		c.session = s
		c.mu.Unlock()
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if body, err := io.ReadAll(resp.Body); err == nil && len(body) > 0 {
			if resp.StatusCode == http.StatusRequestEntityTooLarge && id != "" {
				body = append([]byte(`{"id":`+id+`,`), body[1:]...)
			}
			c.line(body)
		}
		return
	}
	lines := bufio.NewReaderSize(resp.Body, 64<<10)
	for {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		if data, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "data:"); ok && strings.TrimSpace(data) != "" {
			c.line([]byte(strings.TrimSpace(data)))
		}
	}
}

// greet shakes hands, if the client is of that era.
func (c *client) greet() {
	if c.modern {
		return
	}
	reply := c.request("initialize", `,"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"sampling":{},"roots":{},"tasks":{}},"clientInfo":{"name":"honest","version":"1"}`, &expected{evil: true}, patience)
	if reply == nil {
		c.w.find("initialize was not answered")
	}
	c.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if c.url != "" {
		c.w.work.Go(func() {
			for c.w.ctx.Err() == nil && !c.w.ending.Load() {
				req, err := http.NewRequestWithContext(c.w.ctx, http.MethodGet, c.url, nil)
				if err != nil {
					panic(err)
				}
				req.Header.Set("Accept", "text/event-stream")
				c.follow(req, "")
				c.cutOff.Store(true)
			}
		})
	}
}

// ready waits until an honest server can be called: beside much else a start may take longer than an open.
func (c *client) ready(server string) {
	target := fmt.Sprintf(`,"name":"workbench_use_tool","arguments":{"tool":{"toolbox":"box","server":%q,"name":"echo"},"arguments":{}}`, server)
	if !eventually(2*time.Minute, func() bool {
		return strings.Contains(string(c.request("tools/call", target, &expected{evil: true}, patience)), `"text":"good `)
	}) {
		c.w.find("the honest server %s cannot be called", server)
	}
}

// patience is how long the honest client waits for what must come.
const patience = 30 * time.Second

// result is what is read of a reply.
type result struct {
	Result struct {
		Type     string `json:"resultType"`
		Content  []struct{ Text string }
		IsError  bool
		State    json.RawMessage            `json:"requestState"`
		Requests map[string]json.RawMessage `json:"inputRequests"`
	}
	Error *struct{ Message string }
}

// callGood calls the honest server and holds the answer against the model.
func (c *client) callGood(d *draw, server, nonce string) {
	ask := d.chance(25)
	// To whom a question of a legacy server belongs is known with a modern client only while one call is under way.
	if c.modern && !c.w.newer {
		if ask = ask && !c.w.loud; ask {
			c.alone.Lock()
			defer c.alone.Unlock()
		} else {
			c.alone.RLock()
			defer c.alone.RUnlock()
		}
	}
	args := fmt.Sprintf(`{"nonce":%q,"steps":%d,"ms":%d,"ask":%t,"filler":"%s"}`, nonce, d.IntN(4), d.IntN(100), ask, strings.Repeat("f", min(d.size(), maxLine/2)))
	want := answerTo([]byte(args))
	if strings.Contains(args, `"ask":true`) {
		want += " heard " + nonce
	}
	// Every way to name the tool in full, of which a fiend may claim none.
	named := `"toolbox_name":"box","tool_name":"` + one(d, server+"/echo", "box__"+server+"__echo") + `"`
	if d.chance(50) {
		named = fmt.Sprintf(`"tool":{"toolbox":"box","server":%q,"name":"echo"}`, server)
	}
	target := fmt.Sprintf(`,"name":"workbench_use_tool","arguments":{%s,"arguments":%s}`, named, args)
	if !c.modern && d.chance(40) {
		target = fmt.Sprintf(`,"name":"box__%s__echo","arguments":%s`, server, args)
	}
	e := &expected{nonce: nonce, want: want}
	began := time.Now()
	var r result
	for more := ""; ; {
		reply := c.request("tools/call", target+more, e, patience)
		if reply == nil {
			c.w.find("a call of the honest server %s was not answered in %v: %s", server, patience, nonce)
			return
		}
		r = result{}
		if err := json.Unmarshal(reply, &r); err != nil {
			c.w.find("the reply to %s cannot be read: %v: %.300q", nonce, err, reply)
			return
		}
		if r.Result.Type != "input_required" {
			break
		}
		var answers []string
		for key, q := range r.Result.Requests {
			if !strings.Contains(string(q), nonce+`"`) {
				c.w.find("the call %s was asked another's question: %.300q", nonce, q)
			}
			answers = append(answers, fmt.Sprintf(`%q:{"action":"accept","content":{"said":%q}}`, key, nonce))
		}
		more = `,"inputResponses":{` + strings.Join(answers, ",") + `},"requestState":` + string(r.Result.State)
		e = &expected{nonce: nonce, want: want, steps: e.steps}
	}
	text := ""
	if len(r.Result.Content) > 0 {
		text = r.Result.Content[0].Text
	}
	if r.Error != nil {
		text = r.Error.Message
	}
	switch {
	case text == want:
		c.w.answered(time.Since(began))
	case strings.Contains(text, "EVIL") || strings.HasPrefix(text, "good "):
		c.w.find("the call %s of %s got another's answer: %.300q", nonce, server, text)
	default:
		c.w.find("the call %s of %s failed: %.400q", nonce, server, text)
	}
}

// read reads the resource of the honest server by the address that is its alone.
func (c *client) read() {
	c.alone.RLock()
	defer c.alone.RUnlock()
	switch reply := c.request("resources/read", `,"uri":"`+goodURI+`"`, &expected{evil: true}, patience); {
	case reply == nil:
		c.w.find("a resource of the honest server was not read in %v", patience)
	case !strings.Contains(string(reply), "the good one"):
		c.w.find("the resource %s was read as %.300q", goodURI, reply)
	default:
		c.w.answered(0)
	}
}

// give makes a call and gives it up: it may be answered once, or not.
func (c *client) give(d *draw, nonce string) {
	if c.modern && !c.w.newer {
		return // it would go on beside one that may be asked something
	}
	e := &expected{nonce: nonce}
	c.request("tools/call", fmt.Sprintf(`,"name":"workbench_use_tool","arguments":{"tool":{"toolbox":"box","server":"good","name":"echo"},"arguments":{"nonce":%q,"ms":300}}`, nonce), e, time.Duration(d.IntN(100))*time.Millisecond)
	c.mu.Lock()
	id := ""
	for pending, x := range c.pending {
		if x == e {
			id = pending
		}
	}
	c.mu.Unlock()
	if id != "" && c.url == "" {
		c.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id))
	}
}

// callEvil calls a fiend, of which all there is to know is that it is answered in time.
func (c *client) callEvil(d *draw, server string) {
	target := fmt.Sprintf(`,"name":"workbench_use_tool","arguments":{"tool":{"toolbox":"box","server":%q,"name":"evil"},"arguments":%s}`, server, d.object(3, 3))
	if d.chance(20) {
		target = `,"name":"workbench_open_toolbox","arguments":{"toolbox_name":"box"}`
	}
	began := time.Now()
	c.mu.Lock()
	limit := patience / 2
	if c.ignored {
		limit = 2 * time.Second // it may be that one's
	}
	c.mu.Unlock()
	reply := c.request("tools/call", target, &expected{evil: true}, limit)
	c.mu.Lock()
	waits := c.ignored
	c.mu.Unlock()
	switch {
	case reply == nil && waits:
	case reply == nil:
		c.w.find("a call of %s was not answered in %v", server, patience/2)
	case strings.Contains(string(reply), `"text":"good `):
		c.w.find("a call of %s got the answer of the honest server: %.300q", server, reply)
	default:
		c.w.answeredEvil(time.Since(began))
	}
}
