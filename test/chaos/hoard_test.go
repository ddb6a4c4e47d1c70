//go:build linux

package chaos

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// hoards has servers and clients try to be kept much of.
func hoards(t *testing.T, tab *table) {
	few, many := 200, times(10_000, 300_000)
	hoarders := []struct {
		name, fault string
		calls       int
		unread      bool // the client does not read while the server says it
	}{
		{fmt.Sprintf("%d questions", many), fmt.Sprintf("askids %d 10", many), 1, false},
		{fmt.Sprintf("%d questions with ids of 8 MB", few), fmt.Sprintf("askids %d 8000000", few), 1, false},
		{fmt.Sprintf("%d notifications of 8 MB that nobody reads", few), fmt.Sprintf("notices %d 8000000", few), 1, true},
		{fmt.Sprintf("%d notifications that nobody reads", 7*many), fmt.Sprintf("notices %d 100", 7*many), 1, true},
		{fmt.Sprintf("%d replies of 8 MB that nobody reads", few), "bulk 1 8000000", few, true},
		{"40 tasks with ids of 8 MB", "tasks 1 8000000", 40, false},
	}
	for _, tt := range hoarders[:times(1, len(hoarders))] { // test/faults has the others with as much as go test has time for
		t.Run(tt.name, func(t *testing.T) {
			p := start(t, map[string]map[string]string{"box": {"sick": tt.fault}})
			p.out = bufio.NewReaderSize(p.out, 64<<10)
			p.say(wiretest.Request("1", "initialize", hello))
			p.reads(t, `"id":1`)
			p.say(wiretest.Request("2", "tools/call", `{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"box"}}`))
			p.reads(t, `"id":2`)
			base := p.weigh()
			for i := range tt.calls {
				id := fmt.Sprintf(`"c%d"`, i)
				p.say(wiretest.Request(id, "tools/call", `{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"fault","arguments":{}},"task":{"ttl":60000}}`))
				if !tt.unread {
					p.reads(t, `"id":`+id)
				}
			}
			if tt.unread {
				time.Sleep(10 * time.Second)
				whole := 0
				for range tt.calls { // in any order; those that waited for their turn for too long are told so
					if strings.Contains(p.reads(t, `"id":"c`), `"result":{"content":[{"type":"text","text":"0-xx`) || tt.calls == 1 {
						whole++
					}
				}
				if whole < min(tt.calls, 8) {
					t.Errorf("%d replies came, want more", whole)
				}
			}
			grown(t, tab, tt.name, p, base)
			go p.receive()
		})
	}
	if atLength() {
		t.Run("lists on pages of 15 MB", func(t *testing.T) {
			p := start(t, map[string]map[string]string{"box": {"sick": "pages 20 15000000"}})
			p.greet()
			base := p.weigh()
			p.open("box")
			grown(t, tab, "lists on pages of 15 MB", p, base)
		})
		t.Run("ten servers", func(t *testing.T) { tenServers(t, tab, few) })
	}
	t.Run("clients", func(t *testing.T) { longClients(t, tab) })
}

// reads reads to the line that has a piece near its beginning, which it returns.
func (p *program) reads(t *testing.T, piece string) (head string) {
	t.Helper()
	for {
		line, err := p.out.ReadSlice('\n')
		head = string(line[:min(len(line), 150)])
		for err == bufio.ErrBufferFull {
			_, err = p.out.ReadSlice('\n')
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(head, piece) {
			return head
		}
	}
}

// tenServers has ten do it at once.
func tenServers(t *testing.T, tab *table, few int) {
	servers := make(map[string]string)
	for i := range 2 {
		servers[fmt.Sprintf("ids%d", i)] = fmt.Sprintf("askids %d 8000000", few)
		servers[fmt.Sprintf("questions%d", i)] = "askids 20000 10"
		servers[fmt.Sprintf("notices%d", i)] = fmt.Sprintf("notices %d 8000000", few)
		servers[fmt.Sprintf("bulk%d", i)] = "bulk 1 8000000"
		servers[fmt.Sprintf("pages%d", i)] = "pages 3 15000000"
	}
	p := start(t, map[string]map[string]string{"box": servers})
	p.greet()
	base := p.weigh()
	p.open("box")
	var calls []<-chan struct{}
	for name := range servers {
		calls = append(calls, meanwhile(func() { _, _, _ = p.call("box", name, "fault", "{}") }))
	}
	for _, over := range calls {
		<-over
	}
	more := p.size("VmHWM") - base
	tab.show("memory for ten such servers at once", "at most "+mib(4*spare), mib(more))
	if more > 4*spare {
		t.Errorf("ten servers: the program has grown by %s, want at most %s", mib(more), mib(4*spare))
	}
}

// longClients has a client subscribe to much, and clients say much of themselves.
func longClients(t *testing.T, tab *table) {
	p := start(t, map[string]map[string]string{"box": {"well": "well"}}, "--http", "127.0.0.1:0", "--no-token")
	c := &web{address: p.url(t) + "/box", client: &http.Client{Transport: &http.Transport{}}}
	t.Cleanup(func() {
		c.client.CloseIdleConnections()
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
	})
	session := c.begin(t)
	base := p.weigh()
	long := strings.Repeat("u", 3_000_000)
	for i := range times(20, 150) {
		if _, _, err := c.send("POST", session, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":"x:%d%s"}}`, i+10, i, long)); err != nil {
			t.Fatal(err)
		}
	}
	grown(t, tab, "subscriptions with uris of 3 MB", p, base)
	base = p.weigh()
	for range times(10, 100) {
		_, _, err := c.send("POST", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"experimental":{"x":{"y":"`+long+`"}}},"clientInfo":{"name":"c","version":"1"}}}`)
		if err != nil && err != io.EOF {
			t.Fatal(err)
		}
	}
	grown(t, tab, "clients that say 3 MB of themselves", p, base)
}
