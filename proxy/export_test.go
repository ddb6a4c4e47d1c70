package proxy

import (
	"bytes"
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/incoming"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Naming is what a session has to tell names by, without the session.
type Naming struct {
	spaces    *naming.Spaces
	claims    *naming.Claims
	directory *naming.Directory
}

// Named is whose a tool is, and what its server calls it.
type Named struct{ Toolbox, Server, Key string }

// NewNaming makes the naming of a session.
func NewNaming() *Naming { return &Naming{claims: naming.NewClaims()} }

// Become gives the session a configuration, and tools of servers that were all started again. It returns under which
// name clients see each.
func (n *Naming) Become(direct bool, boxes []config.Toolbox, tools []Named) []string {
	spaces := naming.NewSpaces(direct, boxes)
	if n.spaces != nil {
		spaces = spaces.With(n.spaces)
	}
	n.spaces = spaces
	plain := make(map[string]bool)
	for _, b := range boxes {
		plain[b.Name] = direct || b.Prefix == config.PrefixNone
	}
	items, servers := make([]naming.Route, len(tools)), make(map[naming.Address]*toolbox.Server)
	for i, t := range tools {
		of := naming.Address{Toolbox: t.Toolbox, Server: t.Server}
		if servers[of] == nil {
			servers[of] = &toolbox.Server{Toolbox: t.Toolbox, Name: t.Server}
		}
		items[i] = naming.Route{Server: servers[of], Key: t.Key}
	}
	isPlain := func(s *toolbox.Server) bool { return plain[s.Toolbox] }
	n.directory = naming.NewDirectory(toolbox.Tools, spaces, n.claims, items, isPlain)
	names := []string{}
	for _, to := range items {
		names = append(names, n.directory.Shown[to.Identity()])
	}
	return names
}

// Give has the client be given the names of the tools, as in a list or in what an open of a toolbox says.
func (n *Naming) Give(box string) { n.directory.Give(box) }

// Meant says who is meant. Without a toolbox the name is one that clients see.
func (n *Naming) Meant(box, server, name string) (Named, error) {
	to, err := n.directory.Meant(naming.Want{Toolbox: box, Server: server, Tool: name})
	if err != nil {
		return Named{}, err
	}
	return Named{to.Server.Toolbox, to.Server.Name, to.Key}, nil
}

// ApproveAtTheEnd has a call of a client of an era wait for a person that comes as its session has just ended.
func ApproveAtTheEnd(register *approval.Register, era eras.Era) {
	log := &forwarding{tallies: new(tallies)}
	f := &flight{request: request{requests: newRequests(account.New(account.Client, nil), new(wire.Buffers)), ctx: context.Background()}, by: log}
	f.work, f.out, f.record.mode = f, newLine(func([]byte) {}, nil), calls.Off
	over := newBackground()
	over.end()
	as := &approvals{register: register, profile: newProfile(nil, nil), states: newStates(newSealer()), begin: over.begin}
	as.states.end()
	terms := terms{Era: era, capabilities: []byte(`{"elicitation":{}}`)}
	as.approve(f, &call{Request: new(incoming.Request), terms: terms}, approval.NewCall("box", "server", "tool", nil), nil)
}

// ForgetTogether has a task of workbench's own that is old forgotten by two who look for it at once, and gives how many
// bytes of those that were kept besides are kept still.
func ForgetTogether(besides int) int64 {
	charged := account.New(account.Client, nil)
	charged.Keep(besides)
	ts := newOwnTasks(charged, nil)
	old := &ownTask{of: ts, status: "completed", began: time.Now().Add(-2 * ownTaskLife), ended: time.Now()}
	ts.keep(old)
	old.mu.Lock()
	var both sync.WaitGroup
	for range 2 {
		both.Go(ts.forget)
	}
	wait := func(stack []byte) bool {
		return bytes.Contains(stack, []byte("[sync.Mutex.Lock]")) && bytes.Contains(stack, []byte("(*ownTasks).forget("))
	}
	for stacks := make([]byte, 1<<20); ; runtime.Gosched() {
		n := 0
		for stack := range bytes.SplitSeq(stacks[:runtime.Stack(stacks, true)], []byte("\n\n")) {
			if wait(stack) {
				n++
			}
		}
		if n == 2 { // both have found the task, which is held
			break
		}
	}
	old.mu.Unlock()
	both.Wait()
	return charged.Kept()
}

// Texts gives what the session of each client of a front has in memory: the list of tools that it is given, and the
// definition of the first tool of each of its servers.
func Texts(p *Proxy) (texts [][][]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.sessions {
		has := [][]byte{s.shelf.Routes().Changing[toolbox.Tools]}
		for _, srv := range s.shelf.Servers() {
			has = append(has, srv.Items(toolbox.Tools)[0].Raw)
		}
		texts = append(texts, has)
	}
	return texts
}
