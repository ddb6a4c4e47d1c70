package toolbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/lock"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Held is an entry of a list that is not offered, since nobody has agreed to it as it is.
type Held struct {
	Item
	Why string // what has changed, and how it is agreed to
}

// Held returns the entries of a list that its pins keep from being offered. The slice must not be changed.
func (s *Server) Held(k Kind) []Held {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[k]
}

// Holds reports whether nothing of the server is offered that nobody has agreed to.
func (s *Server) Holds() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pins.Mode == lock.Hold
}

// lockKind is what the entries of a list are in a lock file; there are none of resources.
func (k Kind) lockKind() (lock.Kind, bool) {
	switch k {
	case Tools:
		return lock.Tool, true
	case Prompts:
		return lock.Prompt, true
	case Templates:
		return lock.Template, true
	case Skills:
		return lock.Skill, true
	}
	return "", false
}

// pinnable are the lists whose entries are in a lock file.
func pinnable() []Kind { return []Kind{Tools, Prompts, Templates, Skills} }

func (s *Server) lockItems(kind lock.Kind, items []Item) []lock.Item {
	all := make([]lock.Item, len(items))
	for i := range items {
		all[i] = s.lockItem(kind, items[i].Raw)
	}
	return all
}

// lockItem makes an item of what the server says, with the names of its secrets in their place. A name keeps them: it is
// what the item is found by.
func (s *Server) lockItem(kind lock.Kind, raw []byte) lock.Item {
	it := lock.NewItem(kind, raw)
	if plain := s.hidden.Load().JSON(it.Text); !bytes.Equal(plain, it.Text) {
		if shown := lock.NewItem(kind, plain); shown.Name == it.Name {
			return shown
		}
	}
	return it
}

// Lockable returns what there is of the server for a lock file: all that it offers, held or not, what it says of itself,
// and how it is started. It waits for lists that are being read. The error says what is not known of it.
func (s *Server) Lockable(ctx context.Context) ([]lock.Item, error) {
	s.awaitLists(ctx)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hello == nil {
		return nil, errors.New("it was not seen before")
	}
	all := s.saysLocked()
	for _, k := range pinnable() {
		if s.unread[k] {
			return nil, fmt.Errorf("its %s could not be read", k.noun())
		}
		kind, _ := k.lockKind()
		all = append(all, s.lockItems(kind, s.offeredLocked(k))...)
	}
	for i := range all {
		if plain := s.hidden.Load().JSON(all[i].Text); !bytes.Equal(plain, all[i].Text) {
			return nil, fmt.Errorf("a %s has a secret in its name, which no file is to have", all[i].Kind)
		}
	}
	return all, nil
}

// saysLocked gives what the server says besides its lists, and how it is started.
func (s *Server) saysLocked() []lock.Item {
	var all []lock.Item
	if len(s.cfg.Written) > 0 {
		all = append(all, lock.NewItem(lock.Start, s.cfg.Written))
	}
	if s.hello == nil {
		return all
	}
	if info := s.hello.Info; len(info) > 0 && info[0] == '{' {
		all = append(all, s.lockItem(lock.Info, info))
	}
	if text, ok := wire.Unquote(s.hello.Instructions); ok && text != "" {
		all = append(all, s.lockItem(lock.Instructions, s.hello.Instructions))
	}
	return all
}

// sieveLocked makes of a whole list what is offered of it, by the filters and the pins, as the configuration has it offered.
func (s *Server) sieveLocked(k Kind) {
	s.judgeLocked(k)
	if k != Tools || len(s.rules) == 0 {
		return
	}
	s.lists[k], _ = reshapedBy(s.lists[k], s.rules)
	for i, h := range s.held[k] {
		one, _ := reshapedBy([]Item{h.Item}, s.rules)
		s.held[k][i].Item = one[0]
	}
}

// judgeLocked leaves out what the filters and the pins do.
func (s *Server) judgeLocked(k Kind) {
	offered := s.offeredLocked(k)
	s.lists[k] = offered
	delete(s.held, k)
	delete(s.pinned, k)
	if k == Tools {
		s.loosened, s.disputed = nil, make(map[string]bool)
	}
	kind, ok := k.lockKind()
	if !ok || len(offered) == 0 || s.pins.Mode == "" || s.pins.Mode == lock.Off {
		return
	}
	now := s.lockItems(kind, offered)
	changes, err := s.pins.Judge(kind, now)
	why := make(map[string]string)
	for i := range now {
		if err != nil {
			why[now[i].Key()] = err.Error()
		}
	}
	var said []string
	for i := range changes {
		if changes[i].Now == nil {
			continue // what is gone is said by drift, and may only not be for this client
		}
		if changes[i].Loosens() {
			s.loosened = append(s.loosened, changes[i].Now.Label())
		}
		if k == Tools {
			s.disputed[changes[i].Now.Key()] = true
		}
		words := strings.Join(changes[i].Words(false), "; ")
		why[changes[i].Now.Key()] = words
		name := "…"
		if lock.IsPlain(changes[i].Now.Key()) {
			name = lock.Quote(changes[i].Now.Key())
		}
		said = append(said, fmt.Sprintf("%s (%s)", name, words))
	}
	if len(why) == 0 {
		return
	}
	text := strings.Join(said[:min(len(said), mostPinned)], ", ")
	if len(said) > mostPinned {
		text += fmt.Sprintf(" and %d more", len(said)-mostPinned)
	}
	if err != nil {
		text = err.Error()
	}
	verb := "are not as was agreed to"
	if s.pins.Mode == lock.Hold {
		verb = "are held back until a person agrees to them"
		s.holdLocked(k, offered, why)
	}
	s.pinned[k] = fmt.Sprintf("%d of its %s %s: %s; workbench lock --diff %s says more",
		len(why), k.noun(), verb, text, lock.Word(s.Toolbox))
}

// notePinsLocked has it said that a list is not as was agreed to, if that is other than what was said before. What it
// returns is to be called when the lock is not held any more.
func (s *Server) notePinsLocked(k Kind, before string) (log func()) {
	text := s.pinned[k]
	if text == "" || text == before {
		return func() {}
	}
	return func() { s.log.Warn().Str(logkey.Detail, text).Msg("definitions differ from the lock file") }
}

// mostPinned is of how many entries of a list it is said in one note what has changed.
const mostPinned = 5

func (k Kind) noun() string {
	if k == Templates {
		return "resource templates"
	}
	return string(k)
}

// holdLocked takes entries out of a list.
func (s *Server) holdLocked(k Kind, offered []Item, why map[string]string) {
	s.lists[k] = make([]Item, 0, len(offered))
	for _, it := range offered {
		words, held := why[it.Key.Verbatim()]
		if !held {
			s.lists[k] = append(s.lists[k], it)
			continue
		}
		s.held[k] = append(s.held[k], Held{it, fmt.Sprintf("%s; when a person has looked at it, %s has it offered",
			words, s.pins.AcceptCommand(it.Key.Verbatim()))})
	}
}

// pinNotesLocked says what is not as was agreed to.
func (s *Server) pinNotesLocked() (notes []string) {
	if s.pins.Mode == "" || s.pins.Mode == lock.Off || s.hello == nil {
		return nil
	}
	for _, it := range s.saysLocked() {
		changes, err := s.pins.Judge(it.Kind, []lock.Item{it})
		if err != nil {
			break // each list says so
		}
		for i := range changes {
			notes = append(notes, fmt.Sprintf("%s: changed since the lock file was agreed to (%s)", it.Label(), strings.Join(changes[i].Words(false), "; ")))
		}
	}
	for _, k := range pinnable() {
		if text := s.pinned[k]; text != "" && !slices.Contains(notes, text) {
			notes = append(notes, text)
		}
	}
	return notes
}
