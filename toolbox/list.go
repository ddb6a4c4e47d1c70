package toolbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/backoff"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Kind is one of the lists that a server offers.
type Kind string

// The lists of a server.
const (
	Tools     Kind = "tools"
	Resources Kind = "resources"
	Templates Kind = "resourceTemplates"
	Prompts   Kind = "prompts"
	Skills    Kind = "skills" // of the extension skills
)

func kinds() []Kind { return []Kind{Tools, Resources, Templates, Prompts, Skills} }

// Bounds of a list, against servers that never end one. Its bytes are bounded by the account of the server.
const (
	maxPages = 100
	maxItems = 10000
)

// Item is one entry of a list as the server gave it.
type Item struct {
	Server *Server
	// Key is what the server knows it by: the name of a tool or prompt, the
	// uri of a resource or skill, the uriTemplate of a template.
	Key foreign.Name
	// Raw is the entry; KeySpan is where the token of Key stands in it.
	Raw     []byte
	KeySpan wire.Span
	mended  bool      // the server gave it otherwise, see mended
	as      *reshaped // it is offered otherwise than the server has it; nil if it is not
}

// method gives the request that lists a kind, and the member that names an item.
func (k Kind) method() (method, key string) {
	switch k {
	case Resources:
		return "resources/list", "uri"
	case Templates:
		return "resources/templates/list", "uriTemplate"
	case Prompts:
		return "prompts/list", "name"
	case Skills:
		return "skills/list", "uri"
	default:
		return "tools/list", "name"
	}
}

// offers reports whether the server says that it has such a list.
func (h *hello) offers(k Kind) bool {
	switch k {
	case Tools:
		return h.Capabilities.Tools != nil
	case Prompts:
		return h.Capabilities.Prompts != nil
	case Skills:
		return eras.HasExtension(h.RawCapabilities, eras.Skills)
	default:
		return h.Capabilities.Resources != nil
	}
}

// list reads all pages of a list. Entries that have no name, or one that an entry before them has, and tools that
// cannot be used, are left out and counted; a cursor that comes twice ends the list.
func (c *conn) list(ctx context.Context, kind Kind) (items []Item, bad int, err error) {
	method, _ := kind.method()
	room := c.server.room(kind)
	seen, named := make(map[string]bool), make(map[foreign.Name]bool)
	cursor := ""
	for pages := 1; ; pages++ {
		p, err := c.page(ctx, kind, c.listParams(cursor), room, maxItems-len(items))
		if err != nil {
			return items, bad, err
		}
		bad += p.bad
		for _, it := range p.items {
			if named[it.Key] || kind == Tools && !c.usable(it) {
				bad++
				continue
			}
			named[it.Key] = true
			items = append(items, it)
			room -= it.size()
		}
		cursor = p.next
		switch {
		case p.long > 0:
			err = fmt.Errorf("%d entries were left out: of the lists of a server %d bytes are kept", p.long, account.Lists)
		case p.more:
			err = fmt.Errorf("stopped after %d entries; the server has more", len(items))
		case p.wide > maxCursor:
			err = fmt.Errorf("stopped after %d pages: the cursor of the last one has %d bytes; at most %d are sent back", pages, p.wide, maxCursor)
		case cursor == "":
			return items, bad, nil
		case seen[cursor]:
			err = fmt.Errorf("stopped after %d pages: the cursor of the last one came before", pages)
		case pages == maxPages:
			err = fmt.Errorf("stopped after %d pages and %d entries; the server has more", pages, len(items))
		default:
			seen[cursor] = true
			continue
		}
		return items, bad, fmt.Errorf("%s: %w", method, err)
	}
}

// page is a piece of a list.
type page struct {
	items []Item
	size  int    // what they are charged for
	bad   int    // entries that cannot be used
	long  int    // entries for which there was no room
	more  bool   // there are more entries than a list may have
	next  string // the cursor of the page after it, unless it is too long
	wide  int    // how long it is
}

// maxCursor is the longest cursor that is sent back, in bytes.
const maxCursor = 16 << 10

// readPage takes from a result what there is room for, and copies nothing else: a page may be as long as a message.
func (s *Server) readPage(raw []byte, kind Kind, room, count int) (p page, err error) {
	var out [2]wire.Span
	whole := wire.Span{Start: 0, End: len(raw)}
	if err := wire.Find(raw, whole, []string{string(kind), "nextCursor"}, out[:]); err != nil {
		return p, err
	}
	if !out[0].Present() || raw[out[0].Start] != '[' {
		return p, fmt.Errorf("the result has no list %q", kind)
	}
	for e := range wire.Elements(raw, out[0]) {
		if p.more = len(p.items) == count; p.more {
			return p, nil
		}
		if e.End-e.Start > room-p.size {
			p.long++
			continue
		}
		item, ok := newItem(s, raw[e.Start:e.End], kind)
		switch {
		case !ok:
			p.bad++
		case item.size() > room-p.size:
			p.long++
		default:
			p.items = append(p.items, item)
			p.size += item.size()
		}
	}
	if p.wide = out[1].End - out[1].Start; p.wide <= maxCursor {
		p.next, _ = wire.Unquote(raw[out[1].Start:out[1].End])
	}
	return p, nil
}

// listTries is how often a page of a list is asked for, and listRest how long
// is waited before the second time; it doubles.
const (
	listTries = 3
	listRest  = 200 * time.Millisecond
)

// page asks for a page of a list, and again if a remote server is in trouble:
// reading a list twice does no harm.
func (c *conn) page(ctx context.Context, kind Kind, params []byte, room, count int) (page, error) {
	method, _ := kind.method()
	for try := 1; ; try++ {
		p, err := consult(ctx, c, method, params, func(result []byte) (page, error) { return c.server.readPage(result, kind, room, count) })
		var trouble *StatusError
		if err == nil || try == listTries || !errors.As(err, &trouble) || trouble.Status < http.StatusInternalServerError {
			return p, err
		}
		rest := time.NewTimer(backoff.Jitter(listRest << (try - 1)))
		select {
		case <-rest.C:
		case <-c.link.Done():
			rest.Stop()
			return page{}, err
		case <-ctx.Done():
			rest.Stop()
			return page{}, err
		}
	}
}

// usable reports whether a tool may be used over the link of the connection.
func (c *conn) usable(tool Item) bool {
	l, remote := c.link.(*httpLink)
	return !remote || !c.hello.Modern || l.mirror.note(tool)
}

func newItem(s *Server, raw []byte, kind Kind) (Item, bool) {
	_, key := kind.method()
	var out [1]wire.Span
	raw, changed := bytes.Clone(raw), false
	if kind == Tools && raw[0] == '{' {
		raw, changed = mended(raw)
	}
	if raw[0] != '{' || wire.Find(raw, wire.Span{Start: 0, End: len(raw)}, []string{key}, out[:]) != nil || !out[0].Present() {
		return Item{}, false
	}
	name, ok := wire.Unquote(raw[out[0].Start:out[0].End])
	if !ok || name == "" {
		return Item{}, false
	}
	return Item{Server: s, Key: foreign.NewName(name), Raw: raw, KeySpan: out[0], mended: changed}, true
}

func (c *conn) listParams(cursor string) []byte {
	if cursor == "" {
		return nil
	}
	return append(wire.AppendQuote([]byte(`{"cursor":`), cursor), '}')
}
