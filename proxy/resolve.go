package proxy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/proxy/meta"
	"github.com/mcp-workbench/workbench/toolbox"
)

// errUnknown says that a name means nothing, and never did in this session.
var errUnknown = errors.New("no such name")

// unclearError says that a name could mean several things, and what to say for each.
type unclearError struct {
	kind  toolbox.Kind
	name  string
	forms []string
}

func (e *unclearError) Error() string {
	forms := strings.Join(foreign.Quoted(e.forms), " or ")
	return fmt.Sprintf("%q could be several %s: say which as %s", foreign.NewName(e.name), e.kind, forms)
}

// goneError says that a name was that of something else before, and leads nowhere now.
type goneError struct {
	kind toolbox.Kind
	name string
	was  address
	now  string // what to say instead, if it is still there
}

func (e *goneError) Error() string {
	now := "gone"
	if e.now != "" {
		now = fmt.Sprintf("%q now", foreign.NewName(e.now))
	}
	return fmt.Sprintf("%q was a %s of server %q of toolbox %q earlier in this session,"+
		" and no other is called by that name; it is %s",
		foreign.NewName(e.name), strings.TrimSuffix(string(e.kind), "s"), e.was.server, e.was.toolbox, now)
}

// heldError says that what is meant is not offered, since nobody has agreed to it.
type heldError struct {
	kind toolbox.Kind
	to   route
}

func (e *heldError) Error() string {
	return fmt.Sprintf("%s %q of server %q is held back: %s", strings.TrimSuffix(string(e.kind), "s"),
		foreign.NewName(e.to.key), e.to.server.Toolbox+"/"+e.to.server.Name, e.to.held)
}

// A directory says what each name means in one list of the servers, tools or prompts: it is the one answer to who is
// meant. It is made anew with the routes and never changed, but for what it holds.
//
// Full names, which workbench derives from whose a tool is, come first, and lead to that server or nowhere. A name that
// a server has chosen means something only if it is no full name, if that server alone has it, and if it meant nothing
// else before in this session.
type directory struct {
	kind    toolbox.Kind
	spaces  *spaces
	claims  *claims
	shown   map[identity]string // what clients see
	derived map[string][]route  // by exposed names; of several none is meant
	claimed map[string][]route  // by servers' own names, where clients see these
	bare    map[bareName][]route
	items   map[fullName]route
	apps    map[string][]route // of servers that have apps, by the servers' own names
}

// bareName is what servers call a tool, in one toolbox.
type bareName struct{ toolbox, key string }

// fullName is whose a tool is, and what its server calls it.
type fullName struct {
	address
	key string
}

// newDirectory names all items. plain reports whether the items of a server keep the names that it gives them, where
// that can be.
func newDirectory(
	kind toolbox.Kind, sp *spaces, c *claims, items []route, plain func(*toolbox.Server) bool,
) *directory {
	d := &directory{
		kind: kind, spaces: sp, claims: c,
		shown:   make(map[identity]string, len(items)),
		derived: make(map[string][]route, len(items)),
		claimed: make(map[string][]route),
		bare:    make(map[bareName][]route),
		items:   make(map[fullName]route, len(items)),
	}
	for _, to := range items {
		of := addressOf(to.server)
		if _, twice := d.items[fullName{of, to.key}]; twice {
			continue // the first stands
		}
		d.items[fullName{of, to.key}] = to
		if kind == toolbox.Tools && !sp.direct { // no others are called with their toolbox beside them
			in := bareName{of.toolbox, to.key}
			d.bare[in] = beside(d.bare[in], to)
		}
		name := d.exposed(to, "")
		d.derived[name] = append(d.derived[name], to)
		if plain(to.server) && len(to.key) <= toolbox.MaxName && sp.claimable(to.key) {
			d.claimed[to.key] = beside(d.claimed[to.key], to)
		}
	}
	for _, to := range items {
		if id := to.identity(); d.shown[id] == "" {
			d.shown[id] = d.show(to)
		}
	}
	return d
}

// beside adds what has a name that a server has chosen. What is held back takes no name from what is offered, which comes
// first.
func beside(found []route, to route) []route {
	if to.held != "" && len(found) > 0 && found[0].held == "" {
		return found
	}
	return append(found, to)
}

// exposed gives the exposed name of an item; salt makes another one of it.
func (d *directory) exposed(to route, salt string) string {
	return toolbox.ExposedName(d.spaces.first(to.server.Toolbox), to.server.Name, to.key+salt)
}

// show chooses the name of an item that clients see: its server's own where that may be, else the derived one. Where
// this means something else already, for which a server must have sought a digest, another one is made.
func (d *directory) show(to route) string {
	of := addressOf(to.server)
	same := d.claimed[to.key]
	if len(same) == 1 && same[0].server == to.server && d.claims.free(exposedNames(d.kind), to.key, of) {
		return to.key
	}
	name := d.exposed(to, "")
	for salt := "\x00"; len(d.derived[name]) > 1 || d.claims.another(exposedNames(d.kind), name, of); salt += "\x00" {
		name = d.exposed(to, salt)
		d.derived[name] = append(d.derived[name], to)
	}
	return name
}

// give notes that a client is given the names of all items, and, if a toolbox is named, what its servers call their
// tools. It reports false if not all can be held; the directory is to be made anew then.
func (d *directory) give(box string) bool {
	ok := true
	for name, of := range d.claimed {
		if d.shown[of[0].identity()] == name {
			ok = d.claims.hold(exposedNames(d.kind), name, addressOf(of[0].server)) && ok
		}
	}
	for in, of := range d.bare {
		if in.toolbox == box && len(of) == 1 {
			d.claims.hold(bareNames(box), in.key, addressOf(of[0].server))
		}
	}
	return ok
}

// meant returns who is meant. Without a toolbox the name is one that clients see.
func (d *directory) meant(w want) (route, error) {
	to, err := d.find(w)
	if err == nil && to.held != "" {
		return route{}, &heldError{d.kind, to}
	}
	return to, err
}

func (d *directory) find(w want) (route, error) {
	if w.toolbox == "" {
		return d.seen(w.tool)
	}
	if to, ok := d.items[fullName{address{w.toolbox, w.server}, w.tool}]; ok {
		return to, nil
	}
	of, key, form := d.spaces.read(w.toolbox, w.tool)
	switch {
	case form == exposed:
		return d.seenIn(w)
	case form == parts && (w.server == "" || w.server == of.server):
		return d.of(of, key, w.tool)
	case w.server != "":
		return route{}, errUnknown
	}
	return d.alone(bareName{w.toolbox, w.tool})
}

// seen finds what clients see under a name.
func (d *directory) seen(name string) (route, error) {
	in := exposedNames(d.kind)
	found := d.derived[name]
	if len(found) > 1 || len(found) == 1 && !d.claims.another(in, name, addressOf(found[0].server)) {
		return d.single(name, found, true, d.seenAs)
	}
	return d.chosen(in, name, d.claimed[name], true, d.seenAs)
}

// seenIn finds what is meant in a toolbox by a name that begins as the exposed names of a server do.
func (d *directory) seenIn(w want) (route, error) {
	to, err := d.seen(w.tool)
	switch {
	case err == nil && to.server.Toolbox != w.toolbox:
		where := to.server.Toolbox
		return route{}, fmt.Errorf("%q is of toolbox %q, not of %q", foreign.NewName(w.tool), where, w.toolbox)
	case err == nil && w.server != "" && to.server.Name != w.server:
		return route{}, errUnknown
	}
	return to, err
}

// of finds an item of a server that is named in full; it may also be that the whole name is what the server calls it.
func (d *directory) of(of address, key, whole string) (route, error) {
	for _, key := range []string{key, whole} {
		if to, ok := d.items[fullName{of, key}]; ok {
			return to, nil
		}
	}
	return route{}, errUnknown
}

// alone finds the one server of a toolbox that has an item by a name of its own choice.
func (d *directory) alone(in bareName) (route, error) {
	return d.chosen(bareNames(in.toolbox), in.key, d.bare[in], !meta.Reserved(in.key), d.calledAs)
}

// chosen finds what is meant by a name that servers have chosen: what one alone has, and nobody had before it. may
// reports whether such a name can mean anything by itself; as gives the name to use instead.
func (d *directory) chosen(in scope, name string, found []route, may bool, as func(route) string) (route, error) {
	if len(found) == 1 && may {
		may = d.claims.hold(in, name, addressOf(found[0].server))
	}
	holder, isHeld := d.claims.holder(in, name)
	if !isHeld || len(found) > 1 || len(found) == 1 && holder == addressOf(found[0].server) {
		return d.single(name, found, may, as)
	}
	err := &goneError{kind: d.kind, name: name, was: holder}
	if to, ok := d.items[fullName{holder, name}]; ok {
		err.now = as(to)
	}
	return route{}, err
}

// single returns the one that was found, if it may be meant.
func (d *directory) single(name string, found []route, may bool, as func(route) string) (route, error) {
	switch {
	case len(found) == 0:
		return route{}, errUnknown
	case len(found) == 1 && may:
		return found[0], nil
	}
	err := &unclearError{kind: d.kind, name: name}
	for _, to := range found {
		err.forms = append(err.forms, as(to))
	}
	return route{}, err
}

// seenAs is how clients name an item.
func (d *directory) seenAs(to route) string { return d.shown[to.identity()] }

// calledAs is how an item is named, as briefly as can be, where its toolbox is named beside it.
func (d *directory) calledAs(to route) string {
	of := addressOf(to.server)
	in := bareName{of.toolbox, to.key}
	_, _, form := d.spaces.read(of.toolbox, to.key)
	if form == bare && !meta.Reserved(to.key) && len(d.bare[in]) == 1 && d.claims.free(bareNames(of.toolbox), to.key, of) {
		return to.key
	}
	short := of.server + "/" + to.key
	if read, key, form := d.spaces.read(of.toolbox, short); form == parts && read == of && key == to.key {
		return short
	}
	return of.toolbox + "/" + short
}

// names are all that clients see.
func (d *directory) names() (names []string) {
	for _, to := range d.items {
		if to.held == "" {
			names = append(names, d.shown[to.identity()])
		}
	}
	slices.Sort(names)
	return names
}
