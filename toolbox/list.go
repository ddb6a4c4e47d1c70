package toolbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

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
)

// Bounds of a list, against servers that never end one.
const (
	maxPages = 100
	maxItems = 10000
)

// Item is one entry of a list as the server gave it.
type Item struct {
	Server *Server
	// Key is what the server knows it by: the name of a tool or prompt, the
	// uri of a resource, the uriTemplate of a template.
	Key string
	// Raw is the entry; KeySpan is where the token of Key stands in it.
	Raw     []byte
	KeySpan wire.Span
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
	default:
		return h.Capabilities.Resources != nil
	}
}

// list reads all pages of a list. Entries that have no name, or one that an entry before them has, and tools that
// cannot be used, are left out and counted; a cursor that comes twice ends the list.
func (c *conn) list(ctx context.Context, kind Kind) (items []Item, bad int, err error) {
	method, key := kind.method()
	seen, named := make(map[string]bool), make(map[string]bool)
	cursor := ""
	for page := 0; ; page++ {
		if page == maxPages {
			return items, bad, fmt.Errorf("%s: stopped after %d pages and %d entries; the server has more", method, page, len(items))
		}
		raw, err := c.page(ctx, method, c.listParams(cursor))
		if err != nil {
			return items, bad, err
		}
		var out [2]wire.Span
		whole := wire.Span{Start: 0, End: len(raw)}
		if err := wire.Find(raw, whole, []string{string(kind), "nextCursor"}, out[:]); err != nil {
			return items, bad, fmt.Errorf("%s: %w", method, err)
		}
		if !out[0].Present() || raw[out[0].Start] != '[' {
			return items, bad, fmt.Errorf("%s: the result has no list %q", method, kind)
		}
		for e := range wire.Elements(raw, out[0]) {
			if len(items) == maxItems {
				return items, bad, fmt.Errorf("%s: stopped after %d entries; the server has more", method, len(items))
			}
			item, ok := newItem(c.server, raw[e.Start:e.End], key)
			if !ok || named[item.Key] || kind == Tools && !c.usable(item) {
				bad++
				continue
			}
			named[item.Key] = true
			items = append(items, item)
		}
		next, _ := wire.Unquote(raw[out[1].Start:out[1].End])
		if next == "" || seen[next] {
			return items, bad, nil
		}
		seen[next] = true
		cursor = next
	}
}

// listTries is how often a page of a list is asked for, and listRest how long
// is waited before the second time; it doubles.
const (
	listTries = 3
	listRest  = 200 * time.Millisecond
)

// page asks for a page of a list, and again if a remote server is in trouble:
// reading a list twice does no harm.
func (c *conn) page(ctx context.Context, method string, params []byte) ([]byte, error) {
	for try := 1; ; try++ {
		raw, err := c.call(ctx, method, params)
		var trouble *StatusError
		if err == nil || try == listTries || !errors.As(err, &trouble) || trouble.Status < http.StatusInternalServerError {
			return raw, err
		}
		rest := time.NewTimer(jitter(listRest << (try - 1)))
		select {
		case <-rest.C:
		case <-c.link.Done():
			rest.Stop()
			return nil, err
		case <-ctx.Done():
			rest.Stop()
			return nil, err
		}
	}
}

// usable reports whether a tool may be used over the link of the connection.
func (c *conn) usable(tool Item) bool {
	l, remote := c.link.(*httpLink)
	return !remote || !c.hello.Modern || l.mirror.note(tool)
}

func newItem(s *Server, raw []byte, key string) (Item, bool) {
	var out [1]wire.Span
	raw = bytes.Clone(raw)
	if raw[0] != '{' || wire.Find(raw, wire.Span{Start: 0, End: len(raw)}, []string{key}, out[:]) != nil || !out[0].Present() {
		return Item{}, false
	}
	name, ok := wire.Unquote(raw[out[0].Start:out[0].End])
	if !ok || name == "" {
		return Item{}, false
	}
	return Item{Server: s, Key: name, Raw: raw, KeySpan: out[0]}, true
}

func (c *conn) listParams(cursor string) []byte {
	if cursor == "" {
		return nil
	}
	return append(wire.AppendQuote([]byte(`{"cursor":`), cursor), '}')
}
