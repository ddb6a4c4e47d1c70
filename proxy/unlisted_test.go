package proxy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/mcptest"
)

// What a client says of resources before the toolboxes are open that open by themselves waits for them, and their
// servers hear it in the order in which it was said. So it is of a full name, which has its toolbox opened.
func TestSubscribeBeforeOpen(t *testing.T) {
	for uri, marked := range map[string]bool{"x:1": true, "workbench://box/a/x:1": false} {
		t.Run(uri, func(t *testing.T) {
			gate := filepath.Join(t.TempDir(), "gate")
			c := dial(t, marked, map[string]*mcptest.Server{"a": {Resources: []string{`{"uri":"x:1","name":"one"}`}, Gate: gate}})
			c.initialize()
			var want []string
			for i := range 20 {
				method := []string{"resources/subscribe", "resources/unsubscribe"}[i%2]
				c.say(`{"jsonrpc":"2.0","id":"s%d","method":%q,"params":{"uri":%q}}`, i, method, uri)
				want = append(want, method)
			}
			if err := os.WriteFile(gate, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if got := c.hear(fmt.Sprintf(`"id":"s%d"`, i)); !strings.Contains(got, want[i]) {
					t.Errorf("got %s, want what the server says", got)
				}
			}
			c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"box__a__heard","arguments":{}}}`)
			var got []string
			for line := range strings.SplitSeq(c.hear(`"id":1`), `\n`) {
				if method, _, found := strings.Cut(line, " "); found && strings.HasPrefix(method, "resources/") {
					got = append(got, method)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("the server heard %q, want %q", got, want)
			}
		})
	}
}

// A modern client may listen to a resource before the toolbox is open that it is in: its server is asked when it is
// there.
func TestListenBeforeOpen(t *testing.T) {
	c := dial(t, false, map[string]*mcptest.Server{"a": {Resources: []string{`{"uri":"x:1","name":"one"}`}}})
	c.say(`{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["x:1"]},%s}}`, meta(""))
	c.hear("subscriptions/acknowledged")
	for i, said := 0, ""; !strings.Contains(said, "resources/subscribe") && !t.Failed(); i++ {
		if i == 10_000 {
			t.Error("the server was not asked")
		}
		c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"heard"},%s}}`, i, meta(""))
		said = c.hear(fmt.Sprintf(`"id":%d,`, i))
	}
}

// Calls that open the toolbox of their tool reach its server in the order in which they were made.
func TestUseInOrder(t *testing.T) {
	for way, call := range map[string]string{
		"through": `"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"echo","arguments":{"text":"c%d","note":true}}`,
		"by name": `"name":"box__a__echo","arguments":{"text":"c%d","note":true}`,
	} {
		t.Run(way, func(t *testing.T) {
			gate := filepath.Join(t.TempDir(), "gate")
			c := dial(t, false, map[string]*mcptest.Server{"a": {Gate: gate}})
			c.initialize()
			for i := range 20 {
				c.say(`{"jsonrpc":"2.0","id":"c%d","method":"tools/call","params":{`+call+`}}`, i, i)
			}
			if err := os.WriteFile(gate, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for i := range 20 {
				c.hear(fmt.Sprintf(`"id":"c%d"`, i))
			}
			c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"box__a__heard","arguments":{}}}`)
			said := c.hear(`"id":1`)
			for i := range 20 {
				_, after, found := strings.Cut(said, fmt.Sprintf(`c%d\`, i))
				if !found {
					t.Fatalf("the server heard %s, want the calls in order", said)
				}
				said = after
			}
		})
	}
}

// Where names are left as they are, who calls a tool whose server is not there is told so, and not only that there is
// no such tool.
func TestBareNameOfAbsentServer(t *testing.T) {
	for direct, box := range map[string]string{"box": "", "": `"open":true,"prefix":"none",`} {
		cfg := readConfig(t, `{"toolboxes":{"box":{`+box+`"mcpServers":{"a":{"command":"inside","args":["no such spec"]},"b":{"command":"inside"}}}}}`)
		l := connect(t, newFront(t, cfg, direct))
		l.initialize("2025-11-25", "{}")
		l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"elsewhere"}}`)
		got := l.reply("1")
		for _, want := range []string{`tool not found: \"elsewhere\"`, `server \"a\" of toolbox \"box\" is not available`, "unknown spec"} {
			if !strings.Contains(got, want) {
				t.Errorf("directly %q: got %s, want it to say %q", direct, got, want)
			}
		}
		l.close()
	}
}

// Names that are told are told so that one sees where they begin and end, and so that calls can be made by them.
func TestNamesThatAreTold(t *testing.T) {
	l := connect(t, newFront(t, readConfig(t, `{"toolboxes":{"box":{"mcpServers":{"a":{"command":"inside","args":["tools=go, go,read_file"]},"b":{"command":"inside","args":["tools=read_file"]}}},
		"other":{"mcpServers":{"far":{"command":"inside"}}}}}`), ""))
	l.initialize("2025-11-25", "{}")
	for i, c := range [][2]string{
		{`{"toolbox_name":"box","tool_name":"zzzzzzzz"}`, `; it has go, \" go\", a/read_file, b/read_file"`},
		{`{"toolbox_name":"box","tool_name":"a/READ_FILE"}`, `; did you mean a/read_file()?"`},
		{`{"toolbox_name":"box","tool_name":"far/go"}`, `tool not found: \"far/go\" in toolbox \"box\"; \"far\" is a server of toolbox \"other\": name that toolbox"`},
		{`{"toolbox_name":"box","server":"far","tool_name":"go"}`, `has no server \"far\"; its servers: a, b; \"far\" is a server of toolbox \"other\""`},
		{`{"tool_name":"far/go"}`, `; \"far\" is a server of toolbox \"other\": name the toolbox; `},
		{`{"toolbox_name":"box","tool_name":"workbench_status"}`, `; it is a tool of workbench itself: call it directly"`},
		{`{"toolbox_name":"box","tool_name":"read_fil"}`, `; did you mean a/read_file(), or b/read_file()?"`},
	} {
		if got := l.use(i+1, c[0]); !strings.Contains(got, c[1]) {
			t.Errorf("%s: got %s, want in it %s", c[0], got, c[1])
		}
	}
}

// Whose tool an exposed name would be is said by the name, with its toolbox beside it or without: no other server is
// waited for, and what is said is about that server.
func TestExposedNameIsOfOneServer(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	l := connect(t, newFront(t, readConfig(t, `{"openTimeout":"1m","toolboxes":{"box":{"mcpServers":{
		"a":{"command":"inside","args":["gate=`+gate+`"]},"b":{"command":"inside","args":["tools=go"]},"c":{"command":"inside","args":["no such spec"]}}}}}`), ""))
	l.initialize("2025-11-25", "{}")
	began := time.Now()
	if got := l.use(1, `{"toolbox_name":"box","tool_name":"box__b__go"}`); strings.Contains(got, "isError") {
		t.Errorf("got %s, want the server's result", got)
	}
	for i, c := range []struct{ name, want, not string }{
		{"box__b__gone", `tool not found: \"box__b__gone\" in server \"b\" of toolbox \"box\"`, `\"c\"`},
		{"box__c__go", `server \"c\" of toolbox \"box\" is not available`, `\"a\"`},
	} {
		got := l.use(i+2, `{"toolbox_name":"box","tool_name":"`+c.name+`"}`)
		if !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
			t.Errorf("%s: got %s, want in it %s and not %s", c.name, got, c.want, c.not)
		}
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v, want no waiting for a server that has not started", took)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Where an exposed name may be that of several servers' tools, each of them is waited for.
func TestExposedNameOfAnyServer(t *testing.T) {
	l := connect(t, newFront(t, readConfig(t, `{"toolboxes":{"box":{"mcpServers":{
		"a":{"command":"inside","args":["tools=x__go"]},"a__x":{"command":"inside","args":["tools=stay"]}}}}}`), ""))
	l.initialize("2025-11-25", "{}")
	if got := l.use(1, `{"toolbox_name":"box","tool_name":"box__a__x__go"}`); strings.Contains(got, "isError") {
		t.Errorf("got %s, want the result of the one server that has it", got)
	}
}

// A call that names a server which is starting waits for it.
func TestCallOfStartingServer(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	l := connect(t, newFront(t, readConfig(t, `{"openTimeout":"1m","toolboxes":{"box":{"mcpServers":{"a":{"command":"inside","args":["tools=go","gate=`+gate+`"]}}}}}`), ""))
	l.initialize("2025-11-25", "{}")
	l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"box"},"_meta":{"progressToken":1}}}`)
	l.method("notifications/progress") // it is starting
	l.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"box__a__go","arguments":{}}}`)
	l.send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	l.reply("3") // what is refused at once comes before it
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := l.reply("2"); strings.Contains(got, "not found") {
		t.Errorf("got %s, want what the tool says", got)
	}
}

// What servers say of their use goes nowhere: a model takes its instructions from workbench alone.
func TestInstructionsOfServers(t *testing.T) {
	front := newFront(t, readConfig(t, `{"toolboxes":{"box":{"mcpServers":{"a":{"command":"inside"}}}}}`), "")
	l := connect(t, front)
	l.initialize("2025-11-25", `{"roots":{"canary":1}}`) // which the server says again in its instructions
	l.openBox("1", "box")
	l.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"box","detail":"schemas"}}}`)
	l.reply("2")
	l.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"workbench_status","arguments":{}}}`)
	l.reply("3")
	l.tools(4)
	if _, srv := front.Host("box", "a"); srv == nil || !strings.Contains(srv.Instructions().String(), "canary") {
		t.Error("the server has no instructions")
	}
	for _, line := range l.close() {
		if strings.Contains(line, "canary") {
			t.Errorf("the client was told %s", line)
		}
	}
}
