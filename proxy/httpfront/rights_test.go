package httpfront_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/proxy/httpfront"
)

// Who may use no toolbox is told that, and not to change a file of somebody else.
func TestFaultU18_NoRights(t *testing.T) {
	w := newWeb(t, oneBox, webOptions{http: httpfront.Options{Token: token, Tokens: newBook()}})
	for _, request := range []string{
		fmt.Sprintf(hello, "2025-11-25"),
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"box"},` + meta(``) + `}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"workbench_status","arguments":{},` + meta(``) + `}}`,
	} {
		headers := []string{bearer("carol-none")}
		if strings.Contains(request, "tools/call") {
			var call struct{ Params struct{ Name string } }
			if err := json.Unmarshal([]byte(request), &call); err != nil {
				t.Fatal(err)
			}
			headers = append(headers, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: "+call.Params.Name)
		}
		resp := w.do(t.Context(), "POST", "/mcp", request, headers...)
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if text := string(body); err != nil || !strings.Contains(text, "No toolbox is available to you") || strings.Contains(text, "workbench-config") {
			t.Errorf("%.60s: got %d %s, %v", request, resp.StatusCode, text, err)
		}
	}
}

// A full name opens a toolbox for those who may use it. For others it is as one of a toolbox that there is not.
func TestFullNamesAreForThoseWhoMay(t *testing.T) {
	w := newWeb(t, `{"toolboxes":{"box":{"mcpServers":{"a":{"command":"inside","args":["tools=read"]}}},
		"ours":{"mcpServers":{"a":{"command":"inside","args":["tools=read"]}}}}}`, webOptions{http: httpfront.Options{Token: token, Tokens: newBook()}})
	call := func(who, name string) string {
		_, body := w.status("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":{},`+meta(``)+`}}`,
			bearer(who), "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: "+name)
		return strings.ReplaceAll(body, name, "NAME")
	}
	const opens = "read was called"
	if got := call("alice-box", "box__a__read"); !strings.Contains(got, opens) {
		t.Errorf("got %s, want %q", got, opens)
	}
	if got, want := call("alice-box", "ours__a__read"), call("alice-box", "none__a__read"); got != want || !strings.Contains(got, "not found") {
		t.Errorf("got %s, want the same as for no toolbox: %s", got, want)
	}
	if got := call(token, "ours__a__read"); !strings.Contains(got, opens) {
		t.Errorf("got %s, want %q", got, opens)
	}
}

// A server that is shared is restarted by those who may act for others, and whoever else has it open is told so.
func TestRestartOfASharedServer(t *testing.T) {
	t.Parallel()
	w := newWeb(t, oneShared, webOptions{})
	w.modern(1, "dev__s__echo", `{}`, "").want(`"id":1`)
	for _, tt := range []struct {
		who   principal.Principal
		found bool
		want  string // a piece of the error, "" for none
	}{
		{principal.Principal{Name: "ada", Toolboxes: []string{"dev"}}, false, "dev/s is shared by all users, and only those with admin rights may restart it"},
		{principal.Principal{Name: "eve", Toolboxes: []string{"other"}}, false, ""},
		{principal.Principal{Name: "root", Admin: true}, true, ""},
	} {
		found, err := w.proxy.Restart(tt.who, "dev", "s")
		if found != tt.found || (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v and %v, want %v and %q", tt.who.Name, found, err, tt.found, tt.want)
		}
	}
}
