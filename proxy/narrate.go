package proxy

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

const (
	// narrateFirst is how long a request waits for servers before its client is told of it, and narrateAgain how long
	// until it is told the next time.
	narrateFirst = time.Second
	narrateAgain = 2 * time.Second
	// narratedServers is how many servers are told of at a time.
	narratedServers = 3
	// progressSecond is how much progress a second of waiting is: little, so that the progress which the server tells after
	// it, and which mostly begins with 1, is more.
	progressSecond = 0.001
)

// narrator tells a client by progress notifications which servers its request waits for, while these start.
type narrator struct {
	f     *flight
	began time.Time

	mu      sync.Mutex // held while a notification is handed on, so that none comes after the reply
	servers []*toolbox.Server
	timer   *time.Timer
	over    bool
}

// narrate has the client told where the servers stand, if it gave a progress token, until the server of the request has taken
// it or it is answered.
func (f *flight) narrate(servers ...*toolbox.Server) {
	if f.token == nil {
		return
	}
	n := f.narrator.Load()
	if n == nil {
		n = &narrator{f: f, began: time.Now()}
		n.mu.Lock()
		defer n.mu.Unlock()
		n.servers, n.timer = servers, time.AfterFunc(narrateFirst, n.tell)
		f.narrator.Store(n)
		n.over = f.over.Load() // it ended meanwhile and did not find the narrator
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.servers = servers
}

// tell tells it once and comes again.
func (n *narrator) tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.over || n.f.call.IsSent() {
		n.over = true
		return
	}
	if text := n.text(); text != "" && !n.f.out.Behind() {
		b := append([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`), n.f.token...)
		b = append(b, `,"progress":`...)
		b = strconv.AppendFloat(b, time.Since(n.began).Seconds()*progressSecond, 'f', 4, 64)
		b = append(wire.AppendQuote(append(b, `,"message":`...), text), `}}`...)
		n.f.out.Message(b)
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

// hush ends the telling. It is called before the request is answered, and when its server tells of it itself.
func (f *flight) hush() {
	n := f.narrator.Load()
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.over = true
	n.timer.Stop()
}

// ownAndNarrate registers a request that is worked on here and will wait for servers.
func (s *Session) ownAndNarrate(c *call, servers ...*toolbox.Server) *flight {
	f := s.own(c)
	if f != nil && c.Token.Present() {
		f.token = bytes.Clone(c.Bytes(c.Token))
		f.narrate(servers...)
	}
	return f
}
