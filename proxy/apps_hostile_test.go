package proxy_test

import (
	"strings"
	"testing"
)

// Whatever uri a server gives its page, what the client is shown for it leads to that server or nowhere, and never
// takes the place of another's.
func TestHostilePages(t *testing.T) {
	const page = "ui://app/view.html"
	first := newTasker(t, `{"toolboxes":{"dev":{"open":true,"mcpServers":{`+appServer("one", page, true)+","+appServer("two", page, true)+`}}}}`)
	marked := first.uisOf()["dev__one__show"]
	for name, uri := range map[string]string{
		"long": "ui://app/" + strings.Repeat("x", 60_000), "no authority": "ui:///view.html", "nothing": "ui://", "userinfo": "ui://one@app/view.html",
		"percent": "ui://app/%76iew.html", "dots": "ui://app/../app/view.html", "case": "UI://app/view.html", "authority's case": "ui://APP/view.html",
		"another's mark": marked, "another's mark in another case": strings.Replace(marked, "ui://wb-", "UI://WB-", 1), "an alias": "workbench://dev/one/" + page, "equal": page,
	} {
		for _, listed := range []bool{true, false} {
			k := newTasker(t, `{"toolboxes":{"dev":{"open":true,"mcpServers":{`+appServer("one", page, true)+","+appServer("evil", uri, listed)+`}}}}`)
			uis := k.uisOf()
			one, evil := uis["dev__one__show"], uis["dev__evil__show"]
			k.wants(k.ask("resources/read", `"uri":"`+one+`"`), `"by":"one"`)
			if got := k.ask("resources/read", `"uri":"`+evil+`"`); strings.Contains(got, `"by":"one"`) && evil != "" {
				t.Errorf("%s, listed %t: %.200s leads to the other server", name, listed, evil)
			}
			k.wants(k.ask("tools/call", `"name":"refresh_one","arguments":{}`), "one's refresh_one was called")
		}
	}
}
