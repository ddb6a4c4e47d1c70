package httpfront_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

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
