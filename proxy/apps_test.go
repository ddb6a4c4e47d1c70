package proxy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// appServer is the entry of a server with a page, the tool that shows it, and tools that the page calls. Its
// definitions have what is not to be touched.
func appServer(name, page string, listed bool) string {
	show := `{"x":1.0,"name":"show","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"` + page + `","visibility":["model","app"]},"z":1e400}}`
	args := []string{"name=" + name, "tool=" + show,
		`tool={"name":"refresh","inputSchema":{"type":"object"},"_meta":{"ui":{"visibility":["app"]}}}`,
		`tool={"name":"refresh_` + name + `","inputSchema":{"type":"object"}}`,
		`tool={"name":"result","inputSchema":{"type":"object"}}`}
	if listed {
		args = append(args, "resources="+page)
	} else {
		args = append(args, "resources=other:"+name)
	}
	text, _ := json.Marshal(args)
	return fmt.Sprintf(`%q:{"command":"inside","args":%s}`, name, text)
}

// uisOf gives the pages of the tools that are listed, by the names of the tools.
func (k *tasker) uisOf() map[string]string {
	k.t.Helper()
	var reply struct {
		Result struct {
			Tools []struct {
				Name string
				Meta struct {
					UI struct{ ResourceURI string }
				} `json:"_meta"`
			}
		}
	}
	if err := json.Unmarshal([]byte(k.ask("tools/list", `"x":1`)), &reply); err != nil {
		k.t.Fatal(err)
	}
	uis := make(map[string]string)
	for _, t := range reply.Result.Tools {
		if t.Meta.UI.ResourceURI != "" {
			uis[t.Name] = t.Meta.UI.ResourceURI
		}
	}
	return uis
}

// Servers whose pages have the same uri each have their own shown, listed or not, and a page's calls reach its server.
func TestFaultA1_PagesOfTheSameURI(t *testing.T) {
	for name, listed := range map[string]bool{"listed": true, "not listed": false} {
		t.Run(name, func(t *testing.T) {
			const page = "ui://app/view.html"
			k := newTasker(t, `{"toolboxes":{"dev":{"open":true,"mcpServers":{`+appServer("one", page, listed)+","+
				appServer("two", page, listed)+","+appServer("lone", "ui://lone/p.html", listed)+`}}}}`)
			uis := k.uisOf()
			one, two := uis["dev__one__show"], uis["dev__two__show"]
			if one == two || !strings.HasPrefix(one, "ui://wb-") || !strings.HasSuffix(two, "/app/view.html") {
				t.Errorf("got pages %q and %q, want them told apart by their authority", one, two)
			}
			if got := uis["dev__lone__show"]; got != "ui://lone/p.html" {
				t.Errorf("a page that no other server has: got %q, want it as it is", got)
			}
			// Nothing else of a definition is touched.
			k.wants(k.ask("tools/list", `"x":1`), `{"x":1.0,"name":"dev__two__show","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"`+two+
				`","visibility":["model","app"]},"z":1e400}}`)
			for server, uri := range map[string]string{"one": one, "two": two, "lone": "ui://lone/p.html"} {
				own := page
				if server == "lone" {
					own = uri
				}
				k.wants(k.ask("resources/read", `"uri":"`+uri+`"`), `"by":"`+server+`"`, `"uri":"`+own+`"`)
				k.wants(k.ask("tools/call", `"name":"refresh_`+server+`","arguments":{"a":1.0}`), server+"'s refresh_"+server+` was called with {\"a\":1.0}`)
			}
			if listed {
				k.wants(k.ask("resources/list", `"x":1`), `"uri":"`+one+`"`, `"uri":"`+two+`"`)
			}
			// Whose app calls cannot be seen: what several have is nobody's.
			k.wants(k.ask("tools/call", `"name":"refresh","arguments":{}`), `"code":-32602`, "dev__one__refresh", "dev__two__refresh")
			// A result that names a page names the one of its server, and nothing else is touched.
			k.wants(k.result("two", `{"_meta":{"ui":{"resourceUri":"`+page+`","z":1.0}},"content":[{"type":"text","text":"ui://app/view.html"}]}`, ""),
				`{"_meta":{"ui":{"resourceUri":"`+two+`","z":1.0}},"content":[{"type":"text","text":"ui://app/view.html"}]}`)
			// A page may be named in a result alone.
			reply := k.result("two", `{"_meta":{"ui":{"resourceUri":"ui://app/other.html"}},"content":[]}`, "")
			k.wants(reply, "/app/other.html")
			uri := reply[strings.Index(reply, "ui://"):]
			k.wants(k.ask("resources/read", `"uri":"`+uri[:strings.IndexByte(uri, '"')]+`"`), `"by":"two"`, `"uri":"ui://app/other.html"`)
			k.wants(k.ask("resources/read", `"uri":"`+page+`"`), "several servers may have it")
			k.wants(k.ask("resources/read", `"uri":"ui://wb-0123456789abcdef/app/view.html"`), `"error"`)
		})
	}
}

// A page keeps its uri for as long as it is the only one, also when another server that has the same comes later.
func TestPageKeepsItsURI(t *testing.T) {
	t.Parallel()
	const page = "ui://app/view.html"
	k := newTasker(t, `{"toolboxes":{"dev":{"open":true,"mcpServers":{`+appServer("one", page, true)+`}},"later":{"mcpServers":{`+appServer("two", page, true)+`}}}}`)
	if got := k.uisOf()["dev__one__show"]; got != page {
		t.Errorf("got page %q, want %q", got, page)
	}
	k.wants(k.ask("tools/call", `"name":"refresh","arguments":{}`), "one's refresh was called")
	k.wants(k.ask("tools/call", `"name":"workbench_open_toolbox","arguments":{"toolbox_name":"later"}`), `"result"`)
	uis := k.uisOf()
	if one, two := uis["dev__one__show"], uis["later__two__show"]; one != page || !strings.HasPrefix(two, "ui://wb-") {
		t.Errorf("got pages %q and %q, want the first as it was", one, two)
	}
	k.wants(k.ask("tools/call", `"name":"refresh","arguments":{}`), `"code":-32602`, "dev__one__refresh", "later__two__refresh")
	// A page that the client has not read calls nothing.
	k.wants(k.ask("resources/read", `"uri":"`+page+`"`), `"by":"one"`)
	k.wants(k.ask("tools/call", `"name":"refresh","arguments":{}`), "one's refresh was called")
	k.wants(k.ask("resources/read", `"uri":"`+uis["later__two__show"]+`"`), `"by":"two"`)
	k.wants(k.ask("tools/call", `"name":"refresh","arguments":{}`), `"code":-32602`, "dev__one__refresh", "later__two__refresh")
}
