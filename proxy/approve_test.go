package proxy_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/toolbox"
)

// guarded has a server whose calls are asked about.
const guarded = `{"toolboxes":{"box":{"open":true,"mcpServers":{"s":{"command":"inside","approve":%s,"args":[
	"tools=echo,params,ask,progress,result",
	"tool={\"name\":\"look\",\"inputSchema\":{\"type\":\"object\"},\"annotations\":{\"readOnlyHint\":true}}"%s]}}}}}`

// guard connects a client to a server whose calls are asked about.
func guard(t *testing.T, approve, more string) (*talk, *approval.Register) {
	t.Helper()
	register := approval.New("a-")
	t.Cleanup(func() {
		if got := register.List(); len(got) > 0 {
			t.Errorf("got %v waiting after the end of the session, want nothing", got)
		}
	})
	return talkTo(t, newFrontWith(t, readConfig(t, fmt.Sprintf(guarded, approve, more)), proxy.Options{Approvals: register})), register
}

// greet makes the handshake of a legacy client that can ask its user, or cannot.
func (c *talk) greet(capabilities string) {
	c.t.Helper()
	c.say(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":%s,"clientInfo":{"name":"c","version":"1"}}}`, capabilities)
	c.hear(`"id":"init"`)
	c.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.say(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`)
	c.hear(`"id":"list"`, "box__s__look")
}

func (c *talk) calls(id int, tool, arguments, more string) {
	c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, id, tool, arguments, more)
}

// A call is made once the user agreed to it in the client, and not else.
func TestApproveByElicitation(t *testing.T) {
	use := `{"toolbox_name":"box","tool_name":"echo","arguments":{"a":1}}`
	for _, tt := range []struct {
		name, tool, arguments, answer, want string
	}{
		{"agreed", "box__s__echo", `{"a":1}`, `"result":{"action":"accept","content":{"decision":"run"}}`, `{\"a\":1}`},
		{"agreed, through workbench_use_tool", "workbench_use_tool", use, `"result":{"action":"accept","content":{"decision":"run"}}`, `{\"a\":1}`},
		{"refused", "box__s__echo", `{"a":1}`, `"result":{"action":"accept","content":{"decision":"refuse"}}`, "the user refused the call of box/s/echo"},
		{"accepted by a client that fills in nothing", "box__s__echo", `{"a":1}`, `"result":{"action":"accept","content":{}}`, "refused"},
		{"accepted without content", "box__s__echo", `{"a":1}`, `"result":{"action":"accept"}`, "refused"},
		{"declined", "box__s__echo", `{"a":1}`, `"result":{"action":"decline"}`, "refused"},
		{"declined, with a choice all the same", "workbench_use_tool", use, `"result":{"action":"decline","content":{"decision":"run"}}`, "refused"},
		{"cancelled", "box__s__echo", `{"a":1}`, `"result":{"action":"cancel"}`, "refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := guard(t, `"writes"`, "")
			c.greet(`{"elicitation":{}}`)
			c.calls(1, tt.tool, tt.arguments, "")
			question := c.hear("elicitation/create", `box/s/echo {\"a\":1}`, "Workbench asks")
			c.say(`{"jsonrpc":"2.0","id":%s,%s}`, field(t, question, "id"), tt.answer)
			got := c.hear(`"id":1`)
			if !strings.Contains(got, tt.want) || strings.Contains(got, `"isError":true`) != strings.Contains(tt.want, "refused") {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// A call that was agreed to is made of the tool as the configuration has it by then, and of none that it leaves out.
func TestApproveAfterAChange(t *testing.T) {
	const left = "does not offer the tool"
	for name, tt := range map[string]struct{ change, want string }{
		"nothing":            {``, `{\"a\":1}`},
		"left out":           {`,"toolFilters":["look"]`, left},
		"writes":             {`,"readOnly":true`, left},
		"an argument":        {`,"tools":{"echo":{"hide":["a"],"defaults":{"a":2}}}`, `{\"a\":2}`},
		"another has a name": {`,"toolFilters":["params","look"],"tools":{"params":{"rename":"echo"}}`, "means another tool"},
	} {
		for _, call := range [][2]string{
			{"box__s__echo", `{"a":1}`}, {"workbench_use_tool", `{"toolbox_name":"box","tool_name":"echo","arguments":{"a":1}}`},
		} {
			t.Run(name+", "+call[0], func(t *testing.T) {
				c, register := guard(t, `"always"`, "")
				c.greet(`{}`)
				c.calls(1, call[0], call[1], "")
				waitFor(t, "the question", func() bool { return len(register.List()) == 1 })
				c.front.Reload(readConfig(t, strings.Replace(fmt.Sprintf(guarded, `"always"`, ""), `"approve"`, strings.TrimPrefix(tt.change+`,"approve"`, ","), 1)))
				register.Answer(register.List()[0].ID, true)
				if got := c.hear(`"id":1`); !strings.Contains(got, tt.want) || strings.Contains(got, `"isError":true`) == strings.HasPrefix(tt.want, "{") {
					t.Errorf("got %s, want %s", got, tt.want)
				}
			})
		}
	}
}

// Which calls are asked about is what the configuration says, tool by tool.
func TestApproveRules(t *testing.T) {
	for _, tt := range []struct{ rules, asked, free string }{
		{`"never"`, "", "echo look"},
		{`"writes"`, "echo", "look"},
		{`"always"`, "echo look", ""},
		{`{"look":"always","*":"never"}`, "look", "echo"},
		{`{"ec*":"writes"}`, "echo", "look params"},
		{`{"echo":"never","*":"always"}`, "look params", "echo"},
	} {
		t.Run(tt.rules, func(t *testing.T) {
			c, register := guard(t, tt.rules, "")
			c.greet(`{}`)
			for _, tool := range strings.Fields(tt.free) {
				c.calls(1, "box__s__"+tool, "{}", "")
				if got := c.hear(`"id":1`); strings.Contains(got, "isError") {
					t.Errorf("%s: got %s, want the call", tool, got)
				}
			}
			for _, tool := range strings.Fields(tt.asked) {
				c.calls(2, "box__s__"+tool, "{}", "")
				waitFor(t, "the question about "+tool, func() bool { return len(register.List()) == 1 })
				waiting := register.List()[0]
				if waiting.Name() != "box/s/"+tool || waiting.Client != "c" {
					t.Errorf("got %+v, want the call of %s", waiting, tool)
				}
				if !register.Answer(waiting.ID, true) || register.Answer(waiting.ID, true) {
					t.Error("the call was not answered once")
				}
				if got := c.hear(`"id":2`); strings.Contains(got, "isError") {
					t.Errorf("%s: got %s, want the call", tool, got)
				}
			}
		})
	}
}

// A call waits with progress where the client cannot ask, ends when nobody answers, and is forgotten when it is
// cancelled.
func TestApproveWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		register := approval.New("a-")
		c := talkTo(t, newFrontWith(t, readConfig(t, fmt.Sprintf(guarded, `"always"`, "")), proxy.Options{Approvals: register}))
		c.greet(`{"elicitation":{"url":{}}}`)
		c.calls(1, "box__s__echo", "{}", `,"_meta":{"progressToken":"p"}`)
		c.hear(`"progressToken":"p"`, `"progress":-1,`, "waiting 5m0s", "workbench approve")
		c.hear(`"progress":-0.5,`, "waiting 4m55s")
		time.Sleep(approval.Patience - time.Minute)
		if len(register.List()) != 1 {
			t.Errorf("got %v waiting a minute before the end, want one call", register.List())
		}
		if got := c.hear(`"id":1`); !strings.Contains(got, "nobody approved") || !strings.Contains(got, `"isError":true`) {
			t.Errorf("got %s, want that nobody approved", got)
		}
		c.calls(2, "box__s__echo", "{}", "")
		synctest.Wait()
		if len(register.List()) != 1 {
			t.Fatalf("got %v waiting, want one call", register.List())
		}
		c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		synctest.Wait()
		if len(register.List()) != 0 {
			t.Errorf("got %v waiting after it was cancelled", register.List())
		}
		// The server's own progress is more than that of waiting.
		c.calls(3, "box__s__progress", `{"n":1}`, `,"_meta":{"progressToken":"q"}`)
		synctest.Wait()
		register.Answer(register.List()[0].ID, true)
		c.hear(`"id":3`)
	})
}

// An answer that comes elsewhere takes the question back from the client; a client that fails to ask leaves it to
// others.
func TestApproveElsewhere(t *testing.T) {
	c, register := guard(t, `"always"`, "")
	c.greet(`{"elicitation":{"form":{}}}`)
	c.calls(1, "box__s__echo", "{}", "")
	question := c.hear("elicitation/create")
	register.Answer(register.List()[0].ID, false)
	c.hear(`"id":1`, "refused")
	c.hear("notifications/cancelled", string(field(t, question, "id")))
	c.calls(2, "box__s__echo", `{"b":2}`, "")
	question = c.hear("elicitation/create")
	c.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, field(t, question, "id"))
	register.Answer(register.List()[0].ID, true)
	c.hear(`"id":2`, `{\"b\":2}`)
}

// A client of revision 2026-07-28 is asked in the result, and makes its request again with the answer, which is good
// once and for that request alone.
func TestApproveModern(t *testing.T) {
	c, register := guard(t, `"always"`, "")
	args := `"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"params","arguments":{"x":"first"}}`
	ask := func(id int, args, more string) string {
		c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s%s,%s}}`, id, args, more, meta(""))
		return c.hear(fmt.Sprintf(`"id":%d`, id))
	}
	answer := func(decision, state string) string {
		return fmt.Sprintf(`,"inputResponses":{"approve":{"action":"accept","content":{"decision":%q}}},"requestState":%s`, decision, state)
	}
	first := ask(1, args, "")
	if !strings.Contains(first, `"resultType":"input_required"`) || !strings.Contains(first, `elicitation/create`) || !strings.Contains(first, "box/s/params") {
		t.Fatalf("got %s, want to be asked", first)
	}
	state := string(field(t, first, "result", "requestState"))
	if got := ask(2, strings.Replace(args, "first", "other", 1), answer("run", state)); !strings.Contains(got, "-32602") {
		t.Errorf("another request with the answer: got %s, want -32602", got)
	}
	if got := ask(3, args, `,"requestState":`+state); !strings.Contains(got, "input_required") {
		t.Errorf("without an answer: got %s, want to be asked again", got)
	}
	got := ask(4, args, answer("run", state))
	if !strings.Contains(got, `first`) || strings.Contains(got, "requestState") || strings.Contains(got, "inputResponses") {
		t.Errorf("got %s, want the call without the answer in it", got)
	}
	if got := ask(5, args, answer("run", state)); !strings.Contains(got, "-32602") {
		t.Errorf("the answer a second time: got %s, want -32602", got)
	}
	if got := ask(6, args, answer("run", `"server's own"`)); !strings.Contains(got, "input_required") {
		t.Errorf("a state that is not ours: got %s, want to be asked", got)
	} else if got := ask(7, args, answer("refuse", string(field(t, got, "result", "requestState")))); !strings.Contains(got, "refused") {
		t.Errorf("got %s, want that it was refused", got)
	}
	second := ask(8, args, "")
	register.Answer(register.List()[0].ID, true) // by workbench approve
	if got := ask(9, args, `,"requestState":`+string(field(t, second, "result", "requestState"))); !strings.Contains(got, "first") {
		t.Errorf("agreed to elsewhere: got %s, want the call", got)
	}
	// What the server asks in the midst of a call that was agreed to needs no second consent.
	args = `"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"ask","arguments":{"ask":{"method":"elicitation/create","params":{"message":"?"}}}}`
	third := ask(10, args, "")
	third = ask(11, args, answer("run", string(field(t, third, "result", "requestState"))))
	if !strings.Contains(third, `Server \"s\" of toolbox \"box\" asks`) && !strings.Contains(third, "asks: ?") {
		t.Fatalf("got %s, want the server's question", third)
	}
	if got := ask(12, args, fmt.Sprintf(`,"inputResponses":{"r1":{"action":"accept"}},"requestState":%s`, field(t, third, "result", "requestState"))); !strings.Contains(got, `"resultType":"complete"`) {
		t.Errorf("got %s, want the result", got)
	}
}

// A server of revision 2026-07-28 that wants more input gets it without a second consent; another call with a state of
// its own making does not pass.
func TestApproveModernServer(t *testing.T) {
	c, _ := guard(t, `"always"`, `,"modern"`)
	args := `"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"result","arguments":{"result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"?"}}},"requestState":"of the server"}}}`
	ask := func(id int, more string) string {
		c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s%s,%s}}`, id, args, more, meta(""))
		return c.hear(fmt.Sprintf(`"id":%d`, id))
	}
	first := ask(1, "")
	second := ask(2, fmt.Sprintf(`,"inputResponses":{"approve":{"action":"accept","content":{"decision":"run"}}},"requestState":%s`, field(t, first, "result", "requestState")))
	if !strings.Contains(second, "of the server") {
		t.Fatalf("got %s, want the server's question", second)
	}
	own := `,"inputResponses":{"k":{"action":"accept"}},"requestState":"of the server"`
	if got := ask(3, own); !strings.Contains(got, "of the server") {
		t.Errorf("got %s, want the server to be asked again", got)
	}
	if got := ask(4, own); !strings.Contains(got, "of the server") {
		t.Errorf("got %s, want the server to be asked again", got)
	}
}

// What does not say that it only reads is not offered by a server that is to be read alone.
func TestReadOnly(t *testing.T) {
	c, _ := guard(t, `"never", "readOnly": true`, "")
	c.greet(`{}`)
	c.say(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`)
	if got := c.hear(`"id":"list"`); strings.Contains(got, "echo") {
		t.Errorf("got %s, want no tool that may write", got)
	}
	c.calls(1, "box__s__look", "{}", "")
	if got := c.hear(`"id":1`); strings.Contains(got, "rror") {
		t.Errorf("got %s, want the call", got)
	}
	for i, name := range []string{"box__s__echo", "workbench_use_tool"} {
		c.calls(2+i, name, `{"toolbox_name":"box","tool_name":"echo"}`, "")
		if got := c.hear(fmt.Sprintf(`"id":%d`, 2+i)); !strings.Contains(got, "not found") {
			t.Errorf("%s: got %s, want that there is no such tool", name, got)
		}
	}
}

// A call that starts a server again is not made if the tool is left out by then.
func TestLeftOutWhileStopped(t *testing.T) {
	for tool, arguments := range map[string]string{
		"box__s__look": "{}", "workbench_use_tool": `{"toolbox_name":"box","tool_name":"look"}`,
	} {
		t.Run(tool, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				starts := 0
				cfg := readConfig(t, fmt.Sprintf(guarded, `"never", "readOnly": true, "idleTimeout": "10m"`, ""))
				front, err := proxy.New(cfg, proxy.Options{Version: "test", Toolbox: toolbox.Options{Builtins: map[string]toolbox.Builtin{
					inside: func(_ principal.Principal, s config.Server) (wire.Endpoint, error) {
						if starts++; starts > 1 {
							s.Args[1] = strings.Replace(s.Args[1], "true", "false", 1)
						}
						return mcptest.New(s.Args...)
					},
				}}})
				if err != nil {
					t.Fatal(err)
				}
				c := talkTo(t, front)
				c.greet(`{}`)
				time.Sleep(time.Hour)
				c.calls(1, tool, arguments, "")
				if got := c.hear(`"id":1`); starts != 2 || !strings.Contains(got, `does not offer the tool \"look\"`) {
					t.Errorf("got %s after %d starts, want that the tool is left out", got, starts)
				}
			})
		})
	}
}

// A call that would wait for a person as its session ends waits for nobody, and is not shown as one that does.
func TestApproveAtTheEnd(t *testing.T) {
	for _, era := range []eras.Era{eras.Legacy, eras.Modern} {
		register := approval.New("")
		proxy.ApproveAtTheEnd(register, era)
		if got := register.List(); len(got) > 0 {
			t.Errorf("%s: got %v waiting, want nothing", era, got)
		}
	}
}
