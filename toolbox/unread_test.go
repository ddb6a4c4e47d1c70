package toolbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// While a client has too much to read its servers wait, and no call is late for that but by its total time. They end all
// the same.
func TestFaultG20_ServersWaitForTheirClient(t *testing.T) {
	unread := account.New(1000, nil)
	slow := childServer("slow", "plain")
	slow.Timeouts = config.Timeouts{Start: 20 * time.Second, CallIdle: 200 * time.Millisecond, CallTotal: 1500 * time.Millisecond}
	b := open(t, toolbox.Options{Unread: unread}, slow)
	s := server(t, b, "slow")
	type reply struct {
		text string
		err  error
	}
	call := func() <-chan reply {
		got := make(chan reply, 1)
		go func() {
			text, err := s.Request(context.Background(), "tools/call", fmt.Appendf(nil, `{"name":"echo","arguments":{"text":%q}}`, strings.Repeat("x", 5000)))
			got <- reply{string(text), err}
		}()
		return got
	}
	full := func() {
		t.Helper()
		unread.Keep(1001)
	}

	full()
	waits := call()
	select {
	case got := <-waits:
		t.Fatalf("got %.100q, %v from a server whose client does not read", got.text, got.err)
	case <-time.After(600 * time.Millisecond): // three times what a call may take that hears nothing
	}
	if !unread.Held() {
		t.Error("nobody waits for the client")
	}
	unread.Credit(1001)
	if got := <-waits; got.err != nil || !strings.Contains(got.text, "xxxxx") {
		t.Errorf("got %.100q, %v when the client had read", got.text, got.err)
	}

	full()
	waits = call()
	var late *rpc.TimeoutError
	if got := <-waits; !errors.As(got.err, &late) || late.What != "total" {
		t.Errorf("got %.100q, %v, want the total time to be over", got.text, got.err)
	}

	waits = call()
	time.Sleep(100 * time.Millisecond)
	began := time.Now()
	_ = b.Close()
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("the end took %v", took)
	}
	if got := <-waits; got.err == nil {
		t.Errorf("got %.100q after the end", got.text)
	}
}
