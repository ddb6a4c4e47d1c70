package mcpserve_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/mcp-workbench/workbench/internal/mcpserve"
)

// rooted begins a session with a server that is told where its clients work, and says so in its answers.
func rooted(t *testing.T, capabilities string) (p *peer, moved chan string) {
	t.Helper()
	moved = make(chan string, 10)
	return greet(t, capabilities, &mcpserve.Server{
		Name: "test", Version: "1", Engine: mcpserver.NewMCPServer("test", "1"), Knows: func(string) bool { return true },
		Moved: func(folders []string) { moved <- fmt.Sprintf("%q", folders) },
		Call: func(_ context.Context, c mcpserve.Call) mcpserve.Result {
			if c.Answer == nil && strings.Contains(string(c.Arguments), "ask") {
				return mcpserve.Result{Question: &mcpserve.Question{Message: "?", Form: []byte(`{}`), State: "the state"}}
			}
			state := ""
			if c.Answer != nil {
				state = c.Answer.State
			}
			return answer(fmt.Sprintf("in %q with %q", c.Folders, state))
		},
	}), moved
}

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// quoted is a folder of Windows, too, as a text in a text of JSON has it.
func quoted(folder string) string { return strings.ReplaceAll(folder, `\`, `\\\\`) }

// A legacy client is asked where it works when the session begins and when it says that this has changed, and a call
// waits for that. What is no folder of this machine does not count.
func TestFolders(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	path := func(folder string) string { return "/" + strings.TrimPrefix(filepath.ToSlash(folder), "/") } // also of C:\
	p, moved := rooted(t, `{"roots":{"listChanged":true}}`)
	p.say(initialized)
	p.hear(`{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{}}`)
	p.say(fmt.Sprintf(call, 1, ""))
	p.hear(`"id":2,"method":"roots/list"`) // with the call, whose answers may get through where others do not
	p.say(`{"jsonrpc":"2.0","id":2,"result":{"roots":[{"uri":"file://` + path(here) + `/"},{"uri":"https://example.com/x"},` +
		`{"uri":"file://other/share"},{"uri":"file:////other/share"},{"uri":"file:relative"},{"uri":"file:///a%00b"},{"uri":7}]}}`)
	p.hear(`in []`) // one root is not well-formed, so none counts
	p.say(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	both := p.hear("") + p.hear("") // in any order
	for _, want := range []string{`"method":"notifications/cancelled","params":{"requestId":1}`, `"id":3,"method":"roots/list"`} {
		if !strings.Contains(both, want) {
			t.Errorf("got %s, want %s in it", both, want)
		}
	}
	p.say(`{"jsonrpc":"2.0","id":3,"result":{"roots":[{"uri":"file://` + path(here) + `/"},{"uri":"https://example.com/x"},` +
		`{"uri":"file://other/share"},{"uri":"file:////other/share"},{"uri":"file:relative"},{"uri":"file:///a%00b"},{"uri":"file://` + path(here) + `"},` +
		`{"uri":"file://localhost` + path(there) + `%20b"}]}}`)
	want := fmt.Sprintf("%q", []string{here, there + " b"})
	if got := <-moved; got != want {
		t.Errorf("moved to %s, want %s", got, want)
	}
	p.say(fmt.Sprintf(call, 2, ""))
	p.hear(`in [\"` + quoted(here))
	p.say(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	p.hear(`"id":4,"method":"roots/list"`)
	p.say(`{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"Method not found"}}`)
	if got := <-moved; got != "[]" {
		t.Errorf("moved to %s, want nowhere", got)
	}
	p.say(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	p.hear(`"id":5,"method":"roots/list"`)
	if err := p.session.Close(t.Context()); err != nil { // with a question that is not answered
		t.Error(err)
	}

	p, _ = rooted(t, `{}`)
	p.say(initialized)
	p.say(fmt.Sprintf(call, 1, ""))
	p.hear(`in []`)
	if err := p.session.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A server that takes long over the folders of before hears of the present ones after that.
func TestFoldersInTheirOrder(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	uri := func(folder string) string {
		return "file:///" + strings.TrimPrefix(filepath.ToSlash(folder), "/")
	}
	var mu sync.Mutex
	last, begun, overtaken, told := "", make(chan struct{}), make(chan struct{}), make(chan struct{}, 2)
	p := greet(t, `{"roots":{"listChanged":true}}`, &mcpserve.Server{
		Name: "test", Version: "1", Engine: mcpserver.NewMCPServer("test", "1"),
		Moved: func(folders []string) {
			if slices.Equal(folders, []string{here}) {
				close(begun)
				select {
				case <-overtaken:
				case <-time.After(200 * time.Millisecond):
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if last = fmt.Sprintf("%q", folders); slices.Equal(folders, []string{there}) {
				close(overtaken)
			}
			told <- struct{}{}
		},
	})
	for id, folder := range []string{here, there} {
		notification := initialized
		if id > 0 {
			notification = `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`
		}
		p.say(notification)
		p.hear(fmt.Sprintf(`"id":%d,"method":"roots/list"`, id+1))
		p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"roots":[{"uri":"%s"}]}}`, id+1, uri(folder)))
		if id == 0 {
			<-begun
		}
	}
	<-told
	<-told
	mu.Lock()
	defer mu.Unlock()
	if want := fmt.Sprintf("%q", []string{there}); last != want {
		t.Errorf("the server was told last of %s, want %s", last, want)
	}
	if err := p.session.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// One call waits for a client that does not say where it works, and no other.
func TestFoldersUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := rooted(t, `{"roots":{}}`)
		p.say(fmt.Sprintf(call, 1, ""))
		p.hear(`"method":"roots/list"`)
		p.hear(`"method":"notifications/cancelled"`)
		p.hear(`in []`)
		p.say(fmt.Sprintf(call, 2, ""))
		p.hear(`in []`)
		if err := p.session.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A modern client is asked in the result of each call, and says with the answer to a later question where it works.
func TestFoldersModern(t *testing.T) {
	dir := t.TempDir()
	p, _ := rooted(t, `{}`)
	say := func(id int, arguments, more string) {
		p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"do","arguments":%s%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"roots":{},"elicitation":{}}}}}`, id, arguments, more))
	}
	say(1, `{}`, "")
	p.hear(`{"resultType":"input_required","inputRequests":{"roots":{"method":"roots/list"}},`)
	said := `,"inputResponses":{"roots":{"roots":[{"uri":"file:///` + strings.TrimPrefix(filepath.ToSlash(dir), "/") + `"}]}}`
	say(2, `{}`, said)
	p.hear(`in [\"` + quoted(dir))
	say(3, `{"a":"ask"}`, said)
	_, rest, _ := strings.Cut(p.hear(`"method":"elicitation/create"`), `"requestState":`)
	state, _, _ := strings.Cut(rest, `,"_meta"`)
	say(4, `{"a":"ask"}`, `,"inputResponses":{"answer":{"action":"accept"}},"requestState":`+state)
	p.hear(`in [\"` + quoted(dir) + `\"] with \"the state\"`)
	say(5, `{"a":"ask"}`, `,"inputResponses":{"answer":{"action":"accept"}},"requestState":"the state"`)
	p.hear(`in [] with \"the state\"`)
	if err := p.session.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
