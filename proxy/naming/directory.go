package naming

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/proxy/meta"
	"github.com/mcp-workbench/workbench/toolbox"
)

// ErrUnknown says that a name means nothing, and never did in this session.
var ErrUnknown = errors.New("no such name")

// unclearError says that a name could mean several things, and what to say for each.
type unclearError struct {
	kind  toolbox.Kind
	name  string
	forms []string
}

func (e *unclearError) Error() string {
	forms := strings.Join(foreign.Quoted(e.forms), " or ")
	if len(e.forms) == 1 {
		return fmt.Sprintf("%q could mean something else too: say it as %s", foreign.NewName(e.name), forms)
	}
	return fmt.Sprintf("%q could be several %s: say which as %s", foreign.NewName(e.name), e.kind, forms)
}

// goneError says that a name was that of something else before, and leads nowhere now.
type goneError struct {
	kind toolbox.Kind
	name string
	was  Address
	now  string // what to say instead, if it is still there
}

func (e *goneError) Error() string {
	now := "gone"
	if e.now != "" {
		now = fmt.Sprintf("%q now", foreign.NewName(e.now))
	}
	return fmt.Sprintf("%q was a %s of server %q of toolbox %q earlier in this session,"+
		" and no other is called by that name; it is %s",
		foreign.NewName(e.name), strings.TrimSuffix(string(e.kind), "s"), e.was.Server, e.was.Toolbox, now)
}

// HeldError says that what is meant is not offered, since nobody has agreed to it.
type HeldError struct {
	kind toolbox.Kind
	to   Route
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s %q of server %q is held back: %s", strings.TrimSuffix(string(e.kind), "s"),
		foreign.NewName(e.to.Key), e.to.Server.Toolbox+"/"+e.to.Server.Name, e.to.Held)
}

// A directory says what each name means in one list of the servers, tools or prompts: it is the one answer to who is
// meant. It is made anew with the routes and never changed, but for what it holds.
//
// Full names, which workbench derives from whose a tool is, come first, and lead to that server or nowhere. A name that
// a server has chosen means something only if it is no full name, if that server alone has it, and if it meant nothing
// else before in this session.
type Directory struct {
	kind    toolbox.Kind
	spaces  *Spaces
	claims  *Claims
	Shown   map[Identity]string // what clients see
	derived map[string][]Route  // by exposed names; of several none is meant
	claimed map[string][]Route  // by servers' own names, where clients see these
	bare    map[bareName][]Route
	items   map[fullName]Route
	apps    map[string][]Route // of servers that have apps, by the servers' own names
}

// bareName is what servers call a tool, in one toolbox.
type bareName struct{ toolbox, key string }

// fullName is whose a tool is, and what its server calls it.
type fullName struct {
	Address
	key string
}

// NewDirectory names all items. plain reports whether the items of a server keep the names that it gives them, where
// that can be.
func NewDirectory(
	kind toolbox.Kind, sp *Spaces, c *Claims, items []Route, plain func(*toolbox.Server) bool,
) *Directory {
	d := &Directory{
		kind: kind, spaces: sp, claims: c,
		Shown:   make(map[Identity]string, len(items)),
		derived: make(map[string][]Route, len(items)),
		claimed: make(map[string][]Route),
		bare:    make(map[bareName][]Route),
		items:   make(map[fullName]Route, len(items)),
	}
	for _, to := range items {
		of := AddressOf(to.Server)
		if _, twice := d.items[fullName{of, to.Key}]; twice {
			continue // the first stands
		}
		d.items[fullName{of, to.Key}] = to
		if kind == toolbox.Tools && !sp.direct { // no others are called with their toolbox beside them
			in := bareName{of.Toolbox, to.Key}
			d.bare[in] = beside(d.bare[in], to)
		}
		name := d.exposed(to, "")
		d.derived[name] = append(d.derived[name], to)
		if plain(to.Server) && len(to.Key) <= toolbox.MaxName && sp.claimable(of, to.Key) {
			d.claimed[to.Key] = beside(d.claimed[to.Key], to)
		}
	}
	for _, to := range items {
		if id := to.Identity(); d.Shown[id] == "" {
			d.Shown[id] = d.show(to)
		}
	}
	return d
}

// beside adds what has a name that a server has chosen. What is held back takes no name from what is offered, which
// comes first.
func beside(found []Route, to Route) []Route {
	if to.Held != "" && len(found) > 0 && found[0].Held == "" {
		return found
	}
	return append(found, to)
}

// exposed gives the exposed name of an item; salt makes another one of it.
func (d *Directory) exposed(to Route, salt string) string {
	return toolbox.ExposedName(d.spaces.first(to.Server.Toolbox), to.Server.Name, to.Key+salt)
}

// show chooses the name of an item that clients see: its server's own where that may be and models take it, else the
// derived one. Where this means something else already, for which a server must have sought a digest, another one is
// made.
func (d *Directory) show(to Route) string {
	of := AddressOf(to.Server)
	taken := d.kind != toolbox.Tools || config.IsToolName(to.Key)
	if same := d.claimed[to.Key]; taken && len(same) == 1 && same[0].Server == to.Server && d.claims.free(exposedNames(d.kind), to.Key, of) {
		return to.Key
	}
	name := d.exposed(to, "")
	for salt := "\x00"; len(d.derived[name]) > 1 || d.claims.another(exposedNames(d.kind), name, of); salt += "\x00" {
		name = d.exposed(to, salt)
		d.derived[name] = append(d.derived[name], to)
	}
	return name
}

// Give notes that a client is given the names of all items, and, if a toolbox is named, what its servers call their
// tools. It reports false if not all can be held; the directory is to be made anew then.
func (d *Directory) Give(box string) bool {
	ok := true
	for name, of := range d.claimed {
		if d.Shown[of[0].Identity()] == name {
			ok = d.claims.hold(exposedNames(d.kind), name, AddressOf(of[0].Server)) && ok
		}
	}
	for in, of := range d.bare {
		if in.toolbox == box && len(of) == 1 {
			d.claims.hold(bareNames(box), in.key, AddressOf(of[0].Server))
		}
	}
	return ok
}

// Meant returns who is meant. Without a toolbox the name is one that clients see.
func (d *Directory) Meant(w Want) (Route, error) {
	to, err := d.find(w)
	if err == nil && to.Held != "" {
		return Route{}, &HeldError{d.kind, to}
	}
	return to, err
}

func (d *Directory) find(w Want) (Route, error) {
	if w.Toolbox == "" {
		return d.seen(w.Tool)
	}
	if to, ok := d.items[fullName{Address{w.Toolbox, w.Server}, w.Tool}]; ok {
		return to, nil
	}
	of, key, form := d.spaces.read(w.Toolbox, w.Tool)
	switch {
	case form == exposed:
		return d.seenIn(w)
	case form == parts && (w.Server == "" || w.Server == of.Server):
		return d.of(of, key, w.Tool)
	case w.Server != "":
		return Route{}, ErrUnknown
	}
	return d.alone(bareName{w.Toolbox, w.Tool})
}

// seen finds what clients see under a name.
func (d *Directory) seen(name string) (Route, error) {
	in := exposedNames(d.kind)
	found := d.derived[name]
	if len(found) > 1 || len(found) == 1 && !d.claims.another(in, name, AddressOf(found[0].Server)) {
		return d.single(name, found, true, d.seenAs)
	}
	return d.chosen(in, name, d.claimed[name], true, d.seenAs)
}

// seenIn finds what is meant in a toolbox by a name that begins as the exposed names of a server do.
func (d *Directory) seenIn(w Want) (Route, error) {
	to, err := d.seen(w.Tool)
	switch {
	case err == nil && to.Server.Toolbox != w.Toolbox:
		where := to.Server.Toolbox
		return Route{}, fmt.Errorf("%q belongs to toolbox %q, not to %q", foreign.NewName(w.Tool), where, w.Toolbox)
	case err == nil && w.Server != "" && to.Server.Name != w.Server:
		return Route{}, ErrUnknown
	}
	return to, err
}

// of finds an item of a server that is named in full; it may also be that the whole name is what the server calls it.
func (d *Directory) of(of Address, key, whole string) (Route, error) {
	for _, key := range []string{key, whole} {
		if to, ok := d.items[fullName{of, key}]; ok {
			return to, nil
		}
	}
	return Route{}, ErrUnknown
}

// alone finds the one server of a toolbox that has an item by a name of its own choice.
func (d *Directory) alone(in bareName) (Route, error) {
	return d.chosen(bareNames(in.toolbox), in.key, d.bare[in], !meta.Reserved(in.key), d.calledAs)
}

// chosen finds what is meant by a name that servers have chosen: what one alone has, and nobody had before it. may
// reports whether such a name can mean anything by itself; as gives the name to use instead.
func (d *Directory) chosen(in scope, name string, found []Route, may bool, as func(Route) string) (Route, error) {
	var holder Address
	var isHeld bool
	if len(found) == 1 && may {
		holder, isHeld = d.claims.take(in, name, AddressOf(found[0].Server))
		may = isHeld
	} else {
		holder, isHeld = d.claims.holder(in, name)
	}
	if !isHeld || len(found) > 1 || len(found) == 1 && holder == AddressOf(found[0].Server) {
		return d.single(name, found, may, as)
	}
	err := &goneError{kind: d.kind, name: name, was: holder}
	if to, ok := d.items[fullName{holder, name}]; ok {
		err.now = as(to)
	}
	return Route{}, err
}

// single returns the one that was found, if it may be meant.
func (d *Directory) single(name string, found []Route, may bool, as func(Route) string) (Route, error) {
	switch {
	case len(found) == 0:
		return Route{}, ErrUnknown
	case len(found) == 1 && may:
		return found[0], nil
	}
	err := &unclearError{kind: d.kind, name: name}
	for _, to := range found {
		err.forms = append(err.forms, as(to))
	}
	return Route{}, err
}

// seenAs is how clients name an item.
func (d *Directory) seenAs(to Route) string { return d.Shown[to.Identity()] }

// calledAs is what Called says of what a name may mean.
func (d *Directory) calledAs(to Route) string {
	of := AddressOf(to.Server)
	in := bareName{of.Toolbox, to.Key}
	_, _, form := d.spaces.read(of.Toolbox, to.Key)
	if form == bare && !meta.Reserved(to.Key) && len(d.bare[in]) == 1 && d.claims.free(bareNames(of.Toolbox), to.Key, of) {
		return to.Key
	}
	short := of.Server + "/" + to.Key
	if read, key, form := d.spaces.read(of.Toolbox, short); form == parts && read == of && key == to.Key {
		return short
	}
	return of.Toolbox + "/" + short
}

// Called is how an item is named, as briefly as can be, where its toolbox is named beside it.
func (d *Directory) Called(id Identity) string {
	return d.calledAs(Route{Server: id.Server, Key: id.Key})
}

// Names are all that clients see.
func (d *Directory) Names() (names []string) {
	for _, to := range d.items {
		if to.Held == "" {
			names = append(names, d.Shown[to.Identity()])
		}
	}
	slices.Sort(names)
	return names
}
