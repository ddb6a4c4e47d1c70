package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/status"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/toolbox"
)

// talk is a client that holds a session in this process.
type talk struct {
	front   *proxy.Proxy
	t       *testing.T
	session wire.Session
	got     chan string
	seen    []string // what came and was not waited for yet
}

// dial connects a client to a front with one toolbox "box" of the given servers.
func dial(t *testing.T, open bool, servers map[string]*mcptest.Server) *talk {
	t.Helper()
	box := config.Toolbox{Name: "box", Open: open}
	builtins := make(map[string]toolbox.Builtin)
	for name, srv := range servers {
		builtins[name] = func(principal.Principal, config.Server) (wire.Endpoint, error) { return srv, nil }
		box.Servers = append(box.Servers, config.Server{Name: name, Transport: config.TransportBuiltin, Builtin: name,
			Timeouts: config.Timeouts{Start: 10 * time.Second, CallIdle: time.Minute, CallTotal: time.Minute}})
	}
	slices.SortFunc(box.Servers, func(a, b config.Server) int { return strings.Compare(a.Name, b.Name) })
	cfg := &config.Config{ToolMode: config.ToolModeAuto, OpenTimeout: 10 * time.Second, Toolboxes: []config.Toolbox{box}}
	front, err := proxy.New(cfg, proxy.Options{Version: "test", Toolbox: toolbox.Options{Builtins: builtins}})
	if err != nil {
		t.Fatal(err)
	}
	return talkTo(t, front)
}

// talkTo connects a client to a front, which is closed at the end.
func talkTo(t *testing.T, front *proxy.Proxy) *talk {
	c := &talk{t: t, front: front, got: make(chan string, 10000)}
	c.session = front.Connect(func(msg []byte) { c.got <- string(msg) })
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := c.session.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
		_ = front.Close()
	})
	return c
}

func (c *talk) say(format string, args ...any) {
	c.session.Receive(fmt.Appendf(nil, format, args...))
}

// hear waits for the first message, from what came already on, that has all of the given pieces.
func (c *talk) hear(pieces ...string) string {
	c.t.Helper()
	has := func(msg string) bool {
		return !slices.ContainsFunc(pieces, func(p string) bool { return !strings.Contains(msg, p) })
	}
	for i, msg := range c.seen {
		if has(msg) {
			c.seen = slices.Delete(c.seen, i, i+1)
			return msg
		}
	}
	late := time.NewTimer(2 * time.Minute)
	defer late.Stop()
	for {
		select {
		case msg := <-c.got:
			if has(msg) {
				return msg
			}
			c.seen = append(c.seen, msg)
		case <-late.C:
			c.t.Fatalf("nothing came with %q; got %q", pieces, c.seen)
		}
	}
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"roots":{}}%s}`

func meta(more string) string { return fmt.Sprintf(modernMeta, more) }

func (c *talk) initialize() {
	c.t.Helper()
	c.say(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"roots":{}},"clientInfo":{"name":"c","version":"1"}}}`)
	c.hear(`"id":"init"`)
	c.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

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

// A reply that comes while its client is being asked is kept for the client's retry, as long as the server's account
// has room for it, and what was kept is credited.
func TestReplyWhileTheClientIsAsked(t *testing.T) {
	for name, tt := range map[string]struct {
		size int
		want string
	}{
		"kept":         {1 << 20, `"result":`},
		"without room": {9 << 20, "has carried the call out, but its reply of "},
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, false, map[string]*mcptest.Server{"old": {}})
			kept := func() status.Kept { return c.front.Status().Sessions[0].Toolboxes[0].Servers[0].Kept }
			args := fmt.Sprintf(`"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"say","arguments":{"n":%d,"say":[`+
				`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}]}}`, tt.size)
			c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s,%s}}`, args, meta(""))
			msg := c.hear(`"id":1`, `input_required`)
			for end := time.Now().Add(2 * time.Minute); kept().Refused == 0 && kept().Bytes < int64(tt.size) && time.Now().Before(end); {
				time.Sleep(time.Millisecond) // until the reply has come
			}
			c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{%s,"requestState":%s,"inputResponses":{},%s}}`,
				args, field(t, msg, "result", "requestState"), meta(""))
			if got := c.hear(`"id":2`); !strings.Contains(got, tt.want) {
				t.Errorf("got %.200s, want %s", got, tt.want)
			}
			if got := kept().Bytes; got > 64<<10 {
				t.Errorf("got %d bytes kept after the reply was told, want nothing of it", got)
			}
		})
	}
}

// A legacy server asks in the midst of a modern client's call: the client is answered with input_required, and its
// retry gets the result of the same call.
func TestModernClientLegacyServerAsks(t *testing.T) {
	c := dial(t, false, map[string]*mcptest.Server{"old": {}})
	args := `"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"ask","arguments":{"ask":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"z":1,"a":9007199254740993}}}}}`
	c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s,%s}}`, args, meta(""))
	msg := c.hear(`"id":1`, `input_required`)
	var key string
	for key = range unmarshalMap(t, field(t, msg, "result", "inputRequests")) {
	}
	if got, want := string(field(t, msg, "result", "inputRequests", key)), `{"method":"elicitation/create","params":{"_meta":{"workbench/server":"box/old"},"message":"Server \"old\" of toolbox \"box\" asks: ?","requestedSchema":{"z":1,"a":9007199254740993}}}`; got != want {
		t.Errorf("the client was asked %s, want what the server asked: %s", got, want)
	}
	state := string(field(t, msg, "result", "requestState"))
	retry := func(id int, args, state string) {
		c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s,"requestState":%s,"inputResponses":{%q:{"action":"accept","content":{"n":9007199254740993}}},%s}}`, id, args, state, key, meta(""))
	}
	other := "A" // than what stands in the middle
	if state[len(state)/2] == 'A' {
		other = "B"
	}
	for id, bad := range map[int][2]string{
		10: {args, `"wb1.AAAA"`},
		11: {args, state[:len(state)/2] + other + state[len(state)/2+1:]},
		12: {strings.Replace(args, `"ask"`, `"params"`, 1), state},
	} {
		retry(id, bad[0], bad[1])
		if got := c.hear(fmt.Sprintf(`"id":%d`, id)); !strings.Contains(got, "-32602") {
			t.Errorf("a retry with a state that is not its own: got %s, want -32602", got)
		}
	}
	retry(2, args, state)
	got := c.hear(`"id":2`)
	if !strings.Contains(got, `"resultType":"complete"`) || !strings.Contains(got, `\"content\":{\"n\":9007199254740993}`) {
		t.Errorf("the retry got %s, want the result of the call with the client's answer", got)
	}
	retry(3, args, state)
	if got := c.hear(`"id":3`); !strings.Contains(got, "-32602") {
		t.Errorf("a second retry got %s, want -32602", got)
	}
}

// A legacy server has pages visited before a request is made again by an error of its era: a modern client is asked that
// in a result, and makes its request again.
func TestPagesToBeVisitedFirst(t *testing.T) {
	c := dial(t, false, map[string]*mcptest.Server{"s": {Tools: []string{`{"name":"refuse","inputSchema":{"type":"object"}}`}}})
	call := func(id int, capabilities, more string) string {
		c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"refuse","arguments":{"result":{"code":-32042,"message":"not yet",`+
			`"data":{"elicitations":[{"elicitationId":"e","url":"https://x","message":"Log in"},{"mode":"url","elicitationId":"f","url":"https://y","message":"Pay"}]}}}},%s%s}}`,
			id, strings.Replace(fmt.Sprintf(modernMeta, ""), `{"elicitation":{},"roots":{}}`, capabilities, 1), more)
		return c.hear(fmt.Sprintf(`"id":%d`, id))
	}
	const url = `{"elicitation":{"url":{}}}`
	const page = `"page%d":{"method":"elicitation/create","params":{"mode":"url","_meta":{"workbench/server":"box/s"},"url":"https://%s","message":"Server \"s\" of toolbox \"box\" asks: %s"}}`
	want := `"result":{"resultType":"input_required","inputRequests":{` + fmt.Sprintf(page, 1, "x", "Log in") + "," + fmt.Sprintf(page, 2, "y", "Pay") + `},"requestState":"pages"}}`
	if got := call(1, url, ""); !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := call(2, url, `,"requestState":"pages","inputResponses":{"page1":{"action":"accept"},"page2":{"action":"accept"}}`); !strings.Contains(got, "input_required") {
		t.Errorf("the user agreed, and the server still wants the pages visited: got %s, want that it is asked again", got)
	}
	if got := call(3, url, `,"requestState":"pages","inputResponses":{"page1":{"action":"accept"},"page2":{"action":"decline"}}`); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "did not agree") {
		t.Errorf("the user did not agree: got %s, want an error for the model", got)
	}
	if got := call(4, `{"elicitation":{}}`, ""); !strings.Contains(got, `"code":-32021`) || !strings.Contains(got, `"data":{"requiredCapabilities":{"elicitation":{"url":{}}}}`) || !strings.Contains(got, "not yet") {
		t.Errorf("a client that visits no pages got %s, want -32021", got)
	}
}

// A log line is told to a modern client whose call asked for it, although another one began later that did not.
func TestLogLineWhileAnotherCallRuns(t *testing.T) {
	c := dial(t, false, map[string]*mcptest.Server{"s": {}})
	const call = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":%q,"arguments":%s},%s}}`
	c.say(call, 1, "say", `{"beside":true,"say":[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}]}`,
		meta(`,"io.modelcontextprotocol/logLevel":"info"`))
	waitFor(t, "the first call to be under way", func() bool {
		s := c.front.Status().Sessions
		return len(s) > 0 && len(s[0].Toolboxes) > 0 && s[0].Toolboxes[0].Servers[0].InFlight == 1
	})
	c.say(call, 2, "hang", `{}`, meta(""))
	c.hear(`"id":1`, "said")
	if !slices.ContainsFunc(c.seen, func(msg string) bool { return strings.Contains(msg, "notifications/message") }) {
		t.Errorf("got %q, want the log line", c.seen)
	}
	c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
}

// What a client does not offer with its request, it is not asked: not by a method, and not in a way of it.
func TestQuestionsThatAreNotOffered(t *testing.T) {
	t.Parallel()
	const form, url, sample, tools = `{"method":"elicitation/create","params":{"message":"?"}}`,
		`{"method":"elicitation/create","params":{"mode":"url","message":"?"}}`,
		`{"method":"sampling/createMessage","params":{"messages":[]}}`, `{"method":"sampling/createMessage","params":{"messages":[],"tools":[]}}`
	modern := strings.Replace(modernMeta, `{"elicitation":{},"roots":{}}%s`, "%s", 1)
	for _, tt := range []struct{ declared, ask, lacks string }{
		{`{"elicitation":{}}`, form, ""},
		{`{"elicitation":{}}`, url, "elicitation.url"},
		{`{"elicitation":{"url":{}}}`, form, "elicitation.form"},
		{`{"elicitation":{"url":{}}}`, url, ""},
		{`{"elicitation":{"form":{},"url":{}}}`, form, ""},
		{`{"elicitation":null}`, form, "elicitation"},
		{`{"elicitation":{}}`, sample, "sampling"},
		{`{"sampling":{}}`, sample, ""},
		{`{"sampling":{}}`, tools, "sampling.tools"},
		{`{"sampling":{"tools":{}}}`, tools, ""},
		{`{}`, `{"method":"roots/list"}`, "roots"},
	} {
		t.Run(tt.declared+" "+tt.ask, func(t *testing.T) {
			t.Parallel()
			args := `"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"ask","arguments":{"ask":` + tt.ask + `}}`
			c := dial(t, false, map[string]*mcptest.Server{"old": {}})
			c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s,%s}}`, strings.Replace(args, "dev", "box", 1), fmt.Sprintf(modern, tt.declared))
			if got := c.hear(`"id":1`); strings.Contains(got, "input_required") != (tt.lacks == "") || !strings.Contains(got, tt.lacks) {
				t.Errorf("a modern client with %s that was asked %s: got %s", tt.declared, tt.ask, got)
			}
			c = talkTo(t, newFront(t, readConfig(t, strings.Replace(oneServer, `"inside"`, `"inside","shared":true`, 1)), ""))
			c.say(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":%s,"clientInfo":{"name":"c","version":"1"}}}`, tt.declared)
			c.hear(`"id":"init"`)
			c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s}}`, args)
			if tt.lacks == "" {
				c.hear(`"id":"wb-1"`)
			} else if got := c.hear(`"id":1`); !strings.Contains(got, tt.lacks) {
				t.Errorf("a legacy client with %s that was asked %s by a shared server: got %s", tt.declared, tt.ask, got)
			}
		})
	}
}

// What becomes of a call of a modern client whose legacy server asks, when something comes in between.
func TestAskedCallGoesOnOrEnds(t *testing.T) {
	const question = `"method":"elicitation/create","params":{"message":"?"}`
	const served = `{"toolboxes":{"dev":{"open":true,"mcpServers":{"s":{"command":"inside","maxInFlight":1,"args":[%s]}}}}}`
	begin := func(t *testing.T, tool, arguments string) (c *talk, retry func(id int)) {
		c = talkTo(t, newFront(t, readConfig(t, fmt.Sprintf(served, "")), ""))
		args := fmt.Sprintf(`"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":%q,"arguments":%s}`, tool, arguments)
		c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s,%s}}`, args, meta(""))
		state := field(t, c.hear(`"id":1`, `input_required`), "result", "requestState")
		synctest.Wait()
		return c, func(id int) {
			c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s,"requestState":%s,"inputResponses":{"r1":{"action":"accept"}},%s}}`, id, args, state, meta(""))
			synctest.Wait()
		}
	}
	t.Run("another question was withdrawn", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, retry := begin(t, "ask", `{"ask":{`+question+`},"say":[{"jsonrpc":"2.0","id":"q",`+question+`},`+
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}]}`)
			retry(2)
			c.hear(`"id":2`, `"resultType":"complete"`, "accept")
		})
	})
	t.Run("the server was replaced", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, retry := begin(t, "ask", `{"ask":{`+question+`}}`)
			c.front.Reload(readConfig(t, fmt.Sprintf(served, `"name=other"`)))
			synctest.Wait()
			retry(2)
			c.hear(`"id":2`, `"resultType":"complete"`, "accept")
		})
	})
	t.Run("the client gives it up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, retry := begin(t, "hang", `{"say":[{"jsonrpc":"2.0","id":"q",`+question+`}]}`)
			retry(2)
			c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,%s}}`, meta(""))
			c.say(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"heard"},%s}}`, meta(""))
			c.hear(`"id":4`, "notifications/cancelled")
		})
	})
	const patient = `{"toolboxes":{"dev":{"open":true,"mcpServers":{"s":{"command":"inside","timeouts":{"callIdle":"15m"}}}}}}`
	again := func(c *talk, id int, args string, asked string, answers string) {
		c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s,"requestState":%s,"inputResponses":%s,%s}}`,
			id, args, field(t, asked, "result", "requestState"), answers, meta(""))
	}
	t.Run("the server works on for long", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := talkTo(t, newFront(t, readConfig(t, patient), ""))
			args := `"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"hang","arguments":{"say":[{"jsonrpc":"2.0","id":"q",` + question + `}]}}`
			c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s,%s}}`, args, meta(""))
			again(c, 2, args, c.hear(`"id":1`, `input_required`), `{"r1":{"action":"accept"}}`)
			time.Sleep(16 * time.Minute)
			c.hear(`"id":2`, "timeouts.callIdle")
		})
	})
	t.Run("the client is slow, twice", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := talkTo(t, newFront(t, readConfig(t, patient), ""))
			args := `"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"ask","arguments":{"ask":{` + question + `}}}`
			c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s,%s}}`, args, meta(""))
			asked := c.hear(`"id":1`, `input_required`)
			time.Sleep(9 * time.Minute)
			again(c, 2, args, asked, `{}`)
			asked = c.hear(`"id":2`, `input_required`)
			time.Sleep(9 * time.Minute)
			again(c, 3, args, asked, `{"r2":{"action":"accept"}}`)
			c.hear(`"id":3`, `"resultType":"complete"`, "accept")
		})
	})
	t.Run("the client does not come back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := talkTo(t, newFront(t, readConfig(t, patient), ""))
			c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"hang","arguments":{"say":[{"jsonrpc":"2.0","id":"q",%s}]}},%s}}`, question, meta(""))
			c.hear(`"id":1`, `input_required`)
			time.Sleep(11 * time.Minute)
			c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"heard"},%s}}`, meta(""))
			c.hear(`"id":2`, "did not answer in time", "notifications/cancelled")
		})
	})
}

func unmarshalMap(t *testing.T, raw json.RawMessage) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// A modern server answers a legacy client's call with input_required: the client is asked as its revision knows it, and
// the call made again.
func TestLegacyClientModernServerAsks(t *testing.T) {
	c := dial(t, false, map[string]*mcptest.Server{"new": {Modern: true}})
	c.initialize()
	c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"ask","arguments":{"ask":{"method":"elicitation/create","params":{"message":"?","n":9007199254740993}}}},"_meta":{"progressToken":"p"}}}`)
	q := c.hear(`"method":"elicitation/create"`)
	if !strings.Contains(q, `"params":{"_meta":{"workbench/server":"box/new"},"message":"Server \"new\" of toolbox \"box\" asks: ?","n":9007199254740993}`) {
		t.Errorf("the client was asked %s", q)
	}
	c.say(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"n":9007199254740993}}}`, field(t, q, "id"))
	got := c.hear(`"id":1`)
	if !strings.Contains(got, `{\"action\":\"accept\",\"content\":{\"n\":9007199254740993}}`) {
		t.Errorf("got %s, want the result with the client's answer", got)
	}
	// The request carries the metadata that a modern server needs.
	c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"box__new__params","arguments":{}}}`)
	if got := c.hear(`"id":2`); !strings.Contains(got, `io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{},\"roots\":{}}`) {
		t.Errorf("the server got %s, want the client's capabilities in _meta", got)
	}
}

// Progress only rises for a client, although a server that asks counts anew when its request is made again.
func TestProgressOfARequestMadeAgain(t *testing.T) {
	c := dial(t, false, map[string]*mcptest.Server{"new": {Modern: true}})
	c.initialize()
	c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"ask","arguments":{"n":2,"ask":{"method":"elicitation/create","params":{"message":"?"}}}},"_meta":{"progressToken":"p"}}}`)
	c.say(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, field(t, c.hear(`"method":"elicitation/create"`), "id"))
	c.hear(`"id":1`)
	var got []string
	for _, msg := range c.seen {
		if strings.Contains(msg, `"x":1.0`) { // the server's own
			got = append(got, fmt.Sprintf("%s/%s", field(t, msg, "params", "progress"), field(t, msg, "params", "total")))
		}
	}
	if want := []string{"1/2", "2/2", "3/4", "4/4"}; !slices.Equal(got, want) {
		t.Errorf("got the progress %q, want %q", got, want)
	}
}

// The answers to several questions go to the server in the order in which it asked, in whatever order the client gives
// them: the same conversation is the same bytes.
func TestAnswersAreInOrder(t *testing.T) {
	c := dial(t, false, map[string]*mcptest.Server{"new": {Modern: true}})
	c.initialize()
	const questions = 9
	var list, want []string
	for i := range questions {
		list = append(list, fmt.Sprintf(`{"method":"elicitation/create","params":{"message":"question %d"}}`, i))
		want = append(want, fmt.Sprintf(`\"q%d\":{\"action\":\"accept\",\"content\":{\"n\":%d}}`, questions-i, i))
	}
	c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"ask","arguments":{"ask":[%s]}}}}`, strings.Join(list, ","))
	for _, i := range []int{4, 8, 0, 2, 1, 7, 3, 6, 5} {
		q := c.hear(fmt.Sprintf("question %d", i))
		c.say(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"n":%d}}}`, field(t, q, "id"), i)
	}
	if got := c.hear(`"id":1`); !strings.Contains(got, strings.Join(want, ",")) {
		t.Errorf("got %s, want the answers in the order %s", got, want)
	}
}

// A question for a call that was given up is nobody's: the answer that comes late has no call made again. A server asks
// for so much at a time and no more.
func TestQuestionsEndWithTheirCall(t *testing.T) {
	t.Parallel()
	c := dial(t, true, map[string]*mcptest.Server{"new": {Modern: true}})
	c.initialize()
	c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"box__new__ask","arguments":{"ask":{"method":"roots/list"}}}}`)
	q := c.hear(`"method":"roots/list"`)
	c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	c.say(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[]}}`, field(t, q, "id"))
	c.say(`{"jsonrpc":"2.0","id":"wait","method":"tools/call","params":{"name":"box__new__sleep","arguments":{"n":100}}}`)
	c.hear(`"id":"wait"`)
	c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"box__new__heard"}}`)
	if got := c.hear(`"id":2`); strings.Contains(got, "the answer") {
		t.Errorf("the server was called again for a call that was given up: %s", got)
	}
	many := ""
	for i := range 101 {
		many += fmt.Sprintf(`"q%d":{"method":"roots/list"},`, i)
	}
	c.say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"box__new__result","arguments":{"result":{"resultType":"input_required","inputRequests":{%s}}}}}`, strings.TrimSuffix(many, ","))
	if got := c.hear(`"id":3`); !strings.Contains(got, "101 inputs at once") {
		t.Errorf("got %.300s, want that the server asked for too much", got)
	}
}

func TestSubscription(t *testing.T) {
	c := dial(t, true, map[string]*mcptest.Server{"old": {Resources: []string{`{"uri":"x:1","name":"one"}`}}})
	c.say(`{"jsonrpc":"2.0","id":"l","method":"tools/list","params":{%s}}`, meta(""))
	list := c.hear(`"id":"l"`)
	if !strings.Contains(list, `"box__old__echo"`) || !strings.Contains(list, `"resultType":"complete"`) || !strings.Contains(list, `"ttlMs"`) {
		t.Errorf("got %.300s, want the tools of the toolbox that is marked open", list)
	}
	c.say(`{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["x:1"]},%s}}`, meta(""))
	want := `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"},"notifications":{"resourceSubscriptions":["x:1"],"toolsListChanged":true}}}`
	if got := c.hear("subscriptions/acknowledged"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"box__old__add_tool","arguments":{"text":"late"},%s}}`, meta(""))
	if got, want := c.hear("tools/list_changed"), `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"box__old__update","arguments":{"text":"x:1"},%s}}`, meta(""))
	if got, want := c.hear("resources/updated"), `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"},"uri":"x:1"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}}`)
	c.say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"box__old__update","arguments":{"text":"x:1"},%s}}`, meta(""))
	c.hear(`"id":3`)
	if slices.ContainsFunc(c.seen, func(m string) bool { return strings.Contains(m, "resources/updated") }) {
		t.Errorf("a cancelled subscription was told: %q", c.seen)
	}
	// An open subscription is ended gracefully.
	c.say(`{"jsonrpc":"2.0","id":"t","method":"subscriptions/listen","params":{"notifications":{},%s}}`, meta(""))
	c.hear("subscriptions/acknowledged")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := c.session.Close(ctx); err != nil {
		t.Error(err)
	}
	if got, want := c.hear(`"id":"t"`), `{"jsonrpc":"2.0","id":"t","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"t"}}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A tool of a toolbox that is open from the start can be called before it was listed, in both eras.
func TestCallBeforeList(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			c := dial(t, true, map[string]*mcptest.Server{"old": {}})
			with := ""
			if era == "legacy" {
				c.initialize()
			} else {
				with = "," + meta("")
			}
			c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"box__old__echo","arguments":{"n":1}%s}}`, with)
			if got := c.hear(`"id":1`); !strings.Contains(got, `{\"n\":1}`) {
				t.Errorf("got %s, want the answer of the tool", got)
			}
			c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"box__old__none"%s}}`, with)
			if got := c.hear(`"id":2`); !strings.Contains(got, "tool not found") {
				t.Errorf("got %s, want tool not found", got)
			}
		})
	}
}

// What is said to a server is of its own era, and what is said to a client is of the client's: the server here refuses,
// or reports at its end, what is not.
func TestFaultH2_ErasDoNotLeak(t *testing.T) {
	servers := map[string]*mcptest.Server{
		"legacy": {Resources: []string{`{"uri":"x:1","name":"one"}`}, Prompts: []string{`{"name":"greet"}`}},
		"modern": {Modern: true, Resources: []string{`{"uri":"x:1","name":"one"}`}, Prompts: []string{`{"name":"greet"}`}},
	}
	for name, server := range servers {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(era+" client, "+name+" server", func(t *testing.T) {
				c := dial(t, true, map[string]*mcptest.Server{"s": server})
				with := ""
				if era == "legacy" {
					c.initialize()
				} else {
					with = "," + meta(`,"io.modelcontextprotocol/logLevel":"debug"`)
				}
				tag := ""
				if server.Modern {
					tag = `,"_meta":{"io.modelcontextprotocol/subscriptionId":1}`
				}
				requests := []string{
					`"tools/list","params":{"a":1%s}`,
					`"tools/call","params":{"name":"box__s__params","arguments":{"n":1}%s}`,
					`"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"params"}%s}`,
					`"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"box"}%s}`,
					`"tools/call","params":{"name":"box__s__echo","arguments":{},"requestState":"foreign","inputResponses":{}%s}`,
					`"tools/call","params":{"name":"box__s__say","arguments":{"say":[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":1` + tag + `}}]}%s}`,
					`"prompts/get","params":{"name":"box__s__greet"%s}`,
					`"resources/read","params":{"uri":"x:1"%s}`,
					`"resources/read","params":{"uri":"y:no list has it"%s}`,
					`"completion/complete","params":{"ref":{"type":"ref/prompt","name":"box__s__greet"},"argument":{"name":"a","value":""}%s}`,
				}
				if era == "legacy" {
					requests = append(requests, `"logging/setLevel","params":{"level":"debug"%s}`, `"resources/subscribe","params":{"uri":"x:1"%s}`,
						`"tasks/list","params":{"a":1%s}`, `"resources/unsubscribe","params":{"uri":"x:1"%s}`)
				}
				for i, r := range requests {
					c.say(`{"jsonrpc":"2.0","id":%d,"method":`+r+`}`, i, with)
					got := c.hear(fmt.Sprintf(`"id":%d,`, i))
					result := field(t, got, "result")
					if result == nil {
						t.Errorf("%s: got %s, want a result", r, got)
						continue
					}
					members := unmarshalMap(t, result)
					if _, typed := members["resultType"]; typed != (era == "modern") {
						t.Errorf("%s: got %.300s: it says its type: %t", r, got, typed)
					}
					read := strings.Contains(r, "resources/read") || strings.Contains(r, "tools/list")
					if _, kept := members["ttlMs"]; kept != (era == "modern" && read) {
						t.Errorf("%s: got %.300s: it says how long it may be kept: %t", r, got, kept)
					}
				}
				c.say(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
				c.say(`{"jsonrpc":"2.0","id":"hang","method":"tools/call","params":{"name":"box__s__hang"%s}}`, with)
				c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"hang"%s}}`, with)
				c.say(`{"jsonrpc":"2.0","id":"heard","method":"tools/call","params":{"name":"box__s__heard"%s}}`, with)
				if got := c.hear(`"id":"heard"`); !strings.Contains(got, "notifications/cancelled") {
					t.Errorf("the server heard %s, want that the call was cancelled", got)
				}
				if got := c.hear("notifications/message"); strings.Contains(got, "subscriptionId") != (server.Modern && era == "modern") {
					t.Errorf("got the log line %s", got)
				}
			})
		}
	}
}

// A modern server's output schema may be of anything, and what it gives then too. Clients of the legacy era would refuse
// all tools for the one, and a result for the other.
func TestOutputOfAnything(t *testing.T) {
	const (
		schema = `"outputSchema":{"type":"array","items":{"type":"integer"}}`
		result = `{"resultType":"complete","content":[{"type":"text","text":"[1]"}],"structuredContent":[1]}`
	)
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			server := mcptest.Server{Modern: true, Tools: []string{`{"name":"result","inputSchema":{"type":"object"},` + schema + `}`}}
			c := dial(t, true, map[string]*mcptest.Server{"s": &server})
			with := ""
			if era == "legacy" {
				c.initialize()
			} else {
				with = "," + meta("")
			}
			c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":1%s}}`, with)
			if got := c.hear(`"id":1,`); !strings.Contains(got, `"box__s__result"`) || strings.Contains(got, schema) != (era == "modern") {
				t.Errorf("got %s", got)
			}
			c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"box__s__result","arguments":{"result":`+result+`}%s}}`, with)
			got := c.hear(`"id":2,`)
			if !strings.Contains(got, `"text":"[1]"`) || strings.Contains(got, `"structuredContent":[1]`) != (era == "modern") {
				t.Errorf("got %s", got)
			}
		})
	}
}
