package amend

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
)

// Place is where a member stands in a file.
type Place struct {
	File     string   // what errors call the file
	Language string   // "json", "yaml" or "toml"; "" has the ending of File decide: .yaml, .yml, .toml, and JSON else
	Keys     []string // what leads to the member, its own key last
	List     bool     // what holds it is a list of objects, of which each has its key as "name"
}

// ErrUnable says that a file cannot be changed without writing it anew.
var ErrUnable = errors.New("the file is written in a way that cannot be changed here; change it by hand")

// Set puts a value, as JSON, in place of the member's, or a new member behind the others. What is missing on the way to
// it is made. What a list or TOML holds is to be an object.
func Set(data []byte, at Place, value []byte) ([]byte, error) {
	v := document.ReadSettings("value.json", value, new(document.Faults))
	if v == nil || v.Kind != document.Object && (at.List || at.language() == "toml") {
		return nil, fmt.Errorf("the value is not an object: %.40q", value)
	}
	return change(data, at, v)
}

// Get returns the value of the member, nil where there is none.
func Get(data []byte, at Place) (*document.Node, error) {
	root, err := tree(bytes.TrimPrefix(data, []byte(mark)), at)
	if err != nil {
		return nil, err
	}
	return member(root, at), nil
}

// Move takes a member to another place, in JSON and YAML with the comments in it.
func Move(data []byte, from, to Place) ([]byte, error) {
	root, err := tree(data, from)
	if err != nil {
		return nil, err
	}
	value := member(root, from)
	if value == nil {
		return nil, fmt.Errorf("%s: there is no %s", from.File, strings.Join(from.Keys, "."))
	}
	out, err := Set(data, to, value.AppendJSON(nil))
	if err != nil {
		return nil, err
	}
	switch {
	case from.language() == "yaml":
		if out, err = carryYAML(data, from, out, to); err != nil {
			return nil, err
		}
	case from.language() == "json" && len(from.Keys) == len(to.Keys):
		if start, end, ok := valueAt(data, from); ok {
			if first, last, ok := valueAt(out, to); ok {
				out = splice(out, first, last, string(data[start:end]))
			}
		}
	}
	return Remove(out, from)
}

// Remove takes the member away. What is not there is no fault.
func Remove(data []byte, at Place) ([]byte, error) { return change(data, at, nil) }

// change does either, in a way that keeps all other bytes; a nil value is none.
func change(data []byte, at Place, value *document.Node) ([]byte, error) {
	data, marked := bytes.CutPrefix(data, []byte(mark))
	whole := func(text []byte) []byte {
		if marked {
			return append([]byte(mark), text...)
		}
		return bytes.Clone(text)
	}
	before, err := tree(data, at)
	if err != nil {
		return nil, err
	}
	if value == nil && member(before, at) == nil {
		return whole(data), nil
	}
	after := wanted(before, at, value)
	if at.language() == "toml" { // whose tables are put in at the end
		after = wanted(wanted(before, at, nil), at, value)
	}
	want := at.essence(after)
	ways := []func([]byte, Place, *document.Node) ([]byte, error){inJSON}
	switch at.language() {
	case "yaml":
		ways = []func([]byte, Place, *document.Node) ([]byte, error){inYAML, anewYAML}
	case "toml":
		ways = []func([]byte, Place, *document.Node) ([]byte, error){inTOML}
	}
	for _, way := range ways {
		out, err := way(data, at, value)
		if err != nil {
			continue
		}
		if got, err := tree(out, at); err == nil && at.essence(got) == want {
			return whole(out), nil
		}
	}
	return nil, fmt.Errorf("%s: %w", at.File, ErrUnable)
}

// mark may begin a text, and is no part of it.
const mark = "\xef\xbb\xbf"

func (p Place) language() string {
	if p.Language != "" {
		return p.Language
	}
	switch strings.ToLower(filepath.Ext(p.File)) {
	case ".yaml", ".yml":
		return "yaml"
	case ".toml":
		return "toml"
	}
	return "json"
}

func (p Place) name() string { return p.Keys[len(p.Keys)-1] }

// tree reads a file; an empty one is an empty object.
func tree(data []byte, at Place) (*document.Node, error) {
	if empty(data, at.language()) {
		return &document.Node{Kind: document.Object}, nil
	}
	var faults document.Faults
	n := document.ReadSettings("file."+at.language(), data, &faults)
	switch {
	case len(faults) > 0:
		return nil, fmt.Errorf("%s:%d:%d: %s", at.File, faults[0].Line, faults[0].Column, faults[0].Message)
	case n.Kind == document.Null:
		return &document.Node{Kind: document.Object}, nil
	case n.Kind != document.Object:
		return nil, fmt.Errorf("%s:%d: want an object", at.File, n.Line)
	}
	return n, nil
}

// empty reports whether a file holds nothing but space, or in YAML comments.
func empty(data []byte, language string) bool {
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && (language != "yaml" || line[0] != '#') {
			return false
		}
	}
	return true
}

// member returns the member's value, or nil.
func member(n *document.Node, at Place) *document.Node {
	for _, key := range at.Keys[:len(at.Keys)-1] {
		n = n.Get(key)
	}
	if !at.List {
		return n.Get(at.name())
	}
	if n != nil {
		for _, item := range n.Items {
			if item.Str("name") == at.name() {
				return item
			}
		}
	}
	return nil
}

// wanted returns the tree as it is to become.
func wanted(n *document.Node, at Place, value *document.Node) *document.Node {
	if n == nil || n.Kind == document.Null {
		n = &document.Node{Kind: document.Object}
		if at.List && len(at.Keys) == 1 {
			n.Kind = document.Array
		}
	}
	copied := *n
	if at.List && len(at.Keys) == 1 {
		copied.Items = nil
		for _, item := range n.Items {
			if item.Str("name") != at.name() {
				copied.Items = append(copied.Items, item)
			} else if value != nil {
				copied.Items = append(copied.Items, value)
				value = nil
			}
		}
		if value != nil {
			copied.Items = append(copied.Items, value)
		}
		return &copied
	}
	copied.Members = nil
	found := false
	for _, m := range n.Members {
		if m.Key == at.Keys[0] {
			found = true
			switch {
			case len(at.Keys) > 1:
				m.Value = wanted(m.Value, Place{Keys: at.Keys[1:], List: at.List}, value)
			case value == nil:
				continue
			default:
				m.Value = value
			}
		}
		copied.Members = append(copied.Members, m)
	}
	if !found && value != nil {
		made := value
		if len(at.Keys) > 1 {
			made = wanted(nil, Place{Keys: at.Keys[1:], List: at.List}, value)
		}
		copied.Members = append(copied.Members, document.Member{Key: at.Keys[0], Value: made})
	}
	return &copied
}

// essence gives what two files that say the same have in common.
func (p Place) essence(n *document.Node) string {
	n = pruned(n, p.Keys)
	if p.language() == "toml" {
		n = ordered(n)
	}
	return string(n.AppendJSON(nil))
}

// ordered brings the members of all tables, which may stand anywhere in TOML, into one order.
func ordered(n *document.Node) *document.Node {
	copied := *n
	copied.Members, copied.Items = slices.Clone(n.Members), slices.Clone(n.Items)
	slices.SortFunc(copied.Members, func(a, b document.Member) int { return strings.Compare(a.Key, b.Key) })
	for i := range copied.Members {
		copied.Members[i].Value = ordered(copied.Members[i].Value)
	}
	for i := range copied.Items {
		copied.Items[i] = ordered(copied.Items[i])
	}
	return &copied
}

// pruned leaves out what leads to a member and holds nothing, which TOML cannot say.
func pruned(n *document.Node, keys []string) *document.Node {
	copied := *n
	copied.Members = nil
	for _, m := range n.Members {
		if len(keys) > 1 && m.Key == keys[0] {
			m.Value = pruned(m.Value, keys[1:])
			if m.Value.Kind >= document.Array && len(m.Value.Members)+len(m.Value.Items) == 0 {
				continue
			}
		}
		copied.Members = append(copied.Members, m)
	}
	return &copied
}

// newline returns the line ends of a text.
func newline(data []byte) string {
	if bytes.Contains(data, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// splice puts text in place of data[from:to].
func splice(data []byte, from, to int, text string) []byte {
	return slices.Concat(data[:from], []byte(text), data[to:])
}
