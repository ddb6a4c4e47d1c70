package naming

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/toolbox"
)

// AliasScheme begins the uris that say whose a resource is.
const AliasScheme = "workbench://"

// runPrefix begins the uris of runs of workflows.
const runPrefix = AliasScheme + "runs/"

// isRun reports whether a uri is that of a run, which is the built-in workflow server's whoever lists it.
func isRun(uri string) bool {
	id, ok := strings.CutPrefix(uri, runPrefix)
	return ok && !strings.Contains(id, "/") // servers of a toolbox of that name have more behind it
}

// hasRuns reports whether a server is the built-in one of workflows. Where there are several, each has the same runs.
func hasRuns(srv *toolbox.Server) bool { return srv.Builtin() == config.BuiltinWorkflow }

// sameSchemes are those that clients know by their scheme: pages of apps and files of skills keep it. The authority of
// such a uri names its server.
func sameSchemes() []string { return []string{"ui://", "skill://"} }

func keepsScheme(uri string) bool {
	return slices.ContainsFunc(sameSchemes(), func(scheme string) bool { return strings.HasPrefix(uri, scheme) })
}

// mark is the authority that says whose a uri of one of the sameSchemes is.
func mark(of Address) string {
	sum := sha256.Sum256([]byte(of.Toolbox + "\x00" + of.Server))
	return "wb-" + hex.EncodeToString(sum[:markBytes])
}

const markBytes = 8

// isMarked reports whether a uri has such an authority.
func isMarked(uri string) bool {
	for _, scheme := range sameSchemes() {
		rest, is := strings.CutPrefix(uri, scheme+"wb-")
		digits, _, ok := strings.Cut(rest, "/")
		if _, err := hex.DecodeString(digits); is && ok && err == nil && len(digits) == 2*markBytes {
			return true
		}
	}
	return false
}

// PlaceURI is the uri by which a client reaches a server's resource where the uri does not lead there by itself.
func PlaceURI(srv *toolbox.Server, uri string) string {
	for _, scheme := range sameSchemes() {
		if rest, ok := strings.CutPrefix(uri, scheme); ok {
			return scheme + mark(AddressOf(srv)) + "/" + rest
		}
	}
	return AliasURI(AddressOf(srv), uri)
}

// OwnURI is what the server calls a resource that a client names by a uri which says whose it is, if it is this
// server's.
func OwnURI(of Address, uri string) (own string, ok bool) {
	if own, ok := strings.CutPrefix(uri, AliasURI(of, "")); ok {
		return own, true
	}
	for _, scheme := range sameSchemes() {
		if rest, ok := strings.CutPrefix(uri, scheme+mark(of)+"/"); ok {
			return scheme + rest, true
		}
	}
	return "", false
}

// AliasURI is a uri that says whose it is.
func AliasURI(of Address, uri string) string {
	return AliasScheme + url.PathEscape(of.Toolbox) + "/" + url.PathEscape(of.Server) + "/" + uri
}

// Places say which server each uri leads to. They are made anew with the routes and never changed, but for what is
// claimed.
//
// A uri leads to the one server that lists it. One that nobody lists leads to the server that alone lists something of
// its scheme and authority; if nobody does, to the only server with resources. What could be several servers' leads
// nowhere, and what led to a server leads to no other until the session ends.
type Places struct {
	claims  *Claims
	pages   []Identity                   // of apps
	owners  map[string][]*toolbox.Server // of uris and templates, as servers list them
	Aliases map[Identity]string          // under what those are listed that do not lead to their server by themselves
	origins map[string][]*toolbox.Server // that list something of a scheme and authority
	schemes map[string][]*toolbox.Server // that list something of a scheme
	wide    map[string][]*toolbox.Server // that have a template of any authority of a scheme
}

// NewPlaces makes the places of the pages of apps, and of uris and templates. The uris of a group, of one server, lead
// to it by themselves together or not at all.
func NewPlaces(c *Claims, pages, items []Identity, groups [][]Identity) *Places {
	p := &Places{
		claims:  c,
		pages:   pages,
		owners:  make(map[string][]*toolbox.Server),
		Aliases: make(map[Identity]string),
		origins: make(map[string][]*toolbox.Server),
		schemes: make(map[string][]*toolbox.Server),
		wide:    make(map[string][]*toolbox.Server),
	}
	items = slices.Concat(append(groups, pages, items)...)
	for _, it := range items {
		at := originOf(it.Key)
		add(p.owners, it.Key, it.Server)
		add(p.schemes, at.scheme, it.Server)
		if at.wide {
			add(p.wide, at.scheme, it.Server)
		} else {
			add(p.origins, at.origin, it.Server)
		}
	}
	for _, it := range items {
		if !p.leads(it.Server, it.Key) || !isAddress(it.Key) {
			p.Aliases[it] = PlaceURI(it.Server, it.Key)
		}
	}
	for _, group := range groups {
		if slices.ContainsFunc(group, func(it Identity) bool { return p.Aliases[it] != "" }) {
			for _, it := range group {
				p.Aliases[it] = PlaceURI(it.Server, it.Key)
			}
		}
	}
	return p
}

// Shown is the uri by which a client knows a server's resource.
func (p *Places) Shown(srv *toolbox.Server, uri string) string {
	if isRun(uri) && hasRuns(srv) {
		return uri
	}
	if alias, ok := p.Aliases[Identity{srv, uri}]; ok {
		return alias
	}
	around := p.around(originOf(uri))
	if slices.Contains(p.owners[uri], srv) || len(p.owners[uri]) == 0 && len(around) == 1 && around[0] == srv {
		return uri
	}
	return PlaceURI(srv, uri)
}

func add(to map[string][]*toolbox.Server, key string, srv *toolbox.Server) {
	if key != "" && !slices.Contains(to[key], srv) {
		to[key] = append(to[key], srv)
	}
}

// leads reports whether a uri that a server lists, or what is made of a template, leads there by itself.
func (p *Places) leads(srv *toolbox.Server, uri string) bool {
	of, at := AddressOf(srv), originOf(uri)
	holder, held := p.claims.holder(uris(), uri)
	switch {
	case isRun(uri):
		i := slices.IndexFunc(p.owners[uri], hasRuns)
		return i >= 0 && p.owners[uri][i] == srv // The others list it under aliases.
	case IsAlias(uri):
		return false
	case held && holder == of && keepsScheme(uri):
		return true // it did before another server came that has the same
	case len(p.owners[uri]) > 1:
		return false
	case !p.claims.free(uris(), uri, of) || p.claims.another(origins(), at.origin, of):
		return false
	case at.wide:
		return len(p.schemes[at.scheme]) == 1
	case at.template:
		return len(p.around(at)) == 1
	}
	return true
}

// Give notes that a client is given the uris of all items. It reports false if not all can be held; the places are to
// be made anew then.
func (p *Places) Give() bool {
	ok := true
	for uri, of := range p.owners {
		if !isRun(uri) && p.Aliases[Identity{of[0], uri}] == "" {
			ok = p.claims.hold(uris(), uri, AddressOf(of[0])) && ok
		}
	}
	return ok
}

// GivePages notes that a client is given the uris of pages in the definitions of tools, as give does for lists of
// resources.
func (p *Places) GivePages() bool { return p.HoldAll(p.pages) }

// HoldAll notes that a client is given uris.
func (p *Places) HoldAll(items []Identity) bool {
	ok := true
	for _, it := range items {
		if p.Aliases[it] == "" {
			ok = p.claims.hold(uris(), it.Key, AddressOf(it.Server)) && ok
		}
	}
	return ok
}

// around returns the servers that list something where a uri is.
func (p *Places) around(at site) []*toolbox.Server {
	found := slices.Clone(p.origins[at.origin])
	for _, srv := range p.wide[at.scheme] {
		if !slices.Contains(found, srv) {
			found = append(found, srv)
		}
	}
	return found
}

// Find returns the server that a uri leads to; there are others beside it. Of several that could have the uri none is
// returned but all in the error.
func (p *Places) Find(uri string, others []*toolbox.Server) (*toolbox.Server, error) {
	if isRun(uri) {
		if i := slices.IndexFunc(others, hasRuns); i >= 0 {
			return others[i], nil
		}
		return nil, ErrUnknown
	}
	at := originOf(uri)
	found := p.owners[uri]
	in, name := uris(), uri
	if holder, held := p.claims.holder(in, uri); held && keepsScheme(uri) {
		if i := slices.IndexFunc(found, func(srv *toolbox.Server) bool { return AddressOf(srv) == holder }); i >= 0 {
			return found[i], nil
		}
	}
	if len(found) == 0 {
		found = p.around(at)
		in, name = origins(), at.origin
	}
	if len(found) == 0 {
		for _, srv := range others {
			if srv.Offers(toolbox.Resources) {
				found = append(found, srv)
			}
		}
	}
	if len(found) == 1 {
		of := AddressOf(found[0])
		other := p.claims.another(uris(), uri, of) || p.claims.another(origins(), at.origin, of)
		if !other && p.claims.hold(in, name, of) {
			return found[0], nil
		}
	}
	if len(found) == 0 {
		return nil, ErrUnknown
	}
	return nil, errSeveral(found)
}

// maxTold is how many servers an error names.
const maxTold = 8

// errSeveral says how to say which server is meant by a uri.
func errSeveral(found []*toolbox.Server) error {
	var forms []string
	for _, srv := range found[:min(len(found), maxTold)] {
		forms = append(forms, AliasURI(AddressOf(srv), ""))
	}
	return fmt.Errorf("several servers may have it; put %s in front to say which one", strings.Join(forms, " or "))
}

// Knows reports whether a uri by itself can be a server's: it was, or leads there, or led nowhere else.
func (p *Places) Knows(srv *toolbox.Server, uri string) bool {
	if isRun(uri) {
		return hasRuns(srv)
	}
	if IsAlias(uri) {
		return false // also where a server lists it, since it says whose it is
	}
	of := AddressOf(srv)
	if holder, ok := p.claims.holder(uris(), uri); ok {
		return holder == of
	}
	if owners := p.owners[uri]; len(owners) > 0 {
		return len(owners) == 1 && owners[0] == srv
	}
	return !p.claims.another(origins(), originOf(uri).origin, of)
}

// IsAlias reports whether a uri says whose it is. That is for workbench to say, so no server has such uris.
func IsAlias(uri string) bool {
	return !isRun(uri) && (isMarked(uri) || len(uri) >= len(AliasScheme) && strings.EqualFold(uri[:len(AliasScheme)], AliasScheme))
}

// site is where a uri is, or what is made of a template.
type site struct {
	scheme, origin string // as file: and file:///, in lower case; "" for what has no scheme
	template       bool
	wide           bool // it may be of any authority, so there is no origin
}

// isAddress reports whether a uri is one for every client. Some refuse a whole list for one without a scheme, or without
// the host that its scheme needs. A template is text for all of them.
func isAddress(uri string) bool {
	if strings.Contains(uri, "{") {
		return true
	}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme == "" {
		return false
	}
	return u.Host != "" || !slices.Contains([]string{"http", "https", "ws", "wss", "ftp"}, u.Scheme)
}

// originOf finds the scheme of a uri, with its authority if it has one.
func originOf(uri string) site {
	literal, _, template := strings.Cut(uri, "{")
	scheme, rest, ok := strings.Cut(literal, ":")
	if !ok {
		return site{template: template}
	}
	at := site{scheme: strings.ToLower(scheme) + ":", template: template}
	if authority, ok := strings.CutPrefix(rest, "//"); ok {
		end := strings.IndexAny(authority, "/?#")
		at.wide = template && end < 0
		if end < 0 {
			end = len(authority)
		}
		at.origin = at.scheme + "//" + strings.ToLower(authority[:end]) + "/"
	} else {
		at.wide = template && len(rest) < len("//") && strings.HasPrefix("//", rest)
		at.origin = at.scheme
	}
	if at.wide {
		at.origin = ""
	}
	return at
}

// Alias is under what a server's resource is listed, if that does not lead there by itself.
func (p *Places) Alias(srv *toolbox.Server, uri string) (alias string, ok bool) {
	alias, ok = p.Aliases[Identity{srv, uri}]
	return alias, ok
}

// NamesOf are the uris by which the client may know a resource of a server: its own, if that may lead there, and the
// one that says whose it is.
func (p *Places) NamesOf(srv *toolbox.Server, own string) []string {
	names := []string{PlaceURI(srv, own)}
	if p.Knows(srv, own) {
		names = append(names, own)
	}
	return names
}

// ShowPage notes that the client reads a page of a server's app, which may call from now on.
func (p *Places) ShowPage(srv *toolbox.Server) { p.claims.showPage(AddressOf(srv)) }
