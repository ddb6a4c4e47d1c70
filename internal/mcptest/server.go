// Package mcptest is an MCP server for tests: it offers tools that behave well and tools that do not, speaks of what it
// was sent, and runs in this process or, through a test binary, as a child.
package mcptest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Server is the endpoint; the zero value serves [DefaultTools] and speaks revision 2025-11-25.
type Server struct {
	// Name is its own name; "" means mcptest.
	Name string
	// Tools, Resources, Templates and Prompts are the entries of the lists; nil Tools means DefaultTools. Lists that
	// are nil are not offered.
	Tools, Resources, Templates, Prompts []string
	// Skills are the names of skills, whose uris are skill://NAME/SKILL.md.
	Skills []string
	// PageSize cuts the lists into pages; 0 means one page.
	PageSize int
	// Capabilities replaces the capabilities object; "" means what fits.
	Capabilities string
	// Modern makes the server refuse initialize and speak 2026-07-28: what has not the metadata of that revision is
	// refused, and results say their type.
	Modern bool
	// Greets makes a Modern server answer initialize, by its own revision.
	Greets bool
	// Silent makes it never answer these methods.
	Silent []string
	// Gate, unless it is "", names a file: until it exists, the server does not answer initialize and server/discover.
	Gate string
	// Refuse makes it answer these methods with -32603, Lack with -32601.
	Refuse, Lack []string
}

// DefaultTools are the definitions of the tools that every server has.
func DefaultTools() []string {
	var defs []string
	for _, name := range []string{"echo", "params", "fail", "iserror", "odd", "big", "progress", "ask", "say", "heard", "hang", "sleep", "pid", "env", "exit", "add_tool", "noise", "update", "result"} {
		defs = append(defs, fmt.Sprintf(`{"name":%q,"description":"The tool %s.","inputSchema":{"type":"object","$defs":{"n":{"type":"integer","maximum":18446744073709551615}},"properties":{"z":{"$ref":"#/$defs/n"},"a":{"type":"string"}},"x-vendor":true},"x-unknown":{"b":1,"a":1.0}}`, name, name))
	}
	return defs
}

// Connect begins a session.
func (s *Server) Connect(send func([]byte)) wire.Session {
	tools := s.Tools
	if tools == nil {
		tools = DefaultTools()
	}
	return &session{server: s, send: send, tools: tools, answers: make(map[string]chan []byte), closed: make(chan struct{}), changed: make(chan struct{})}
}

type session struct {
	server *Server
	send   func([]byte)
	work   sync.WaitGroup
	closed chan struct{}

	mu      sync.Mutex
	tools   []string
	leaks   []string // what was said to it that is not of its era
	heard   []string // notifications, replies that nobody waits for, and see note
	tasks   []string // entries of tasks/list: those of results that were asked for
	asked   int
	answers map[string]chan []byte
	calls   int           // of tools, that are under way
	most    int           // of them at once, ever
	changed chan struct{} // closed when calls changes
}

func (s *session) Receive(raw []byte) {
	raw = bytes.Clone(raw)
	var m wire.Message
	if err := wire.Scan(raw, &m); err != nil {
		fmt.Fprintln(os.Stderr, "mcptest: got something that is not a message:", err)
		return
	}
	if leak := s.foreign(&m); leak != "" {
		s.mu.Lock()
		s.leaks = append(s.leaks, leak)
		s.mu.Unlock()
		if m.Kind == wire.Request {
			s.fail(&m, wire.CodeInvalidRequest, leak, "")
			return
		}
	}
	switch m.Kind {
	case wire.Request:
		s.note(&m)
		s.work.Go(func() { s.request(&m) })
	default:
		s.mu.Lock()
		id := string(m.Bytes(m.ID))
		answer := s.answers[id]
		delete(s.answers, id)
		if answer == nil {
			s.heard = append(s.heard, string(raw))
		}
		s.mu.Unlock()
		if answer != nil {
			answer <- raw
		}
	}
}

// note keeps what is set and subscribed to, and which calls are to be noted, in the order in which it came.
func (s *session) note(m *wire.Message) {
	method, params := string(m.Bytes(m.Method)), m.Bytes(m.Params)
	switch method {
	case "tools/call":
		if !bytes.Contains(params, []byte(`"note":true`)) {
			return
		}
	case "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
	default:
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, fmt.Sprintf("%s %s", method, params))
}

// foreign says what of a message is not of the server's era; "" if nothing is.
func (s *session) foreign(m *wire.Message) string {
	method := string(m.Bytes(m.Method))
	var bad []string
	if s.server.Modern {
		bad = []string{"notifications/initialized", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe",
			"notifications/roots/list_changed", "notifications/progress", "tasks/list", "tasks/result"}
	} else {
		bad = []string{"subscriptions/listen", "tasks/update"}
	}
	if slices.Contains(bad, method) {
		return "the method " + method + " is of the other era"
	}
	if s.server.Modern || method == "server/discover" {
		return ""
	}
	for _, path := range [][]string{{"requestState"}, {"inputResponses"}, {"_meta", "io.modelcontextprotocol/protocolVersion"},
		{"_meta", "io.modelcontextprotocol/clientInfo"}, {"_meta", "io.modelcontextprotocol/clientCapabilities"}, {"_meta", "io.modelcontextprotocol/logLevel"}} {
		if span, err := wire.FindPath(m.Raw, m.Params, path...); err != nil || span.Present() {
			return fmt.Sprintf("params has %q, which is of the other era", path)
		}
	}
	return ""
}

func (s *session) Close(ctx context.Context) error {
	close(s.closed)
	s.work.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.leaks) > 0 {
		return fmt.Errorf("mcptest was told what is not of its era: %q", s.leaks)
	}
	return nil
}

func (s *session) request(m *wire.Message) {
	method := string(m.Bytes(m.Method))
	switch {
	case slices.Contains(s.server.Silent, method):
		return
	case slices.Contains(s.server.Refuse, method):
		s.fail(m, wire.CodeInternal, "refused by the test", "")
		return
	case slices.Contains(s.server.Lack, method):
		s.fail(m, wire.CodeMethodNotFound, "Method not found", "")
		return
	}
	if s.server.Modern && method != "initialize" {
		version, err := wire.FindPath(m.Raw, m.Params, "_meta", "io.modelcontextprotocol/protocolVersion")
		if err != nil || string(m.Bytes(version)) != `"2026-07-28"` {
			s.fail(m, eras.UnsupportedVersion, "params._meta has no protocol version 2026-07-28", `{"supported":["2026-07-28"]}`)
			return
		}
	}
	switch method {
	case "initialize", "server/discover":
		s.waitForGate()
	}
	switch method {
	case "initialize":
		s.initialize(m)
	case "server/discover":
		if !s.server.Modern {
			s.fail(m, wire.CodeMethodNotFound, "Method not found", "")
			return
		}
		s.reply(m, fmt.Sprintf(`{"supportedVersions":["2026-07-28"],"capabilities":%s,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcptest","version":"1"}}}`, s.capabilities()))
	case "ping", "logging/setLevel":
		s.reply(m, "{}")
	case "tools/list":
		s.mu.Lock()
		tools := append([]string(nil), s.tools...)
		s.mu.Unlock()
		s.page(m, "tools", tools)
	case "resources/list":
		s.page(m, "resources", s.server.Resources)
	case "resources/templates/list":
		s.page(m, "resourceTemplates", s.server.Templates)
	case "prompts/list":
		s.page(m, "prompts", s.server.Prompts)
	case "tools/call":
		s.tool(m)
	case "tasks/get", "tasks/cancel", "tasks/update", "tasks/result":
		s.task(m, method)
	case "skills/list", "skills/get", "resources/directory/read":
		s.skills(m, method)
	case "tasks/list":
		s.mu.Lock()
		tasks := append([]string(nil), s.tasks...)
		s.mu.Unlock()
		s.page(m, "tasks", tasks)
	case "resources/read", "resources/subscribe", "resources/unsubscribe", "prompts/get", "completion/complete":
		// What came is what goes back, so that a test sees what was passed.
		kept := ""
		if s.server.Modern && method == "resources/read" {
			kept = `,"ttlMs":1000,"cacheScope":"public"`
		}
		if s.server.Name != "" {
			kept += fmt.Sprintf(`,"by":%q`, s.server.Name)
		}
		s.reply(m, fmt.Sprintf(`{"method":%q,"params":%s%s}`, method, m.Bytes(m.Params), kept))
	default:
		s.fail(m, wire.CodeMethodNotFound, "Method not found", "")
	}
}

func (s *session) waitForGate() {
	for s.server.Gate != "" {
		if _, err := os.Stat(s.server.Gate); err == nil {
			return
		}
		select {
		case <-s.closed:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (s *session) initialize(m *wire.Message) {
	if s.server.Modern && !s.server.Greets {
		s.fail(m, wire.CodeMethodNotFound, "initialize was removed; this server speaks 2026-07-28", "")
		return
	}
	asked, _ := wire.FindPath(m.Raw, m.Params, "protocolVersion")
	version := m.Bytes(asked)
	if s.server.Modern {
		version = []byte(`"2026-07-28"`)
	}
	s.reply(m, fmt.Sprintf(`{"protocolVersion":%s,"capabilities":%s,"serverInfo":{"name":%q,"version":"1"},"instructions":%s}`,
		version, s.capabilities(), s.server.name(), wire.AppendQuote(nil, string(m.Bytes(m.Params)))))
}

// name is what it calls itself.
func (s *Server) name() string { return cmp.Or(s.Name, "mcptest") }

// task answers a request about a task, whichever that is.
func (s *session) task(m *wire.Message, method string) {
	id, _ := wire.FindPath(m.Raw, m.Params, "taskId")
	if method == "tasks/result" {
		s.reply(m, fmt.Sprintf(`{"content":[{"type":"text","text":"of %s"}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":%s}}}`, s.server.name(), m.Bytes(id)))
		return
	}
	s.reply(m, fmt.Sprintf(`{"method":%q,"by":%q,"taskId":%s,"status":"working"}`, method, s.server.name(), m.Bytes(id)))
}

// skills answers a request about skills; but for the list, it says who answers.
func (s *session) skills(m *wire.Message, method string) {
	const entry = `{ "uri":"skill://%[1]s/SKILL.md","frontmatter":{"name":%[1]q,"description":"of %[2]s"},"resources":[` +
		`{"uri":"skill://%[1]s/SKILL.md","digest":"sha256:%[2]s","size":1.0},{"uri":"skill://%[1]s/refs/a.md","digest":"x","size":2}],"x":1e400}`
	uri, _ := m.Text(m.Params, "uri")
	switch method {
	case "skills/list":
		var entries []string
		for _, name := range s.server.Skills {
			entries = append(entries, fmt.Sprintf(entry, name, s.server.name()))
		}
		s.page(m, "skills", entries)
	case "skills/get":
		name := strings.TrimSuffix(strings.TrimPrefix(uri, "skill://"), "/SKILL.md")
		s.reply(m, fmt.Sprintf(`{"skill":`+entry+`,"by":%[2]q}`, name, s.server.name()))
	default:
		s.reply(m, fmt.Sprintf(`{"resources":[{"uri":%s}],"by":%q}`, wire.AppendQuote(nil, uri+"/a.md"), s.server.name()))
	}
}

func (s *session) capabilities() string {
	if s.server.Capabilities != "" {
		return s.server.Capabilities
	}
	caps := []string{`"tools":{"listChanged":true}`, `"logging":{}`}
	if s.server.Resources != nil || s.server.Templates != nil {
		caps = append(caps, `"resources":{"subscribe":true}`)
	}
	if s.server.Prompts != nil {
		caps = append(caps, `"prompts":{}`, `"completions":{}`)
	}
	if s.server.Skills != nil {
		caps = append(caps, `"extensions":{"io.modelcontextprotocol/skills":{"directoryRead":true}}`)
	}
	return "{" + strings.Join(caps, ",") + "}"
}

func (s *session) page(m *wire.Message, kind string, items []string) {
	from := 0
	if cursor, ok := m.Text(m.Params, "cursor"); ok {
		from, _ = strconv.Atoi(cursor)
	}
	to, next := len(items), ""
	if n := s.server.PageSize; n > 0 && from+n < to {
		to = from + n
		next = fmt.Sprintf(`,"nextCursor":"%d"`, to)
	}
	s.reply(m, fmt.Sprintf(`{%q:[%s]%s}`, kind, strings.Join(items[from:to], ","), next))
}

func (s *session) reply(m *wire.Message, result string) {
	if s.server.Modern && !strings.HasPrefix(result, `{"resultType"`) {
		rest := strings.TrimPrefix(result, "{")
		if rest != "}" {
			rest = "," + rest
		}
		result = `{"resultType":"complete"` + rest
	}
	s.send(wire.AppendResult(nil, m.Bytes(m.ID), []byte(result)))
}

func (s *session) fail(m *wire.Message, code int, text, data string) {
	var raw []byte
	if data != "" {
		raw = []byte(data)
	}
	s.send(wire.AppendError(nil, m.Bytes(m.ID), code, text, raw))
}

func (s *session) text(m *wire.Message, text string) {
	s.reply(m, `{"content":[{"type":"text","text":`+string(wire.AppendQuote(nil, text))+`}]}`)
}

// Odd is the result of the tool "odd": content that no library of today knows, members in an order of their own,
// numbers that floats cannot hold.
const Odd = `{"z":1,"content":[{"type":"hologram","data":{"b":[],"a":18446744073709551615}},{"type":"text","text":"\ud83d\ude00 <&>","x":1.0}],"structuredContent":{"n":9007199254740993,"m":1.10},"isError":false,"_meta":{"vendor/key":[1e400]},"extra":null}`

// count adds to the calls that are under way.
func (s *session) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls += n
	s.most = max(s.most, s.calls)
	close(s.changed)
	s.changed = make(chan struct{})
}

// beside waits for another call to be under way, and, with alone, to be over again.
func (s *session) beside(alone bool) {
	for {
		s.mu.Lock()
		done, changed := s.most > 1 && (!alone || s.calls == 1), s.changed
		s.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-s.closed:
			return
		}
	}
}

func (s *session) tool(m *wire.Message) {
	s.count(1)
	defer s.count(-1)
	var out [3]wire.Span
	_ = wire.Find(m.Raw, m.Params, []string{"name", "arguments", "_meta"}, out[:])
	name, _ := wire.Unquote(m.Bytes(out[0]))
	var args struct {
		N    int               `json:"n"`
		MS   int               `json:"ms"`
		Text string            `json:"text"`
		Ask  json.RawMessage   `json:"ask"`
		Say  []json.RawMessage `json:"say"`

		Result json.RawMessage `json:"result"`
		Beside bool            `json:"beside"` // wait for another call, or to "sleep" for its end
	}
	_ = json.Unmarshal(m.Bytes(out[1]), &args)
	if args.Beside {
		s.beside(string(name) == "sleep")
	}
	switch name {
	case "echo":
		s.text(m, string(m.Bytes(out[1])))
	case "params":
		s.text(m, string(m.Bytes(m.Params)))
	case "refuse":
		if args.Result != nil { // it is the error
			s.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`, m.Bytes(m.ID), args.Result))
			return
		}
		s.fail(m, wire.CodeInvalidParams, "wrong arguments", "")
	case "fail":
		s.fail(m, -32001, "it failed", `{"retry":5,"n":9007199254740993}`)
	case "iserror":
		s.reply(m, `{"content":[{"type":"text","text":"no such file"}],"isError":true}`)
	case "odd":
		s.reply(m, Odd)
	case "big":
		s.text(m, strings.Repeat("x", args.N))
	case "progress":
		s.progress(m, out[2], args.N, time.Duration(args.MS)*time.Millisecond)
		s.text(m, "done")
	case "ask":
		time.Sleep(time.Duration(args.MS) * time.Millisecond)
		s.progress(m, out[2], args.N, 0)
		s.ask(m, args.Ask, args.Say...)
	case "hang":
		for _, msg := range args.Say {
			s.send(msg)
		}
		<-s.closed
	case "say":
		time.Sleep(time.Duration(args.MS) * time.Millisecond)
		for _, msg := range args.Say {
			s.send(msg)
		}
		s.text(m, "said"+strings.Repeat("x", args.N))
	case "result":
		// What is nested deep would not come through as an argument.
		nested := strings.Repeat("[", args.N) + strings.Repeat("]", args.N)
		s.result(m, bytes.ReplaceAll(args.Result, []byte(`"DEEP"`), []byte(nested)))
	case "heard":
		s.mu.Lock()
		heard := strings.Join(s.heard, "\n")
		s.mu.Unlock() // a client in this process may send its next request while it takes the reply
		s.text(m, heard)
	case "sleep":
		time.Sleep(time.Duration(args.N) * time.Millisecond)
		s.text(m, "slept")
	case "pid":
		s.text(m, strconv.Itoa(os.Getpid()))
	case "env":
		s.text(m, strings.Join(os.Environ(), "\n"))
	case "exit":
		fmt.Fprintln(os.Stderr, "\x1b[31mlast words\x1b[0m of the child")
		os.Exit(args.N)
	case "add_tool":
		s.mu.Lock()
		s.tools = append(s.tools, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, args.Text))
		s.mu.Unlock()
		s.send([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
		s.text(m, "added")
	case "redefine": // its first tool
		s.mu.Lock()
		s.tools = append([]string{string(args.Result)}, s.tools[1:]...)
		s.mu.Unlock()
		s.send([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
		s.text(m, "redefined")
	case "noise":
		os.Stdout.WriteString(args.Text + "\n")
		s.text(m, "made")
	case "update":
		s.send(append(append([]byte(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":`), wire.AppendQuote(nil, args.Text)...), "}}"...))
		s.text(m, "updated")
	default:
		s.other(m, name, out[1])
	}
}

// other answers a call of a tool that is listed and does nothing but say who was called.
func (s *session) other(m *wire.Message, name string, arguments wire.Span) {
	s.mu.Lock()
	listed := slices.ContainsFunc(s.tools, func(def string) bool {
		return strings.Contains(def, `"name":`+string(wire.AppendQuote(nil, name)))
	})
	s.mu.Unlock()
	if !listed {
		s.fail(m, wire.CodeInvalidParams, "unknown tool "+name, "")
		return
	}
	if s.server.Name != "" {
		name = s.server.Name + "'s " + name
	}
	s.text(m, fmt.Sprintf("%s was called with %s", name, m.Bytes(arguments)))
}

// progress sends n notifications, each after a pause.
func (s *session) progress(m *wire.Message, meta wire.Span, n int, pause time.Duration) {
	token := m.Get(meta, "progressToken")
	for i := 0; token != nil && i < n; i++ {
		time.Sleep(pause)
		s.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":%d,"x":1.0}}`, token, i+1, n))
	}
}

// result answers as it is told, and lists the task of the answer, if it has one.
func (s *session) result(m *wire.Message, result json.RawMessage) {
	var made struct{ Task json.RawMessage }
	if json.Unmarshal(result, &made) == nil && made.Task != nil {
		s.mu.Lock()
		s.tasks = append(s.tasks, string(made.Task))
		s.mu.Unlock()
	}
	s.reply(m, string(result))
}

// ask sends the client a request, and what is said after it, and answers with what the client answered. A modern server
// may be given an array of them.
func (s *session) ask(m *wire.Message, request json.RawMessage, then ...json.RawMessage) {
	if s.server.Modern {
		// A modern server asks in its result, and is called again with the answer.
		path, questions := []string{"inputResponses", "q"}, `"q":`+string(request)
		var several []json.RawMessage
		if json.Unmarshal(request, &several) == nil {
			path, questions = path[:1], ""
			for i, one := range several {
				questions += fmt.Sprintf(`,"q%d":%s`, len(several)-i, one)
			}
			questions = strings.TrimPrefix(questions, ",")
		}
		answer, _ := wire.FindPath(m.Raw, m.Params, path...)
		state, _ := wire.FindPath(m.Raw, m.Params, "requestState")
		if string(m.Bytes(state)) == `"mine"` && answer.Present() {
			s.mu.Lock()
			s.heard = append(s.heard, "the answer "+string(m.Bytes(answer)))
			s.mu.Unlock()
			s.text(m, string(m.Bytes(answer)))
			return
		}
		s.reply(m, `{"resultType":"input_required","requestState":"mine","inputRequests":{`+questions+`}}`)
		return
	}
	s.mu.Lock()
	s.asked++
	id := strconv.Itoa(s.asked)
	answer := make(chan []byte, 1)
	s.answers[id] = answer
	s.mu.Unlock()
	msg := append([]byte(`{"jsonrpc":"2.0","id":`+id+`,`), bytes.TrimPrefix(bytes.TrimSpace(request), []byte("{"))...)
	s.send(msg)
	for _, more := range then {
		s.send(more)
	}
	select {
	case a := <-answer:
		s.text(m, string(a))
	case <-s.closed:
	}
}
