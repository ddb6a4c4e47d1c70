package offered

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/audit"
	"github.com/mcp-workbench/workbench/internal/lock"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Held is an entry of a list that is not offered, since nobody has agreed to it as it is.
type Held struct {
	Item
	Why string // what has changed, and how it is agreed to; or why that is not known, and what to do
}

// Said is what a server says of itself besides its lists.
type Said struct {
	Info         json.RawMessage
	Instructions json.RawMessage // a JSON string; nil for none
}

// Holds reports whether nothing of the server is offered that nobody has agreed to.
func (l *Lists) Holds() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rules.Pins.Mode == lock.Hold
}

func (o *Origin) lockItems(kind lock.Kind, items []Item) []lock.Item {
	all := make([]lock.Item, len(items))
	for i := range items {
		all[i] = o.lockItem(kind, items[i].Raw)
	}
	return all
}

// lockItem makes an item of what the server says, with the names of its secrets in their place. A name keeps them: it
// is what the item is found by.
func (o *Origin) lockItem(kind lock.Kind, raw []byte) lock.Item {
	it := lock.NewItem(kind, raw)
	if plain := o.Hide(it.Text); !bytes.Equal(plain, it.Text) {
		if shown := lock.NewItem(kind, plain); shown.Name == it.Name {
			return shown
		}
	}
	return it
}

// Lockable returns what there is of the server for a lock file: all that it offers, held or not, what it says of
// itself, and how it is started. The error says what is not known of it.
func (l *Lists) Lockable(said *Said) ([]lock.Item, error) {
	if said == nil {
		return nil, errors.New("it was not seen before")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.origin.says(said)
	for _, k := range Pinnable() {
		if err := l.lists[k].unread; err != nil {
			return nil, err
		}
		kind, _ := k.lockKind()
		all = append(all, l.origin.lockItems(kind, l.passingLocked(k))...)
	}
	for i := range all {
		if plain := l.origin.Hide(all[i].Text); !bytes.Equal(plain, all[i].Text) {
			return nil, fmt.Errorf("a %s has a secret in its name, which must not be written to a file", all[i].Kind)
		}
	}
	return all, nil
}

// says gives what the server says besides its lists, and how it is started.
func (o *Origin) says(said *Said) []lock.Item {
	var all []lock.Item
	if len(o.Written) > 0 {
		all = append(all, lock.NewItem(lock.Start, o.Written))
	}
	if len(said.Info) > 0 && said.Info[0] == '{' {
		all = append(all, o.lockItem(lock.Info, said.Info))
	}
	if said.instructs() {
		all = append(all, o.lockItem(lock.Instructions, said.Instructions))
	}
	return all
}

func (s *Said) instructs() bool {
	text, ok := wire.Unquote(s.Instructions)
	return ok && text != ""
}

// sieveLocked makes of a whole list what is offered of it, by the filters and the pins, as the configuration has it
// offered.
func (l *Lists) sieveLocked(k Kind) {
	l.judgeLocked(k)
	if k != Tools {
		return
	}
	e := l.lists[k]
	e.shown, _ = reshapedBy(e.shown, l.rules.Tools)
	for i, h := range e.held {
		one, _ := reshapedBy([]Item{h.Item}, l.rules.Tools)
		e.held[i].Item = one[0]
	}
}

// judgeLocked leaves out what the filters and the pins do.
func (l *Lists) judgeLocked(k Kind) {
	e, pins := l.lists[k], l.rules.Pins
	passing := l.passingLocked(k)
	e.shown, e.held, e.pinned = passing, nil, ""
	if k == Tools {
		l.loosened, l.disputed = nil, make(map[string]bool)
	}
	kind, ok := k.lockKind()
	if !ok || len(passing) == 0 || pins.Mode == "" || pins.Mode == lock.Off {
		return
	}
	now := l.origin.lockItems(kind, passing)
	changes, err := pins.Judge(kind, now)
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
			l.loosened = append(l.loosened, changes[i].Now.Label())
		}
		if k == Tools {
			l.disputed[changes[i].Now.Key()] = true
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
	if pins.Mode == lock.Hold {
		e.hold(passing, why)
	}
	if err != nil {
		verb := map[bool]string{true: "are held back", false: "were not compared"}[pins.Mode == lock.Hold]
		e.pinned = fmt.Sprintf("%d of its %s %s: %v", len(why), k.noun(), verb, err)
		return
	}
	text := strings.Join(said[:min(len(said), mostPinned)], ", ")
	if len(said) > mostPinned {
		text += fmt.Sprintf(" and %d more", len(said)-mostPinned)
	}
	verb := "are not as was agreed to"
	if pins.Mode == lock.Hold {
		verb = "are held back until a person agrees to them"
		for i := range e.held {
			e.held[i].Why += fmt.Sprintf("; once a person has looked at it, %s offers it again", pins.AcceptCommand(e.held[i].Key.Verbatim()))
		}
	}
	e.pinned = fmt.Sprintf("%d of its %s %s: %s; workbench lock --diff %s says more",
		len(why), k.noun(), verb, text, shellword.Word(l.origin.Toolbox))
}

// mostPinned is of how many entries of a list it is said in one note what has changed.
const mostPinned = 5

// hold takes entries out of a list, each with why.
func (e *list) hold(passing []Item, why map[string]string) {
	e.shown = make([]Item, 0, len(passing))
	for _, it := range passing {
		words, held := why[it.Key.Verbatim()]
		if !held {
			e.shown = append(e.shown, it)
			continue
		}
		e.held = append(e.held, Held{it, words})
	}
}

// Changes returns how the definitions of the server have changed since they were first known, and how they differ from
// what was agreed to. said is nil where that is not known.
func (l *Lists) Changes(said *Said) (changes []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range Kinds() {
		if text := l.lists[k].drift.say(k); text != "" {
			changes = append(changes, text)
		}
	}
	if pins := &l.rules.Pins; pins.Mode != "" && pins.Mode != lock.Off && said != nil {
		changes = append(changes, l.pinNotesLocked(said)...)
	}
	return changes
}

// pinNotesLocked says what is not as was agreed to.
func (l *Lists) pinNotesLocked(said *Said) (notes []string) {
	for _, it := range l.origin.says(said) {
		changes, err := l.rules.Pins.Judge(it.Kind, []lock.Item{it})
		if err != nil {
			break // each list says so
		}
		for i := range changes {
			notes = append(notes, fmt.Sprintf("%s: changed since the lock file was agreed to (%s)", it.Label(), strings.Join(changes[i].Words(false), "; ")))
		}
	}
	for _, k := range Pinnable() {
		if text := l.lists[k].pinned; text != "" && !slices.Contains(notes, text) {
			notes = append(notes, text)
		}
	}
	return notes
}

// Audited gives what a server says of itself and offers, for who looks for what is odd in it. said is nil where that is
// not known.
func (l *Lists) Audited(name string, said *Said) audit.Server {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := audit.Server{Name: name, Loosened: l.loosened}
	if said != nil && said.instructs() {
		all.Texts = append(all.Texts, audit.Text{Label: "its instructions", Raw: said.Instructions})
	}
	for _, k := range Pinnable() {
		kind, _ := k.lockKind()
		for _, it := range l.lists[k].shown {
			t := audit.Text{Label: string(kind) + " " + lock.Quote(it.Key.Verbatim()), Raw: it.Raw}
			if k == Tools {
				t.Tool = it.Key.Verbatim()
			}
			all.Texts = append(all.Texts, t)
		}
	}
	return all
}
