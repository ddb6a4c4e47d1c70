package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
)

// caller is a client that has many calls under way.
type caller struct {
	session wire.Session
	told    atomic.Int64 // how often the list of tools was said to be another

	mu      sync.Mutex // of Receive, and of what follows
	last    int
	waiting map[string]chan string
	strange []string // what came and nobody waited for
}

func newCaller(front *proxy.Proxy) *caller {
	c := &caller{waiting: make(map[string]chan string)}
	c.session = front.Connect(c.take)
	return c
}

// take is what the front sends.
func (c *caller) take(msg []byte) {
	var m wire.Message
	if err := wire.Scan(msg, &m); err == nil && m.Kind == wire.Notification {
		if m.IsMethod("notifications/tools/list_changed") {
			c.told.Add(1)
		}
		return
	}
	// Some of it is sent while Receive is called.
	go func(text, id string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		answer := c.waiting[id]
		delete(c.waiting, id)
		if answer == nil {
			c.strange = append(c.strange, text)
			return
		}
		answer <- text
	}(string(msg), string(m.Bytes(m.ID)))
}

// request makes a request and waits for its one answer.
func (c *caller) request(method, params string) (string, error) {
	answer := make(chan string, 1)
	c.mu.Lock()
	c.last++
	id := fmt.Sprint(c.last)
	c.waiting[id] = answer
	c.session.Receive(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	c.mu.Unlock()
	select {
	case text := <-answer:
		return text, nil
	case <-time.After(peerWait):
		return "", fmt.Errorf("%s %s was not answered in %s", method, params, peerWait)
	}
}

// call calls a tool of the toolbox dev through workbench_use_tool or by its exposed name.
func (c *caller) call(server, tool, nonce string, use bool) (string, error) {
	name, arguments := "dev__"+server+"__"+tool, fmt.Sprintf(`{"text":%q}`, nonce)
	if use {
		name, arguments = "workbench_use_tool", fmt.Sprintf(`{"toolbox_name":"dev","tool_name":"%s/%s","arguments":%s}`, server, tool, arguments)
	}
	return c.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))
}

// restless is the i-th of a row of configurations, each other than the one before: two servers stay as they are, one is
// another each time, one now and then, one comes and goes, and so does a toolbox.
func restless(i int) string {
	servers := `"same": {"command": "child", "args": ["tools=echo,pid"]}, "all": {"command": "child", "args": ["tools=echo,pid"], "shared": true}`
	servers += fmt.Sprintf(`, "often": {"command": "inside", "args": ["tools=echo,v%d"]}`, i%2)
	servers += fmt.Sprintf(`, "seldom": {"command": "child", "args": ["tools=echo,v%d"]}`, i/25%2)
	if i%2 == 0 {
		servers += `, "guest": {"command": "inside", "args": ["tools=echo"]}`
	}
	other := ""
	if i%3 == 0 {
		other = `, "other": {"mcpServers": {"x": {"command": "inside"}}}`
	}
	return fmt.Sprintf(`{"openTimeout": "20s", "toolboxes": {"dev": {"description": "the %dth", "mcpServers": {%s}}%s}}`, i, servers, other)
}

// Under reloads one after the other no call to a server that is there is lost, doubled or answered by another, and what
// does not change goes on.
func TestReloadUnderLoad(t *testing.T) {
	t.Parallel()
	const reloads, clients, workers, between = 60, 2, 2, 2
	front := newFront(t, readConfig(t, restless(0)), "")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	made := make(chan struct{})
	var total, refused atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	var callers []*caller
	for n := range clients {
		c := newCaller(front)
		callers = append(callers, c)
		if _, err := c.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`); err != nil {
			t.Fatal(err)
		}
		if got, err := c.request("tools/call", `{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"dev"}}`); err != nil || !strings.Contains(got, `"servers_connected":5`) {
			t.Fatalf("got %s, %v, want five servers that are ready", got, err)
		}
		pids := make(map[string]string)
		for _, server := range []string{"same", "all"} {
			pid, err := c.call(server, "pid", "", false)
			if err != nil {
				t.Fatal(err)
			}
			pids[server] = text(t, pid)
		}
		for w := range workers {
			g.Go(func() error {
				for i := 0; ctx.Err() == nil; i++ {
					server := []string{"same", "all", "often", "seldom", "guest"}[(i+w)%5]
					nonce := fmt.Sprintf("<%d-%d-%d>", n, w, i)
					got, err := c.call(server, "echo", nonce, i%2 == 0)
					gone := strings.Contains(got, "not found") || strings.Contains(got, "has no server") || strings.Contains(got, "was removed")
					switch {
					case err != nil:
						return err
					case strings.Contains(got, nonce) && !strings.Contains(got, "isError"):
					case server == "guest" && gone:
						refused.Add(1)
					default:
						return fmt.Errorf("a call of %s: got %s, want %s", server, got, nonce)
					}
					total.Add(1)
					select {
					case made <- struct{}{}:
					default:
					}
				}
				return nil
			})
		}
		g.Go(func() error {
			for ctx.Err() == nil {
				for server, want := range pids {
					got, err := c.call(server, "pid", "", false)
					if err != nil || !strings.Contains(got, `"text":"`+want+`"`) {
						return errors.Join(err, fmt.Errorf("the process of %s: got %s, want %s", server, got, want))
					}
				}
			}
			return nil
		})
	}
reloading:
	for i := range reloads {
		front.Reload(readConfig(t, restless(i+1)))
		for range between {
			select {
			case <-made:
			case <-ctx.Done():
				break reloading
			}
		}
	}
	stop()
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	for _, c := range callers {
		if err := c.session.Close(t.Context()); err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		if len(c.strange) > 0 || len(c.waiting) > 0 {
			t.Errorf("%d calls were not answered; nobody waited for %q", len(c.waiting), c.strange)
		}
		c.mu.Unlock()
	}
	if err := front.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("%d calls during %d reloads, of which %d to a server that was not there", total.Load(), reloads, refused.Load())
}
