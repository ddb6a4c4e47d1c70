package workflowsrv_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// sized needs a variable that no step finds out.
const sized = `{"id":"sized","name":"Sized","description":"Does it.","version":"1.0.0","steps":[
{"id":"one","title":"One","prompt":"p"},{"id":"two","title":"Two","prompt":"p","runCondition":{"var":"size","gt":3}}]}`

// change waits for what a server tells of a change.
func (p *peerClient) change(want string) string {
	p.t.Helper()
	for {
		select {
		case got := <-p.changes:
			if strings.Contains(got, want) {
				return got
			}
		case <-time.After(2 * time.Minute):
			p.t.Fatalf("heard of no change %s", want)
		}
	}
}

// A workflow is a prompt, with the goal and what it needs to know as its arguments; a file that is written makes
// another.
func TestPrompts(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sized.json"), []byte(sized), 0o644); err != nil {
		t.Fatal(err)
	}
	p := greeted(t, workflowsrv.New(workflowsrv.Options{Sources: definition.Layers{Dirs: []string{dir}}.Sources()}))
	const list = `{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`
	if got, want := p.ask(list), `{"prompts":[{"name":"sized","title":"Sized","description":"Does it.","arguments":[`+
		`{"name":"goal","description":"What it is to achieve this time"},{"name":"size","description":"Tested for: \u003e 3"}]}]}`; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, tt := range []struct{ params, want string }{
		{`{"name":"sized","arguments":{"goal":"the \"shop\"","size":"5"}}`, `workflow_start {\"workflowId\":\"sized\",\"goal\":\"the \\\"shop\\\"\",\"context\":{\"size\":5}}`},
		{`{"name":"sized"}`, `\"goal\":\"…\"}. Do what its answer says`},
		{`{"name":"sizes"}`, `did you mean \"sized\"`},
		{`{"name":"sized","arguments":{"sise":"5"}}`, `"code":-32602`},
		{`{"name":7}`, `"code":-32602`},
		{`{}`, `"code":-32602`},
	} {
		if got := p.ask(`{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":` + tt.params + `}`); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, want %s", tt.params, got, tt.want)
		}
	}
	m := connect(t, workflowsrv.New(workflowsrv.Options{Sources: definition.Layers{Dirs: []string{dir}}.Sources()}))
	if got := m.ask(`{"jsonrpc":"2.0","id":3,"method":"subscriptions/listen","params":{"notifications":{"promptsListChanged":true,"toolsListChanged":true},` + modernMeta + `}}`); !strings.Contains(got, `"notifications":{"promptsListChanged":true}`) {
		t.Errorf("got %s, want changes of prompts agreed to", got)
	}
	if got := m.ask(`{"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{` + modernMeta + `}}`); !strings.Contains(got, `"ttlMs":0,"cacheScope":"private"`) {
		t.Errorf("got %s, want a list of the modern era", got)
	}
	if err := openfile.Replace(filepath.Join(dir, "long.json"), []byte(long)); err != nil { // never seen half written
		t.Fatal(err)
	}
	for _, c := range []*peerClient{p, m} {
		c.change(`"notifications/prompts/list_changed"`)
	}
	if got := p.ask(list); !strings.Contains(got, `"name":"long-one"`) {
		t.Errorf("got %s, want both prompts", got)
	}
}

// A run is a resource of its user, of whose changes clients of both eras hear, also of those that another process
// makes.
func TestRunResources(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	files := map[string]string{"s.json": sized}
	server := keeping(t, path, files)
	c := &runClient{peerClient: greeted(t, server)}
	m := connect(t, server)
	m.ask(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourcesListChanged":true},` + modernMeta + `}}`)
	run := c.call("workflow_start", map[string]any{"workflowId": "sized", "goal": "mend <it>"}).data.Run
	c.change(`"notifications/resources/list_changed"`)
	m.change(`"notifications/resources/list_changed"`)

	list := c.ask(`{"jsonrpc":"2.0","id":2,"method":"resources/list"}`)
	if want := `"uri":"workbench://runs/` + run + `","name":"` + run + `","title":"Sized, open at one"`; !strings.Contains(list, want) {
		t.Errorf("got %s, want %s", list, want)
	}
	uri := fmt.Sprintf(`"uri":"workbench://runs/%s"`, run)
	read := func(p *peerClient, more string) string {
		return p.ask(`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{` + uri + more + `}}`)
	}
	var got struct {
		Result struct {
			Contents []struct{ URI, MimeType, Text string }
		}
	}
	var shown runs.Shown
	if err := json.Unmarshal([]byte(read(c.peerClient, "")), &got); err != nil || len(got.Result.Contents) != 1 {
		t.Fatalf("got %+v and %v, want one content", got, err)
	}
	if err := json.Unmarshal([]byte(got.Result.Contents[0].Text), &shown); err != nil || shown.Goal != "mend <it>" || shown.Step != "one" || len(shown.Events) != 1 {
		t.Errorf("got %+v and %v, want the run with its event", shown, err)
	}

	// Of a run of somebody else nobody hears, and it is not there.
	other := connect(t, server.For(principal.Principal{Name: "eve"}, nil))
	other.ask(handshake)
	for _, p := range []struct {
		*peerClient
		more, code string
	}{{other, "", `"code":-32002`}, {connect(t, server.For(principal.Principal{Name: "eve"}, nil)), "," + modernMeta, `"code":-32602`}} {
		if got := read(p.peerClient, p.more); !strings.Contains(got, p.code) || strings.Contains(got, "mend") {
			t.Errorf("got %s, want %s", got, p.code)
		}
	}
	if got := other.ask(`{"jsonrpc":"2.0","id":2,"method":"resources/list"}`); strings.Contains(got, "workbench://runs/") {
		t.Errorf("got %s, want no runs", got)
	}
	for _, bad := range []string{`{"uri":"workbench://runs/"}`, `{"uri":"file:///etc/passwd"}`, `{"uri":7}`, `{}`} {
		if got := c.ask(`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":` + bad + `}`); !strings.Contains(got, `"error"`) {
			t.Errorf("%s: got %s, want an error", bad, got)
		}
	}

	subscribe := `{"jsonrpc":"2.0","id":5,"method":"resources/subscribe","params":{` + uri + `}}`
	if got := c.ask(subscribe); !strings.Contains(got, `"result":{}`) {
		t.Fatalf("got %s, want to be subscribed", got)
	}
	other.ask(subscribe)
	if got := m.ask(`{"jsonrpc":"2.0","id":6,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["workbench://runs/` + run + `"]},` + modernMeta + `}}`); !strings.Contains(got, run) {
		t.Fatalf("got %s, want the run agreed to", got)
	}
	c.call("workflow_next", map[string]any{"run": run, "step": "one", "notes": "done"})
	c.change(uri)
	if got := m.change(uri); !strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":6`) {
		t.Errorf("got %s, want the subscription named", got)
	}
	second := &runClient{peerClient: greeted(t, keeping(t, path, files))} // as in another process
	second.call("workflow_next", map[string]any{"run": run, "context": map[string]any{"size": 5}})
	c.change(uri)
	m.change(uri)
	if len(other.changes) > 0 {
		t.Errorf("got %s, want nothing told of a run of somebody else", <-other.changes)
	}
	c.ask(strings.Replace(subscribe, "subscribe", "unsubscribe", 1))
}
