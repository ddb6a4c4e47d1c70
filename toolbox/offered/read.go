package offered

import (
	"fmt"
	"strconv"
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Bounds of a list, against servers that never end one. Its bytes are bounded by the account of the server.
const (
	maxPages = 100
	maxItems = 10000
)

// Reading is a list as it was read.
type Reading struct {
	Items []Item
	Bad   int   // entries that were left out, as they cannot be used
	Err   error // why the list was not read to its end
	Cut   bool  // a page of it could not be had
	// Unread says that the server has more of the list than is known. A server that has no such list has nothing
	// unread.
	Unread bool
	// Fresh is for how long the list is good, where Dated says that the server has said so (specification 2026-07-28,
	// caching): that of the page that is good for the shortest time.
	Fresh time.Duration
	Dated bool
}

// Failed reports whether nothing of the list could be read.
func (r *Reading) Failed() bool { return r.Err != nil && len(r.Items) == 0 }

// Ask asks a server for a page of a list and has take make a [Page] of the result, which is valid only meanwhile.
type Ask func(method string, params []byte, take func(result []byte) (Page, error)) (Page, error)

// Read reads all pages of a list, of which there is room for some bytes. Entries that have no name, or one that an
// entry before them has, and those that are not usable, are left out and counted; a cursor that comes twice ends the
// list.
func Read(kind Kind, room int, usable func(Item) bool, ask Ask) (r Reading) {
	method, _ := kind.Method()
	seen, named := make(map[string]bool), make(map[foreign.Name]bool)
	cursor := ""
	for pages := 1; ; pages++ {
		fits, left := room, maxItems-len(r.Items)
		p, err := ask(method, listParams(cursor), func(result []byte) (Page, error) { return readPage(result, kind, fits, left) })
		if err != nil {
			r.Err, r.Cut = err, true
			return r
		}
		r.Bad += p.bad
		if p.dated && (!r.Dated || p.fresh < r.Fresh) {
			r.Fresh, r.Dated = p.fresh, true
		}
		for _, it := range p.items {
			if named[it.Key] || !usable(it) {
				r.Bad++
				continue
			}
			named[it.Key] = true
			r.Items = append(r.Items, it)
			room -= it.size()
		}
		cursor = p.next
		switch {
		case p.long > 0 && cursor != "":
			err = fmt.Errorf("%d entries and all pages after them were left out: of the lists of a server %d bytes are kept", p.long, account.Lists)
		case p.long > 0:
			err = fmt.Errorf("%d entries were left out: of the lists of a server %d bytes are kept", p.long, account.Lists)
		case p.more:
			err = fmt.Errorf("stopped after %d entries; the server has more", len(r.Items))
		case p.wide > maxCursor:
			err = fmt.Errorf("stopped after %d pages: the cursor of the last one has %d bytes; at most %d are sent back", pages, p.wide, maxCursor)
		case cursor == "":
			return r
		case seen[cursor]:
			err = fmt.Errorf("stopped after %d pages: the server repeated a cursor", pages)
		case pages == maxPages:
			err = fmt.Errorf("stopped after %d pages and %d entries; the server has more", pages, len(r.Items))
		default:
			seen[cursor] = true
			continue
		}
		r.Err = fmt.Errorf("%s: %w", method, err)
		return r
	}
}

func listParams(cursor string) []byte {
	if cursor == "" {
		return nil
	}
	return wire.NewObject(nil).Text("cursor", cursor).End()
}

// Page is a piece of a list.
type Page struct {
	items []Item
	size  int    // what they are charged for
	bad   int    // entries that cannot be used
	long  int    // entries for which there was no room
	more  bool   // there are more entries than a list may have
	next  string // the cursor of the page after it, unless it is too long
	wide  int    // how long it is
	fresh time.Duration
	dated bool // the server says for how long it is fresh
}

// maxFresh is the longest that a page is good for, in milliseconds.
const maxFresh = 1e10

// maxCursor is the longest cursor that is sent back, in bytes.
const maxCursor = 16 << 10

// readPage takes from a result what there is room for, and copies nothing else: a page may be as long as a message.
func readPage(raw []byte, kind Kind, room, count int) (p Page, err error) {
	var out [3]wire.Span
	whole := wire.Whole(raw)
	if err := wire.Find(raw, whole, []string{string(kind), "nextCursor", "ttlMs"}, out[:]); err != nil {
		return p, err
	}
	if ms, err := strconv.ParseFloat(string(raw[out[2].Start:out[2].End]), 64); err == nil {
		p.fresh, p.dated = time.Duration(min(max(ms, 0), maxFresh))*time.Millisecond, true
	}
	if !out[0].Present() || raw[out[0].Start] != '[' {
		return p, fmt.Errorf("the result has no list %q", kind)
	}
	wasted := 0 // the length of entries that were looked at and had no room: that takes time
	for e := range wire.Elements(raw, out[0]) {
		if p.more = len(p.items) == count; p.more {
			return p, nil
		}
		if e.End-e.Start > room-p.size-wasted {
			p.long++
			continue
		}
		item, ok := newItem(raw[e.Start:e.End], kind)
		switch {
		case !ok:
			p.bad++
		case item.size() > room-p.size:
			p.long++
			wasted += e.End - e.Start
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
