package proxy

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/toolbox"
)

const (
	// narrateFirst is how long a request waits for servers before its client is told of it, and narrateAgain how long
	// until it is told the next time.
	narrateFirst = time.Second
	narrateAgain = 2 * time.Second
	// narratedServers is how many servers are told of at a time.
	narratedServers = 3
)

// patience is the progress of a request that waits. It is below zero and comes ever nearer to it, whatever the request
// waits for, so that each number is more than the one before, and the server's own, of which the first may be 0, is more
// than all of them (specification 2025-11-25, progress: it must increase with each notification).
type patience struct {
	mu   sync.Mutex // held while a notification is handed on, so that they come in their order
	told int
}

// tell sends progress to out.
func (p *patience) tell(out Outlet, token []byte, said string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told++
	out.Message(progress(token, strconv.AppendFloat(nil, -1/float64(p.told), 'g', -1, 64), said))
}

// maxReason keeps what a sick server last said from filling a model's context.
const maxReason = 300

// narrator tells a client by progress notifications which servers its request waits for, while these start.
type narrator struct {
	out   Outlet
	token []byte // of the progress
	told  *patience
	sent  func() bool // reports whether the request waits no longer
	began time.Time

	mu      sync.Mutex // held while a notification is handed on, so that none comes after the reply
	servers []*toolbox.Server
	timer   *time.Timer
	over    bool
}

func newNarrator(out Outlet, token []byte, told *patience, sent func() bool, servers []*toolbox.Server) *narrator {
	n := &narrator{out: out, token: token, told: told, sent: sent, began: time.Now(), servers: servers}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.timer = time.AfterFunc(narrateFirst, n.tell)
	return n
}

// of says that the request waits for other servers.
func (n *narrator) of(servers []*toolbox.Server) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.servers = servers
}

// end ends the telling.
func (n *narrator) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.over = true
	n.timer.Stop()
}

// tell tells it once and comes again.
func (n *narrator) tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.over || n.sent() {
		n.over = true
		return
	}
	if text := n.text(); text != "" && !n.out.Behind() {
		n.told.tell(n.out, n.token, text)
	}
	n.timer.Reset(narrateAgain)
}

// text says where the servers stand that are starting; "" if none is.
func (n *narrator) text() string {
	var parts []string
	more := 0
	for _, srv := range n.servers {
		st := srv.Status()
		switch {
		case !st.State.IsStarting():
			continue
		case len(parts) == narratedServers:
			more++
			continue
		}
		part := fmt.Sprintf("%s/%s is %s, %s", srv.Toolbox, srv.Name, st.State, time.Since(n.began).Round(time.Second))
		if words := srv.LastWords(); len(words) > 0 {
			part += fmt.Sprintf(": %q", cut.At(foreign.NewText(words[len(words)-1].String()).String(), maxReason))
		}
		parts = append(parts, part)
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}
