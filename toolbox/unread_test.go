package toolbox_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/toolbox"
)

// While a client has too much to read its servers wait. They end all the same.
func TestFaultG20_ServersWaitForTheirClient(t *testing.T) {
	unread := account.New(1000, nil)
	slow := childServer("slow", "")
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
	held := func(waits <-chan reply) {
		t.Helper()
		for until := time.Now().Add(2 * time.Minute); !unread.Held(); time.Sleep(time.Millisecond) {
			select {
			case got := <-waits:
				t.Fatalf("got %.100q, %v from a server whose client does not read", got.text, got.err)
			default:
			}
			if time.Now().After(until) {
				t.Fatal("nobody waits for the client")
			}
		}
	}

	unread.Keep(1001)
	waits := call()
	held(waits)
	unread.Credit(1001)
	if got := <-waits; got.err != nil || !strings.Contains(got.text, "xxxxx") {
		t.Errorf("got %.100q, %v when the client had read", got.text, got.err)
	}

	unread.Keep(1001)
	waits = call()
	held(waits)
	_ = b.Close()
	if got := <-waits; got.err == nil {
		t.Errorf("got %.100q after the end", got.text)
	}
}
