package proxy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcp-workbench/workbench/config"
)

// shelf is a configuration with one toolbox, dev, of servers with so many tools each, whose definitions have some
// thousand bytes, as those of many servers have, unless there are very many.
func shelf(t *testing.T, budget int, tools ...int) *config.Config {
	t.Helper()
	servers := ""
	for i, n := range tools {
		var specs []string
		long := 150 / (1 + n/300)
		for j := range n {
			def := fmt.Sprintf(`{"name":"tool_%d","description":"Finds what number %d is about. %s","inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"%s"},"limit":{"type":"integer","default":10}},"required":["path"]}}`,
				j, j, strings.Repeat("More of it. ", long), strings.Repeat("Where. ", long))
			specs = append(specs, "tool="+def)
		}
		servers += fmt.Sprintf(`,"s%d":{"command":"inside","args":%s}`, i, marshal(t, specs))
	}
	return readConfig(t, fmt.Sprintf(`{"openBudget":%d,"toolboxes":{"dev":{"description":"Development","mcpServers":{%s}}}}`, budget, strings.TrimPrefix(servers, ",")))
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// openedResult is the result of an open as clients read it.
type openedResult struct {
	Content    []struct{ Text string }
	IsError    bool
	Structured struct {
		HowToCall string   `json:"how_to_call"`
		NotFound  []string `json:"not_found"`
		Servers   []struct {
			Name  string
			Tools int
			Names []string `json:"tool_names"`
		}
		Tools []struct {
			Name, Server, Signature, Summary string
			InputSchema                      json.RawMessage
		}
	} `json:"structuredContent"`
	size int // of the structured content
}

// openWith opens dev with more arguments, as a client of either era.
func openWith(t *testing.T, l *line, modern bool, id, more string) (r openedResult) {
	t.Helper()
	meta := ""
	if modern {
		meta = "," + modernMembers
	}
	l.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"dev"` + more + `}` + meta + `}}`)
	var reply struct{ Result json.RawMessage }
	if err := json.Unmarshal([]byte(l.reply(id)), &reply); err != nil {
		t.Fatal(err)
	}
	var whole struct{ StructuredContent json.RawMessage }
	for _, to := range []any{&r, &whole} {
		if err := json.Unmarshal(reply.Result, to); err != nil {
			t.Fatalf("%v: %s", err, reply.Result)
		}
	}
	r.size = len(whole.StructuredContent)
	return r
}

// eachEra runs a test with a client of either era, in front of a configuration.
func eachEra(t *testing.T, cfg *config.Config, test func(t *testing.T, l *line, modern bool)) {
	t.Helper()
	for name, modern := range map[string]bool{"legacy": false, "modern": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := connect(t, newFront(t, cfg, ""))
				if !modern {
					l.initialize("2025-11-25", "{}")
				}
				test(t, l, modern)
				l.close()
			})
		})
	}
}

// The result of an open has room in a model's window: it says as much of each tool as its budget allows, in many lines,
// and in structured content the same.
func TestFaultH1_OpenFitsItsBudget(t *testing.T) {
	for _, c := range []struct {
		name   string
		budget int
		tools  []int
		want   []string // what the text has in it
		not    []string
		signed int // tools whose parameters are told
		named  int // tools of which the name alone is told
	}{
		{"few", 20000, []int{2}, []string{"tool_1(path: string, limit?: integer = 10)\n  {\"description\":\"Finds"}, []string{"To see more"}, 0, 0},
		{"48 tools of five servers", 2000, []int{10, 10, 10, 10, 8}, []string{"To see more", "\ntool_7(path: string, limit?: integer = 10)", "\ns4, tools: 8\n"}, nil, 48, 0},
		{"sentences where they fit", 2000, []int{20}, []string{"\ntool_19(path: string, limit?: integer = 10) – Finds what number 19 is about\n"}, nil, 20, 0},
		{"many tools", 2000, []int{3, 200}, []string{"\ntool_2(path: string, limit?: integer = 10) – Finds what number 2 is about\n", "\ns1, tools: 200 (names alone)\ntool_0\n"}, nil, 3, 200},
		{"more tools than names fit", 2000, []int{3, 1000}, []string{"\ntool_2(path: string", "\ns1, tools: 1000 (too many to name here)"}, nil, 3, 0},
		{"a small budget", 140, []int{3, 3}, []string{"\ns0, tools: 3"}, []string{"path"}, 0, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachEra(t, shelf(t, c.budget, c.tools...), func(t *testing.T, l *line, modern bool) {
				r := openWith(t, l, modern, "1", "")
				text, budget := r.Content[0].Text+"\n", c.budget*4
				if len(text) > budget || r.size > budget*3/2 {
					t.Errorf("got %d bytes of text and %d of structured content, want at most %d and half as much again", len(text), r.size, budget)
				}
				for _, piece := range c.want {
					if !strings.Contains(text, piece) {
						t.Errorf("got\n%s\nwant in it %q", text, piece)
					}
				}
				for _, piece := range c.not {
					if strings.Contains(text, piece) {
						t.Errorf("got\n%s\nwant no %q in it", text, piece)
					}
				}
				signed, named := 0, 0
				for _, tool := range r.Structured.Tools {
					if tool.Signature != "" {
						signed++
						if !strings.Contains(text, "\n"+tool.Name+tool.Signature) {
							t.Errorf("the text has no %s%s", tool.Name, tool.Signature)
						}
					}
				}
				for _, srv := range r.Structured.Servers {
					named += len(srv.Names)
				}
				if signed != c.signed || named != c.named {
					t.Errorf("got %d tools with parameters and %d by name, want %d and %d", signed, named, c.signed, c.named)
				}
				if first := strings.Split(text, "\n")[1]; first != r.Structured.HowToCall {
					t.Errorf("got second line %q, want how to call", first)
				}
			})
		})
	}
}

// What an open has not told, it tells when it is asked.
func TestFaultH1_OpenTellsMore(t *testing.T) {
	eachEra(t, shelf(t, 2000, 3, 1000, 1), func(t *testing.T, l *line, modern bool) {
		for i, c := range []struct {
			more   string
			want   string
			tools  int
			schema bool
			names  int
			missed []string
		}{
			{`,"tools":["tool_999"]`, "\ns1, tools: 1 of 1000\ntool_999(path: string, limit?: integer = 10)\n  {\"description\"", 1, true, 0, nil},
			{`,"tools":["s1/tool_7"]`, "tool_7(", 1, true, 0, nil},
			{`,"tools":["dev__s1__tool_8"]`, "tool_8(", 1, true, 0, nil},
			{`,"tools":["dev/s1/tool_9"]`, "tool_9(", 1, true, 0, nil},
			{`,"tools":["s1/tool_1","TOOL_2","no/s1/tool_3"]`, "\n- no tool is \"TOOL_2\" or \"no/s1/tool_3\"; did you mean \"tool_2\", or \"tool_3\"?\n", 1, true, 0, []string{"TOOL_2", "no/s1/tool_3"}},
			{`,"tools":"s0"`, "\ns0, tools: 3\ntool_0(path", 3, false, 0, nil},
			{`,"tools":["s1/tool_2*"]`, "\ns1, tools: 111 of 1000 (names alone)\ntool_2\n", 0, false, 111, nil},
			{`,"tools":["*_0"],"detail":"signatures"`, "tool_0(path: string, limit?: integer = 10) – Finds", 3, false, 0, nil},
			{`,"tools":["s0"],"detail":"schemas"`, "tool_0(path: string, limit?: integer = 10)\n  {\"desc", 3, true, 0, nil},
			{`,"detail":"names"`, "\ns1, tools: 1000 (names alone)\ntool_0\n", 0, false, 1004, nil},
			{`,"tools":["s2","none","x*"]`, "- no tool is \"none\" or \"x*\"", 1, true, 0, []string{"none", "x*"}},
		} {
			r := openWith(t, l, modern, fmt.Sprint(i), c.more)
			if text := r.Content[0].Text; !strings.Contains(text, c.want) {
				t.Errorf("%s: got\n%.3000s\nwant in it %q", c.more, text, c.want)
			}
			names := 0
			for _, srv := range r.Structured.Servers {
				names += len(srv.Names)
			}
			if len(r.Structured.Tools) != c.tools || names != c.names || !slices.Equal(r.Structured.NotFound, c.missed) {
				t.Errorf("%s: got %d tools, %d names, %q not found, want %d, %d, %q", c.more, len(r.Structured.Tools), names, r.Structured.NotFound, c.tools, c.names, c.missed)
			}
			for _, tool := range r.Structured.Tools {
				if (tool.InputSchema != nil) != c.schema {
					t.Errorf("%s: got schema %s, want one: %v", c.more, tool.InputSchema, c.schema)
				}
			}
		}
		for i, more := range []string{`,"detail":"all"`, `,"detail":7`, `,"tools":[7]`, `,"tools":{}`, `,"tools":["` + strings.Repeat(`x","`, 100) + `"]`} {
			if r := openWith(t, l, modern, fmt.Sprint(100+i), more); !r.IsError {
				t.Errorf("%s: got %s, want an error", more, r.Content[0].Text)
			}
		}
	})
}

// What workbench says of itself names the toolboxes, for clients that show that and not the instructions.
func TestFaultH5_TitleNamesTheToolboxes(t *testing.T) {
	const dev = `"dev": {"description": "Development tools", "mcpServers": {}}`
	for _, c := range []struct{ name, toolboxes, direct, title, description string }{
		{"two", dev + `, "web": {"mcpServers": {}}`, "", "Workbench: dev, web", "Toolboxes: dev (Development tools), web"},
		{"one of two", `"web": {"mcpServers": {}}, ` + dev, "dev", "Workbench: dev", "Toolboxes: dev (Development tools)"},
		{"none", ``, "", "Workbench", "No toolboxes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := connect(t, newFront(t, readConfig(t, `{"toolboxes": {`+c.toolboxes+`}}`), c.direct))
			l.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modernMembers + `}}`)
			l.send(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
			for _, id := range []string{"1", "2"} {
				var info struct{ Title, Description string }
				var result struct {
					ServerInfo json.RawMessage
					Meta       map[string]json.RawMessage `json:"_meta"`
				}
				l.result(id, &result)
				raw := result.ServerInfo
				if raw == nil {
					raw = result.Meta["io.modelcontextprotocol/serverInfo"]
				}
				if err := json.Unmarshal(raw, &info); err != nil {
					t.Fatal(err)
				}
				if info.Title != c.title || info.Description != c.description {
					t.Errorf("got title %q and description %q, want %q and %q", info.Title, info.Description, c.title, c.description)
				}
			}
			l.close()
		})
	}
}

// An open never changes the list of a modern client, as the documentation says, and what it opened can be called all
// the same.
func TestFaultH6_ListOfAModernClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := connect(t, newFront(t, shelf(t, 2000, 3), ""))
		list := func(id string) string {
			l.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/list","params":{` + modernMembers + `}}`)
			return strings.TrimPrefix(l.reply(id), `{"jsonrpc":"2.0","id":`+id)
		}
		before := list("1")
		r := openWith(t, l, true, "2", "")
		if after := list("3"); after != before {
			t.Errorf("got the list %s, before the open %s", after, before)
		}
		if how := r.Structured.HowToCall; !strings.Contains(how, "workbench_use_tool") || strings.Contains(how, "your list") {
			t.Errorf("got how to call %q, want workbench_use_tool alone", how)
		}
		l.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"tool_2","arguments":{"path":"x"}},` + modernMembers + `}}`)
		if got := l.reply("4"); !strings.Contains(got, "tool_2 was called with") {
			t.Errorf("got %s, want the answer of tool_2", got)
		}
		l.close()
	})
}
