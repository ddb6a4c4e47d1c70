package proxy_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/proxy"
)

const oneServer = `{"toolboxes":{"dev":{"open":true,"mcpServers":{"s":{"command":"inside"}}}}}`

// Each question says which server asks, and a server cannot say that another does.
func TestFaultG16_WhoAsks(t *testing.T) {
	const by = `"_meta":{"workbench/server":"dev/s"`
	for _, tt := range []struct{ name, ask, want string }{
		{"elicitation", `{"method":"elicitation/create","params":{"message":"Your \"word\"","n":1.0}}`,
			`{` + by + `},"message":"Server \"s\" of toolbox \"dev\" asks: Your \"word\"","n":1.0}`},
		{"a page", `{"method":"elicitation/create","params":{"mode":"url","url":"https://x","message":"Log in"}}`,
			`{` + by + `},"mode":"url","url":"https://x","message":"Server \"s\" of toolbox \"dev\" asks: Log in"}`},
		{"sampling", `{"method":"sampling/createMessage","params":{"_meta":{"x":1},"messages":[]}}`, `{` + by + `,"x":1},"messages":[]}`},
		{"nothing but a name", `{"method":"sampling/createMessage","params":{}}`, `{` + by + `}}`},
		{"another's name", `{"method":"elicitation/create","params":{"_meta":{"workbench/server":"dev/bank"},"message":"Server \"bank\" asks"}}`,
			`{` + by + `},"message":"Server \"s\" of toolbox \"dev\" asks: Server \"bank\" asks"}`},
		{"roots", `{"method":"roots/list"}`, `"method":"roots/list"}`},
		{"roots in another's name", `{"method":"roots/list","params":{"_meta":{"x":1,"workbench/server":"dev/bank"}}}`, `{"x":1,"workbench/server":"dev/s"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := connect(t, newFront(t, readConfig(t, oneServer), ""))
			l.initialize("2025-11-25", "{}")
			l.call(way{}, "1", "tools/list", "", "")
			l.reply("1")
			l.call(way{}, "2", "tools/call", `"name":"dev__s__ask","arguments":{"ask":`+tt.ask+`}`, "")
			asked := l.wait("the question", func(text string) bool { return strings.Contains(text, `"id":"wb-1"`) })
			if !strings.Contains(asked, tt.want) {
				t.Errorf("got %s, want %s", asked, tt.want)
			}
			l.send(`{"jsonrpc":"2.0","id":"wb-1","result":{}}`)
			l.reply("2")
		})
	}
	for name, ask := range map[string]string{
		"a message twice":        `{"method":"elicitation/create","params":{"message":"a","message":"b"}}`,
		"a message in two cases": `{"method":"elicitation/create","params":{"message":"a","Message":"b"}}`,
		"no metadata":            `{"method":"elicitation/create","params":{"message":"a","_meta":1}}`,
		"a name twice":           `{"method":"elicitation/create","params":{"message":"a","_meta":{"workbench/server":"x","workbench/server":"y"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			l := connect(t, newFront(t, readConfig(t, oneServer), ""))
			l.initialize("2025-11-25", "{}")
			l.call(way{}, "1", "tools/list", "", "")
			l.reply("1")
			l.call(way{}, "2", "tools/call", `"name":"dev__s__ask","arguments":{"ask":`+ask+`}`, "")
			if got := l.reply("2"); !strings.Contains(got, "-32600") {
				t.Errorf("got %s, want that the question was refused", got)
			}
		})
	}
	t.Run("in a result", func(t *testing.T) {
		l := connect(t, newFront(t, readConfig(t, strings.Replace(oneServer, `"inside"`, `"inside","args":["modern"]`, 1)), ""))
		modern := way{client: "modern"}
		l.call(modern, "1", "tools/list", "", "")
		l.reply("1")
		l.call(modern, "2", "tools/call", `"name":"dev__s__result","arguments":{"result":{"resultType":"input\u005frequired","inputRequests":{"a":{"params":{"message":"A"},"method":"elicitation\/create"},"b":{"method":"roots/list"}}}}`, "")
		if got, want := l.reply("2"), `{"a":{"params":{`+by+`},"message":"Server \"s\" of toolbox \"dev\" asks: A"},"method":"elicitation\/create"},"b":{"method":"roots/list"}}`; !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
		l.call(modern, "3", "tools/call", `"name":"dev__s__result","arguments":{"result":{"resultType":"input_required","inputRequests":{},"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"A"}}}}}`, "")
		if got := l.reply("3"); strings.Contains(got, "inputRequests\":{") || !strings.Contains(got, "cannot be passed on") {
			t.Errorf("got %s, want an error", got)
		}
	})
	t.Run("in a result of a legacy server", func(t *testing.T) {
		l := connect(t, newFront(t, readConfig(t, oneServer), ""))
		modern := way{client: "modern"}
		l.call(modern, "1", "tools/list", "", "")
		l.reply("1")
		l.call(modern, "2", "tools/call", `"name":"dev__s__result","arguments":{"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"A"}}}}}`, "")
		if got, want := l.reply("2"), `"params":{`+by+`},"message":"Server \"s\" of toolbox \"dev\" asks: A"}`; !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("in an error", func(t *testing.T) {
		l := connect(t, newFront(t, readConfig(t, strings.Replace(oneServer, `"inside"`, `"inside","args":["tools=refuse"]`, 1)), ""))
		l.initialize("2025-11-25", "{}")
		l.call(way{}, "1", "tools/list", "", "")
		l.reply("1")
		visit := func(id, pages string) string {
			l.call(way{}, id, "tools/call", `"name":"dev__s__refuse","arguments":{"result":{"code":-32042,"message":"m","data":{"elicitations":`+pages+`}}}`, "")
			return l.reply(id)
		}
		page := `{"mode":"url","url":"https://x","elicitationId":"e","message":"Log in"}`
		want := `{` + by + `},"mode":"url","url":"https://x","elicitationId":"e","message":"Server \"s\" of toolbox \"dev\" asks: Log in"}`
		if got := visit("2", "["+page+","+page+"]"); strings.Count(got, want) != 2 {
			t.Errorf("got %s, want twice %s", got, want)
		}
		if got := visit("3", `[{"message":"a","message":"b"}]`); !strings.Contains(got, "cannot be passed on") {
			t.Errorf("got %s, want an error", got)
		}
	})
}

// While a client is being asked, the silence of the server that waits for the answer makes no call late but by its total
// time; then the question is withdrawn.
func TestTimeInWhichTheClientIsAsked(t *testing.T) {
	served := strings.Replace(oneServer, `"inside"`, `"inside","timeouts":{"callIdle":"10s","callTotal":"1m"}`, 1)
	const ask = `"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"ask","arguments":{"ask":{"method":"elicitation/create","params":{"message":"?"}}}}`
	t.Run("legacy", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := talkTo(t, newFront(t, readConfig(t, served), ""))
			c.initialize()
			c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s}}`, ask)
			c.hear(`"id":"wb-1"`, "elicitation/create")
			time.Sleep(50 * time.Second)
			c.say(`{"jsonrpc":"2.0","id":"wb-1","result":{"action":"accept"}}`)
			c.hear(`"id":1`, "accept")
			c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{%s}}`, ask)
			c.hear(`"id":"wb-2"`, "elicitation/create")
			c.hear("notifications/cancelled", `"requestId":"wb-2"`)
			c.hear(`"id":2`, "timeouts.callTotal")
			c.say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"hang"}}}`)
			c.hear(`"id":3`, "timeouts.callIdle")
		})
	})
	t.Run("modern", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := talkTo(t, newFront(t, readConfig(t, served), ""))
			c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s,%s}}`, ask, meta(""))
			state := field(t, c.hear(`"id":1`, `input_required`), "result", "requestState")
			time.Sleep(50 * time.Second)
			c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{%s,"requestState":%s,"inputResponses":{"r1":{"action":"accept"}},%s}}`, ask, state, meta(""))
			c.hear(`"id":2`, `"resultType":"complete"`, "accept")
		})
	})
}

// Of several questions for one call those are not put to a client that come when the call has ended.
func TestNoQuestionAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		front := newFront(t, readConfig(t, strings.Replace(oneServer, `"inside"`, `"inside","args":["modern"]`, 1)), "")
		c := &talk{t: t, front: front, got: make(chan string, 100)}
		c.session = front.Connect(func(msg []byte) {
			c.got <- string(msg)
			if strings.Contains(string(msg), "elicitation/create") {
				c.session.(*proxy.Session).Abandon(0, []byte("1")) // as the end of a connection does
			}
		})
		c.initialize()
		c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"ask","arguments":{"ask":[` +
			`{"method":"elicitation/create","params":{"message":"first"}},{"method":"elicitation/create","params":{"message":"second"}}]}}}}`)
		c.hear("first")
		synctest.Wait()
		for len(c.got) > 0 {
			if msg := <-c.got; strings.Contains(msg, "second") {
				t.Errorf("got %s after the end of the call", msg)
			}
		}
		_ = c.session.Close(t.Context())
		_ = front.Close()
	})
}

// waitFor waits until something is so.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(peerWait); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s", what, peerWait)
		}
	}
}

// A server that asks is never left waiting: it hears what is wrong with its question or with the client's answer, and a
// member that is null where there should be none is as good as none.
func TestBrokenQuestionsAndAnswers(t *testing.T) {
	c := dial(t, true, map[string]*mcptest.Server{"s": {}})
	c.initialize()
	for i, tt := range []struct{ name, ask, answer, want string }{
		{"both", `{"method":"roots/list"}`, `"result":{"roots":[]},"error":{"code":1,"message":"x"}`, "an answer has a result or an error, not both"},
		{"error null", `{"method":"roots/list"}`, `"result":{"roots":[]},"error":null`, `\"result\":{\"roots\":[]}}`},
		{"result null", `{"method":"roots/list"}`, `"result":null,"error":{"code":1,"message":"x"}`, `\"error\":{\"code\":1,\"message\":\"x\"}}`},
		{"neither", `{"method":"roots/list"}`, `"params":{}`, "a message has a method, a result or an error"},
		{"all three", `{"method":"roots/list"}`, `"method":"a","result":{}`, "a message has a method or an answer, not both"},
		{"no object", `{"method":"roots/list"}`, `"error":"x"`, "error must be an object"},
		{"params that are no object", `{"method":"roots/list","params":[]}`, "", "params must be an object"},
	} {
		c.say(`{"jsonrpc":"2.0","id":"c%d","method":"tools/call","params":{"name":"box__s__ask","arguments":{"ask":%s}}}`, i, tt.ask)
		if tt.answer != "" {
			c.say(`{"jsonrpc":"2.0","id":%s,%s}`, field(t, c.hear(`"method":"roots/list"`), "id"), tt.answer)
		}
		if got := c.hear(fmt.Sprintf(`"id":"c%d"`, i)); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}
