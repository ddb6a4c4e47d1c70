package toolbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/lock"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/offered"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// Item is one entry of a list of a server.
type Item struct {
	Server *Server
	offered.Item
}

// Held is an entry of a list that is not offered, since nobody has agreed to it as it is.
type Held struct {
	Item
	Why string // what has changed, and how it is agreed to
}

// Items returns a list of the server as last read. It stays as it is while the server restarts.
func (s *Server) Items(k Kind) []Item {
	list := s.lists.Items(k)
	if len(list) == 0 {
		return nil
	}
	items := make([]Item, len(list))
	for i := range list {
		items[i] = Item{s, list[i]}
	}
	return items
}

// ToolsSize is how many bytes the definitions of the tools have.
func (s *Server) ToolsSize() (bytes int) {
	for _, it := range s.lists.Items(Tools) {
		bytes += len(it.Raw)
	}
	return bytes
}

// Held returns the entries of a list that its pins keep from being offered.
func (s *Server) Held(k Kind) (held []Held) {
	for _, h := range s.lists.Held(k) {
		held = append(held, Held{Item{s, h.Item}, h.Why})
	}
	return held
}

// Holds reports whether nothing of the server is offered that nobody has agreed to.
func (s *Server) Holds() bool { return s.lists.Holds() }

// Hidden returns how many of its tools the configuration leaves out, and what of it does, as the beginning of a sentence.
func (s *Server) Hidden() (n int, by string) { return s.lists.Hidden() }

// Changes returns how the definitions of the server have changed since they were first known, and how they differ from
// what was agreed to.
func (s *Server) Changes() []string { return s.lists.Changes(s.words()) }

// Notes returns what is odd about the server: definitions that have changed, lists that could not be read, lines on
// stdout that are not messages.
func (s *Server) Notes() []string {
	notes := append(s.Changes(), s.lists.Notes()...)
	if noise := s.Noise(); noise != "" {
		notes = append(notes, noise)
	}
	return notes
}

// Lockable returns what there is of the server for a lock file: all that it offers, held or not, what it says of
// itself, and how it is started. It waits for lists that are being read. The error says what is not known of it.
func (s *Server) Lockable(ctx context.Context) ([]lock.Item, error) {
	s.reading.await(ctx)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return s.lists.Lockable(s.words())
}

// Unread says why one of the lists of the server could not be read to its end, nil if each could.
func (s *Server) Unread(kinds ...Kind) error { return s.lists.Unread(kinds...) }

// Asks reports whether a person is to be asked before a call of a tool, by the configuration of its server; token is
// the name by which the server knows it, as a JSON string. A rule may name the tool as the server or as clients do.
func (s *Server) Asks(token []byte) bool {
	b := s.bounds.Load()
	if b.approve == nil {
		return false
	}
	tool, _ := wire.Unquote(token)
	shown := tool
	for i := range b.tools {
		if b.tools[i].Name == tool && b.tools[i].Rename != "" {
			shown = b.tools[i].Rename
		}
	}
	for _, r := range b.approve {
		if offered.Matches(r.Tools, tool) || offered.Matches(r.Tools, shown) {
			return r.When == config.ApproveAlways || r.When == config.ApproveWrites && !s.lists.OnlyReads(tool)
		}
	}
	return false
}

// Offered gives the tool that is offered under a name, once the server is ready. The error of one that is not says why:
// what filters, readOnly and pins leave out is left out for workbench itself too.
func (s *Server) Offered(ctx context.Context, tool string) (Item, error) {
	s, _, err := s.ready(ctx)
	if err != nil {
		return Item{}, err
	}
	items := s.lists.Items(Tools)
	if i := slices.IndexFunc(items, func(it offered.Item) bool { return it.Key.Verbatim() == tool }); i >= 0 {
		return Item{s, items[i]}, nil
	}
	why := s.lists.LeftOut(Tools, tool)
	if why == "" {
		why = "none is offered under that name"
	}
	return Item{}, s.refusal(notOffered(Tools, tool, why))
}

func notOffered(k Kind, key, why string) error {
	return fmt.Errorf("does not offer the %s %q: %s", strings.TrimSuffix(string(k), "s"), foreign.NewName(key), why)
}

// CallTool calls a tool for workbench itself, by the name under which it is offered, and waits for the result.
func (s *Server) CallTool(ctx context.Context, tool string, arguments []byte) ([]byte, error) {
	called, err := s.Offered(ctx, tool)
	if err != nil {
		return nil, err
	}
	params, err := called.CallParams(arguments)
	if err != nil {
		return nil, err
	}
	return s.Request(ctx, "tools/call", params)
}

// skillsTime is how long a list of skills may take that a client waits for.
const skillsTime = 5 * time.Second

// ReadSkills reads the skills of the server, which says nothing when they change, and gives those that are offered; nil
// if they cannot be read.
func (s *Server) ReadSkills(ctx context.Context) []Item {
	ctx, cancel := context.WithTimeoutCause(ctx, skillsTime, &rpc.TimeoutError{What: "list", After: skillsTime})
	defer cancel()
	s, c, err := s.ready(ctx)
	if err != nil {
		return nil
	}
	read, differs := s.reading.now(ctx, c, Skills)
	if !read {
		return nil
	}
	if differs {
		s.memory.remember()
		s.peer.Changed(s, Skills)
	}
	return append([]Item{}, s.Items(Skills)...)
}
