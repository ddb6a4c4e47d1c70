package toolbox_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// slowPeer takes its time with a request of a server.
type slowPeer struct {
	*peer
	goOn chan struct{}
	mu   sync.Mutex
	log  []string
}

func (p *slowPeer) note(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, what)
}

func (p *slowPeer) Request(*toolbox.Ask, *wire.Message) {
	<-p.goOn
	p.note("request")
}

func (p *slowPeer) Withdraw(_ *toolbox.Ask, m *wire.Message) {
	if m == nil {
		p.note("gone")
		return
	}
	reason, _ := m.Text(m.Params, "reason")
	p.note("withdrawn: " + reason)
}

// A question that its server withdraws, or whose server goes, as it is handed on is withdrawn behind that: a client is
// not asked afterwards what nobody wants to know any more.
func TestWithdrawnWhileItIsHandedOn(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(s *toolbox.Server, say func([]byte))
		want string
	}{
		"by its server": {func(_ *toolbox.Server, say func([]byte)) {
			word := []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q","reason":"changed my mind"}}`)
			say(word)
			copy(word, make([]byte, len(word))) // it is used again
		}, "[request withdrawn: changed my mind]"},
		"with its server": {func(s *toolbox.Server, _ func([]byte)) {
			_ = s.Restart()
			time.Sleep(time.Minute)
		}, "[request gone]"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &slowPeer{peer: newPeer(), goOn: make(chan struct{})}
				var say func([]byte)
				r := &reluctant{Server: &mcptest.Server{}, method: "initialize"}
				r.do = func(_ int, _ *wire.Message, pass func(), answer func([]byte)) {
					if say == nil {
						say = answer
					}
					pass()
				}
				b, s := within(t, toolbox.Options{Peer: p}, func(int) (wire.Endpoint, error) { return r, nil })
				if err := b.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				go say([]byte(`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`))
				synctest.Wait()
				tt.end(s, say)
				close(p.goOn)
				synctest.Wait()
				p.mu.Lock()
				defer p.mu.Unlock()
				if got := fmt.Sprint(p.log); got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
			})
		})
	}
}
