package offered

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/alike"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/lock"
	"github.com/mcp-workbench/workbench/internal/logkey"
)

// Rules are what the configuration says of how lists are offered.
type Rules struct {
	Filters  []string      // of tools
	Tools    []config.Tool // how single tools are offered
	ReadOnly bool          // tools that do not say that they only read are left out
	Pins     lock.Pins
}

// RulesOf takes the rules from the configuration of a server.
func RulesOf(cfg *config.Server) Rules {
	return Rules{Filters: cfg.ToolFilters, Tools: cfg.Tools, ReadOnly: cfg.ReadOnly, Pins: cfg.Pins}
}

// Origin is the server whose lists are kept.
type Origin struct {
	Toolbox string
	Account *account.Account // charged for the lists
	Log     zerolog.Logger
	Texts   *alike.Pool // has the entries once that other servers have too
	// Hide puts names in the place of the secrets in a JSON value.
	Hide func([]byte) []byte
	// Inside says that the server is in this process: what it offers besides tools are files and runs of the user,
	// which come and go.
	Inside bool
	// Written is the entry of the server in the configuration.
	Written json.RawMessage
}

// Lists are what a server offers. They stay as they are while the server restarts, until they are read again.
type Lists struct {
	origin Origin

	mu    sync.Mutex
	rules Rules
	lists map[Kind]*list
	// loosened are the tools that said they only read when they were agreed to.
	loosened []string
	// disputed are the tools that are not as was agreed to, by the server's names: whether these only read is not
	// believed.
	disputed map[string]bool
}

// list is one of them. Its owner's lock guards it.
type list struct {
	whole  []Item // with what the filters and the pins leave out
	known  bool   // it was read, or is as it was last seen
	shown  []Item // what is offered
	held   []Held // what the pins leave out
	pinned string // what the pins have to say
	unread error  // why it could not be read to its end
	ended  bool   // reading it ended before, as it does each time: it is too long, or its pages have no end
	notes  []string
	size   int   // what the account is charged for it
	drift  drift // how it has changed since it was first known
	// before is what another program in the place of the server had, until the server's own list is read.
	before    []Item
	hasBefore bool
}

// New makes lists of which nothing is known.
func New(origin Origin, rules Rules) *Lists {
	l := &Lists{origin: origin, rules: rules, lists: make(map[Kind]*list)}
	for _, k := range Kinds() {
		l.lists[k] = new(list)
	}
	return l
}

// Items returns what is offered of a list. The slice must not be changed.
func (l *Lists) Items(k Kind) []Item {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lists[k].shown
}

// Held returns the entries of a list that its pins keep from being offered. The slice must not be changed.
func (l *Lists) Held(k Kind) []Held {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lists[k].held
}

// Drop forgets the lists that a server which has just started does not have, and what was odd about all of them.
func (l *Lists) Drop(has func(Kind) bool) {
	var changes []string
	l.mu.Lock()
	for _, k := range Kinds() {
		e := l.lists[k]
		e.notes = nil
		if has(k) {
			continue
		}
		changes = append(changes, l.driftLocked(k, l.passingLocked(k), nil))
		l.chargeLocked(e, nil)
		*e = list{drift: e.drift, before: e.before, hasBefore: e.hasBefore}
	}
	l.mu.Unlock()
	l.logDrift(changes...)
}

// Store keeps a list and reports whether what is offered of it differs from before.
func (l *Lists) Store(k Kind, r Reading) (differs bool) {
	changes, pinned := "", ""
	for i := range r.Items {
		r.Items[i].keepIn(l.origin.Texts)
	}
	l.mu.Lock()
	defer func() {
		l.mu.Unlock()
		l.logDrift(changes)
		if pinned != "" {
			l.origin.Log.Warn().Str(logkey.Detail, pinned).Msg("definitions differ from the lock file")
		}
	}()
	e := l.lists[k]
	e.notes, e.unread, e.ended = r.notes(k), r.unread(k), r.Err != nil && !r.Cut
	if r.Failed() && len(e.whole) > 0 {
		return false // keep what was known
	}
	if r.Cut {
		r.Items = withKnown(r.Items, e.whole, l.roomLocked(k))
	}
	if k == Tools && sameItems(r.Items, e.whole) {
		r.Items = e.whole // in another order they are no news, and stay as clients know them
	}
	before, known := l.passingLocked(k), e.known
	e.whole, e.known = r.Items, true
	switch {
	case known:
		changes = l.driftLocked(k, before, l.passingLocked(k))
	case e.hasBefore:
		changes = l.driftLocked(k, e.before, l.passingLocked(k))
	}
	e.before, e.hasBefore = nil, false
	l.chargeLocked(e, r.Items)
	last := *e
	l.sieveLocked(k)
	if e.pinned != last.pinned {
		pinned = e.pinned
	}
	return !slices.EqualFunc(last.shown, e.shown, sameItem) ||
		!slices.EqualFunc(last.held, e.held, func(a, b Held) bool { return sameItem(a.Item, b.Item) })
}

// withKnown adds to the pages that could be read what is known of the others, as far as there is room.
func withKnown(read, known []Item, room int) []Item {
	named := make(map[foreign.Name]bool)
	for i := range read {
		named[read[i].Key] = true
		room -= read[i].size()
	}
	for i := range known {
		if size := known[i].size(); !named[known[i].Key] && size <= room && len(read) < maxItems {
			read = append(read, known[i])
			room -= size
		}
	}
	return read
}

// unread says why a list could not be read to its end, nil if it could.
func (r *Reading) unread(k Kind) error {
	switch {
	case !r.Unread:
		return nil
	case r.Err == nil:
		return fmt.Errorf("its %s could not be read", k.noun())
	}
	return fmt.Errorf("its %s could not be read: %w", k.noun(), foreign.NewError(r.Err))
}

// notes say what is odd about a list that was read.
func (r *Reading) notes(k Kind) (notes []string) {
	switch {
	case r.Unread && r.Cut:
		notes = append(notes, r.unread(k).Error())
	case r.Unread && r.Err != nil:
		notes = append(notes, foreign.NewError(r.Err).Error())
	}
	if r.Bad > 0 {
		notes = append(notes, fmt.Sprintf("entries of %s that have no name or a repeated one, and were left out: %d", k, r.Bad))
	}
	mended := 0
	for i := range r.Items {
		if r.Items[i].mended {
			mended++
		}
	}
	if mended > 0 {
		notes = append(notes, fmt.Sprintf("definitions of %s that break the protocol, and are corrected for clients: %d", k, mended))
	}
	return notes
}

// Adjust has the lists offered by other rules.
func (l *Lists) Adjust(rules Rules) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rules = rules
	for k, e := range l.lists {
		if e.known {
			l.sieveLocked(k)
		}
	}
}

// Inherit takes over the lists of the server in whose place the server is, until they are read.
func (l *Lists) Inherit(from *Lists) {
	inherited := make(map[Kind][]Item)
	from.mu.Lock()
	for k, e := range from.lists {
		if e.known {
			inherited[k] = e.whole
		}
	}
	from.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, items := range inherited {
		l.lists[k].whole, l.lists[k].known = items, true
		l.sieveLocked(k)
	}
}

// Before takes in what another program in the place of the server had. It is not offered, but what tools said of
// themselves counts until the server's own are read.
func (l *Lists) Before(lists map[string][]json.RawMessage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range Kinds() {
		raw, has := lists[string(k)]
		items := Kept(raw, k, account.Lists)
		if k == Tools {
			items, has = filtered(items, l.rules.Filters, l.rules.ReadOnly), len(lists) > 0
		}
		l.lists[k].before, l.lists[k].hasBefore = items, has
	}
}

// Known gives the entries of all lists that were read to their ends, or as far as they ever are: of a list that is too
// long, what is offered is as good as all.
func (l *Lists) Known() map[Kind][]Item {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := make(map[Kind][]Item)
	for k, e := range l.lists {
		if e.known && (e.unread == nil || e.ended) {
			known[k] = e.whole
		}
	}
	return known
}

// Unread says why one of the lists could not be read to its end, nil if each could.
func (l *Lists) Unread(kinds ...Kind) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range kinds {
		if err := l.lists[k].unread; err != nil {
			return err
		}
	}
	return nil
}

// passingLocked gives a list without what the filters leave out.
func (l *Lists) passingLocked(k Kind) []Item {
	if k == Tools {
		return filtered(l.lists[k].whole, l.rules.Filters, l.rules.ReadOnly)
	}
	return l.lists[k].whole
}

// driftLocked notes how a list differs from the one before it, and returns what the log is to say of that.
func (l *Lists) driftLocked(k Kind, before, now []Item) string {
	if l.origin.Inside && k != Tools {
		return ""
	}
	return l.lists[k].drift.note(k, before, now)
}

func (l *Lists) logDrift(changes ...string) {
	for _, text := range changes {
		if text != "" {
			l.origin.Log.Info().Str(logkey.Detail, text).Msg("definitions differ from those seen last")
		}
	}
}

// chargeLocked charges the server's account for a list in place of the one before it.
func (l *Lists) chargeLocked(e *list, items []Item) {
	size := 0
	for i := range items {
		size += items[i].size()
	}
	l.origin.Account.Keep(size - e.size)
	e.size = size
}

// Room is how many bytes a list may have beside the others.
func (l *Lists) Room(k Kind) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.roomLocked(k)
}

func (l *Lists) roomLocked(k Kind) int {
	room := account.Lists
	for other, e := range l.lists {
		if other != k {
			room -= e.size
		}
	}
	return room
}

// OnlyReads reports whether the server has a tool of that name, or had when it was last seen, which says that it
// changes nothing. Its own list counts, as soon as that is known. What a tool says that is not as was agreed to counts
// for nothing.
func (l *Lists) OnlyReads(tool string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.disputed[tool] {
		return false
	}
	for _, list := range [][]Item{l.lists[Tools].whole, l.lists[Tools].before} {
		if i := slices.IndexFunc(list, func(it Item) bool { return it.Key.Verbatim() == tool }); i >= 0 {
			return list[i].onlyReads()
		}
	}
	return false
}

// LeftOut says why a tool or prompt that the server has is not offered; "" if it is, or if the server does not have it.
func (l *Lists) LeftOut(k Kind, key string) (why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.lists[k]
	for i := range e.whole {
		if it := &e.whole[i]; k == Tools && it.Key.Verbatim() == key {
			why = l.rules.against(it)
		}
	}
	for i := range e.held {
		if it := &e.held[i]; it.Key.Verbatim() == key {
			why = "it is held back: " + it.Why
		}
	}
	return why
}

// against says why the rules leave a tool out; "" if they do not.
func (r *Rules) against(it *Item) string {
	switch {
	case !allowed(r.Filters, it.Key.Verbatim()):
		return "toolFilters leave it out"
	case r.ReadOnly && !it.onlyReads():
		return `the server has "readOnly": true in the configuration, and the tool does not say that it only reads`
	}
	return ""
}

// Forget drops the lists, all but the tools that are not offered.
func (l *Lists) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, e := range l.lists {
		kept := list{held: e.held}
		for i := range e.whole {
			if k == Tools && l.rules.against(&e.whole[i]) != "" {
				kept.whole = append(kept.whole, e.whole[i])
			}
		}
		l.chargeLocked(e, kept.whole)
		kept.size = e.size
		*e = kept
	}
}

// Hidden returns how many tools the configuration leaves out, and what of it does, as the beginning of a sentence.
func (l *Lists) Hidden() (n int, by string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hiddenLocked()
}

func (l *Lists) hiddenLocked() (n int, by string) {
	e := l.lists[Tools]
	var filters, writes bool
	for i := range e.whole {
		if !allowed(l.rules.Filters, e.whole[i].Key.Verbatim()) {
			filters = true
		} else if l.rules.against(&e.whole[i]) != "" {
			writes = true
		}
	}
	switch {
	case !writes:
		by = "its toolFilters leave out"
	case !filters:
		by = `its "readOnly" leaves out`
	default:
		by = `its toolFilters and "readOnly" leave out`
	}
	return e.hidden(), by
}

func (e *list) hidden() int { return len(e.whole) - len(e.shown) - len(e.held) }

// Notes returns what is odd about the lists, and about how the configuration has them offered.
func (l *Lists) Notes() (notes []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range Kinds() {
		notes = append(notes, l.lists[k].notes...)
	}
	tools := l.lists[Tools]
	if n, by := l.hiddenLocked(); n > 0 && n == len(tools.whole) {
		notes = append(notes, fmt.Sprintf("%s all of its tools (%d)", by, n))
	}
	if len(tools.whole) > 0 && len(l.rules.Tools) > 0 {
		_, wrong := reshapedBy(l.passingLocked(Tools), l.rules.Tools)
		notes = append(notes, wrong...)
	}
	return notes
}
