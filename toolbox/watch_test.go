package toolbox_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// listened is a modern server that keeps the subscriptions which are open.
type listened struct {
	*mcptest.Server
	mu   sync.Mutex
	open map[string]string // by ids, what they are for
}

func (l *listened) Connect(send func([]byte)) wire.Session {
	return &listenedSession{l.Server.Connect(send), l}
}

type listenedSession struct {
	wire.Session
	of *listened
}

func (s *listenedSession) Receive(raw []byte) {
	var m wire.Message
	if wire.Scan(raw, &m) != nil || !m.IsMethod("subscriptions/listen") && !m.IsMethod("notifications/cancelled") {
		s.Session.Receive(raw)
		return
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if m.Kind == wire.Request {
		s.of.open[string(m.Bytes(m.ID))] = string(raw)
	} else if id, err := wire.FindPath(raw, m.Params, "requestId"); err == nil {
		delete(s.of.open, string(m.Bytes(id)))
	}
}

// A modern server tells of all that is wanted, however much comes to be wanted at the same time.
func TestWatchedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &listened{Server: &mcptest.Server{Modern: true}, open: make(map[string]string)}
		b, s := within(t, toolbox.Options{}, func(int) (wire.Endpoint, error) { return l, nil })
		if err := b.Open(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		wantState(t, s, toolbox.Ready)
		for range 200 {
			for _, on := range []bool{true, false} {
				for i := range 4 {
					go s.Watch(fmt.Sprintf("a:%d", i), on)
				}
				synctest.Wait()
				l.mu.Lock()
				if len(l.open) != 1 {
					t.Errorf("got %d subscriptions, want one", len(l.open))
				}
				for _, raw := range l.open {
					if i := slices.IndexFunc([]int{0, 1, 2, 3}, func(i int) bool { return strings.Contains(raw, fmt.Sprintf("a:%d", i)) != on }); i >= 0 {
						t.Errorf("after all were wanted, %v: got the subscription %s", on, raw)
					}
				}
				l.mu.Unlock()
			}
		}
	})
}
