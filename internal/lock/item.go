package lock

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Kind is what an item is.
type Kind string

// The kinds of items, in the order in which they stand in a file.
const (
	Start        Kind = "start"        // how the server is started or reached
	Info         Kind = "serverInfo"   // what it calls itself
	Instructions Kind = "instructions" // what it says of its use
	Tool         Kind = "tool"
	Prompt       Kind = "prompt"
	Template     Kind = "resourceTemplate"
	Skill        Kind = "skill"
)

func kinds() []Kind { return []Kind{Start, Info, Instructions, Tool, Prompt, Template, Skill} }

// counted gives the members of an item that count; nil is all.
func (k Kind) counted() []string {
	switch k {
	case Info:
		return []string{"name", "title", "version", "description", "websiteUrl"}
	case Tool:
		return []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"}
	case Prompt:
		return []string{"name", "title", "description", "arguments"}
	case Template:
		return []string{"uriTemplate", "name", "title", "description", "mimeType", "annotations"}
	case Skill:
		return []string{"uri", "frontmatter", "resources"}
	}
	return nil
}

// naming is the member that holds the name of an item; "" for what a server has one of.
func (k Kind) naming() string {
	switch k {
	case Tool, Prompt:
		return "name"
	case Template:
		return "uriTemplate"
	case Skill:
		return "uri"
	}
	return ""
}

// Item is a thing that was agreed to, or that there is now.
type Item struct {
	Kind Kind
	Name foreign.Name // of a tool or prompt; the uriTemplate of a template, the uri of a skill
	Text []byte       // in canonical form
}

// NewItem makes an item of a valid JSON value, of which it keeps nothing.
func NewItem(k Kind, raw []byte) Item {
	it := Item{Kind: k, Text: canonical(k, raw)}
	it.Name = it.named()
	return it
}

// named finds the name of an item in its text.
func (it *Item) named() foreign.Name {
	key := it.Kind.naming()
	if key == "" {
		return foreign.Name{}
	}
	for _, m := range members(it.Text, wire.Whole(it.Text)) {
		if m.is(key) {
			name, _ := wire.Unquote(it.Text[m.val.Start:m.val.End])
			return foreign.NewName(name)
		}
	}
	return foreign.Name{}
}

// canonical gives the canonical form of an item. Members whose names differ from those that count in case alone count
// too: some clients do not tell them apart.
func canonical(k Kind, raw []byte) []byte {
	counted := k.counted()
	dst := make([]byte, 0, len(raw))
	if counted == nil || raw[0] != '{' {
		return appendCanonical(dst, raw, wire.Whole(raw), false)
	}
	all := slices.DeleteFunc(members(raw, wire.Whole(raw)), func(m member) bool {
		name, _ := wire.Unquote(m.key)
		return !slices.ContainsFunc(counted, func(c string) bool { return strings.EqualFold(c, name) })
	})
	slices.SortStableFunc(all, func(a, b member) int { return bytes.Compare(a.key, b.key) })
	dst = append(dst, '{')
	for i := range all {
		m := &all[i]
		dst = append(append(wire.Comma(dst), m.key...), ':')
		dst = appendCanonical(dst, raw, m.val, m.is("inputSchema") || m.is("outputSchema"))
	}
	return append(dst, '}')
}

// Digest is what stands in a file to show that a text is the one that was written.
func (it *Item) Digest() string {
	sum := sha256.Sum256(it.Text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Same reports whether two items say the same, but for dates in what they say in words.
func (it *Item) Same(other *Item) bool {
	return bytes.Equal(it.Text, other.Text) || bytes.Equal(undated(it), undated(other))
}

// Label says what an item is, for people: its kind, and its name if it has one.
func (it *Item) Label() string {
	switch it.Kind {
	case Start:
		return "how the server is started"
	case Info:
		return "what the server calls itself"
	case Instructions:
		return "the server's instructions"
	case Template:
		return "resource template " + Quote(it.Name.Verbatim())
	}
	return string(it.Kind) + " " + Quote(it.Name.Verbatim())
}

// Key is what an item is accepted by: its name, or its kind.
func (it *Item) Key() string {
	if it.Kind.naming() == "" {
		return string(it.Kind)
	}
	return it.Name.Verbatim()
}

// compareItems orders items as they stand in a file.
func compareItems(a, b Item) int {
	if by := slices.Index(kinds(), a.Kind) - slices.Index(kinds(), b.Kind); by != 0 {
		return by
	}
	return strings.Compare(a.Name.Verbatim(), b.Name.Verbatim())
}
