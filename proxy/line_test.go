package proxy_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// dropped is what was left out of what the servers said.
func (c *talk) dropped() (n uint64) {
	for _, client := range c.front.Status().Sessions {
		for _, b := range client.Toolboxes {
			for _, s := range b.Servers {
				n += s.Dropped
			}
		}
	}
	return n
}

// A client that is behind is spared what it can do without; it gets each reply, and the news once when it has caught
// up.
func TestClientIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, true, map[string]*mcptest.Server{"s": {Resources: []string{`{"uri":"a:1"}`, `{"uri":"a:2"}`}}})
		var behind atomic.Bool
		c.session.(wire.Throttled).Throttle(behind.Load, nil)
		c.initialize()
		synctest.Wait()
		for i, uri := range []string{"a:1", "a:2"} {
			c.say(`{"jsonrpc":"2.0","id":"sub%d","method":"resources/subscribe","params":{"uri":%q}}`, i, uri)
			c.hear(fmt.Sprintf(`"id":"sub%d"`, i))
		}
		heard := func() []string {
			synctest.Wait()
			for len(c.got) > 0 {
				c.seen = append(c.seen, <-c.got)
			}
			said := c.seen
			c.seen = nil
			return said
		}
		heard() // which lists the server has may be news, or not
		call := func(id int, tool, arguments string) []string {
			c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"box__s__%s","arguments":%s,"_meta":{"progressToken":"p"}}}`, id, tool, arguments)
			c.hear(fmt.Sprintf(`"id":%d,"result"`, id))
			return heard()
		}
		const line = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`
		logs := `{"say":[` + strings.Repeat(line+",", 9) + line + `]}`
		news := func(uri string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q}}`, uri)
		}
		updates := fmt.Sprintf(`{"say":[%s,%s,%s]}`, news("a:1"), news("a:2"), news("a:1"))

		if got := call(1, "say", logs); len(got) != 10 {
			t.Errorf("got %q, want ten log lines", got)
		}
		if got := call(2, "progress", `{"n":3}`); len(got) != 3 {
			t.Errorf("got %q, want progress three times", got)
		}
		if got, want := call(3, "say", updates), []string{news("a:1"), news("a:2"), news("a:1")}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := c.dropped(); got != 0 {
			t.Errorf("%d were left out for a client that keeps up", got)
		}

		behind.Store(true)
		for i, how := range []struct{ tool, arguments string }{{"say", logs}, {"progress", `{"n":3}`}, {"say", updates}, {"say", updates}} {
			if got := call(10+i, how.tool, how.arguments); len(got) > 0 {
				t.Errorf("got %q for a client that is behind, want nothing but replies", got)
			}
		}
		if got := c.dropped(); got != 10+3+4 { // two of six news are owed
			t.Errorf("got %d left out, want 17", got)
		}
		time.Sleep(time.Minute)
		if len(c.got) > 0 {
			t.Errorf("got %q, and it is still behind", <-c.got)
		}

		behind.Store(false)
		time.Sleep(time.Second)
		got := []string{c.hear("updated"), c.hear("updated")}
		slices.Sort(got)
		if want := []string{news("a:1"), news("a:2")}; !slices.Equal(got, want) {
			t.Errorf("got %q when it had caught up, want %q", got, want)
		}
		if got := call(20, "say", logs); len(got) != 10 {
			t.Errorf("got %q, want ten log lines", got)
		}
	})
}

// News that one server has in plenty take no place from those of another.
func TestNewsOfOthersWhileOneFloods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, true, map[string]*mcptest.Server{"flood": {}, "s": {Resources: []string{`{"uri":"a:1"}`}}})
		var behind atomic.Bool
		c.session.(wire.Throttled).Throttle(behind.Load, nil)
		c.initialize()
		synctest.Wait()
		behind.Store(true)
		news := func(uri string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q}}`, uri)
		}
		flood := make([]string, 1001)
		for i := range flood {
			flood[i] = news(fmt.Sprintf("flood:%d", i))
		}
		for i, say := range [][]string{flood, {news("a:1")}} {
			c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"box__%s__say","arguments":{"say":[%s]}}}`, i, []string{"flood", "s"}[i], strings.Join(say, ","))
			c.hear(fmt.Sprintf(`"id":%d,"result"`, i))
		}
		if got := c.dropped(); got != 1 {
			t.Errorf("got %d left out, want the one that is too many for its server", got)
		}
		behind.Store(false)
		c.hear(news("a:1"))
	})
}

// stuck takes nothing of what is written to it.
type stuck struct{ until chan struct{} }

func (s stuck) Write([]byte) (int, error) {
	<-s.until
	return 0, io.ErrClosedPipe
}

// A stdio client that reads nothing holds up no more than the limit, however much its servers say.
func TestClientReadsNothing(t *testing.T) {
	cfg := readConfig(t, `{"toolboxes":{"box":{"open":true,"mcpServers":{"s":{"command":"inside"}}}}}`)
	front := newFront(t, cfg, "")
	defer front.Close()
	in, client := io.Pipe()
	out := stuck{make(chan struct{})}
	ended := make(chan error, 1)
	go func() { ended <- wire.Serve(t.Context(), in, out, front, wire.ServeOptions{Limit: 128 << 10}) }()
	write := func(msg string) {
		if _, err := io.WriteString(client, msg+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	dropped := func() (n uint64) {
		for _, c := range front.Status().Sessions {
			for _, b := range c.Toolboxes {
				n += b.Servers[0].Dropped
			}
		}
		return n
	}
	write(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	write(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	line := `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` + strings.Repeat("x", 1000) + `"}}`
	write(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"box__s__say","arguments":{"say":[` + strings.Repeat(line+",", 999) + line + `]}}}`)
	deadline := time.Now().Add(peerWait)
	for dropped() < 900 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if got := dropped(); got < 900 || got >= 1000 {
		t.Errorf("got %d of 1000 lines left out, want those beyond the first 16 KiB", got)
	}
	close(out.until)
	_ = client.Close()
	<-ended
}
