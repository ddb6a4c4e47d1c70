package amend

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// inJSON changes a text of JSON with comments.
func inJSON(data []byte, at Place, value *document.Node) ([]byte, error) {
	nl := newline(data)
	if empty(data, "json") {
		data = []byte("{}" + nl)
	}
	root, err := document.ParseJSON(data) // document.ReadSettings has read it, so it is not too deep
	if err != nil {
		return nil, err
	}
	e := jsonEdit{data: data, nl: nl, unit: unit(data, &root)}
	holder := &root
	for i, key := range at.Keys[:len(at.Keys)-1] {
		object, ok := holder.Value.(*hujson.Object)
		if !ok {
			return nil, ErrUnable
		}
		next := find(object, key)
		if next == nil || next.Value.Kind() == 'n' {
			if value == nil {
				return data, nil
			}
			made := wanted(nil, Place{Keys: at.Keys[i+1:], List: at.List}, value)
			if next != nil {
				return splice(data, next.StartOffset, next.EndOffset, e.text(made, e.indent(next.StartOffset))), nil
			}
			return e.insert(holder, key, made), nil
		}
		holder = next
	}
	if at.List {
		return nil, ErrUnable // no client has lists in JSON
	}
	object, ok := holder.Value.(*hujson.Object)
	if !ok {
		return nil, ErrUnable
	}
	for i := range object.Members {
		m := &object.Members[i]
		switch {
		case m.Name.Value.(hujson.Literal).String() != at.name():
		case value == nil:
			return e.remove(holder, i), nil
		default:
			return splice(data, m.Value.StartOffset, m.Value.EndOffset, e.text(value, e.indent(m.Name.StartOffset))), nil
		}
	}
	return e.insert(holder, at.name(), value), nil
}

// jsonEdit changes one text.
type jsonEdit struct {
	data     []byte
	nl, unit string // how lines end, and what a level is indented by
}

// valueAt returns where the value of a member begins and ends in a text of JSON.
func valueAt(data []byte, at Place) (start, end int, ok bool) {
	v, err := document.ParseJSON(data)
	if err != nil {
		return 0, 0, false
	}
	found := v.Find(document.Pointer(at.Keys...))
	if found == nil {
		return 0, 0, false
	}
	return found.StartOffset, found.EndOffset, true
}

func find(object *hujson.Object, key string) *hujson.Value {
	for i := range object.Members {
		if object.Members[i].Name.Value.(hujson.Literal).String() == key {
			return &object.Members[i].Value
		}
	}
	return nil
}

// unit returns what the first level of a text is indented by.
func unit(data []byte, root *hujson.Value) string {
	if object, ok := root.Value.(*hujson.Object); ok && len(object.Members) > 0 {
		start := object.Members[0].Name.StartOffset
		if begin := bytes.LastIndexByte(data[:start], '\n') + 1; begin > root.StartOffset && start > begin {
			if lead := string(data[begin:start]); strings.TrimLeft(lead, " \t") == "" {
				return lead
			}
		}
	}
	return "  "
}

// indent returns the space that the line of an offset begins with.
func (e jsonEdit) indent(offset int) string {
	begin := bytes.LastIndexByte(e.data[:offset], '\n') + 1
	end := begin
	for end < offset && (e.data[end] == ' ' || e.data[end] == '\t') {
		end++
	}
	return string(e.data[begin:end])
}

// insert puts a member behind the others of an object.
func (e jsonEdit) insert(holder *hujson.Value, key string, value *document.Node) []byte {
	object := holder.Value.(*hujson.Object)
	close := holder.EndOffset - 1
	end := len(bytes.TrimRight(e.data[:close], " \t\r\n")) // of what stands before the bracket
	pair := quote(key) + ": "
	if len(object.Members) == 0 {
		outer := e.indent(holder.StartOffset)
		return splice(e.data, end, close, e.nl+outer+e.unit+pair+e.text(value, outer+e.unit)+e.nl+outer)
	}
	first, last := &object.Members[0], &object.Members[len(object.Members)-1]
	comma := e.comma(last.Value.EndOffset, close)
	if !bytes.Contains(e.data[holder.StartOffset:first.Name.StartOffset], []byte("\n")) && !bytes.Contains(e.data[end:close], []byte("\n")) {
		line := value.AppendJSON(nil) // all of it stands on one line
		return splice(e.data, last.Value.EndOffset, last.Value.EndOffset, ", "+pair+string(line))
	}
	lead := e.indent(first.Name.StartOffset)
	text := e.nl + lead + pair + e.text(value, lead)
	if comma >= 0 { // as the others have it
		return splice(e.data, end, end, text+",")
	}
	out := splice(e.data, end, end, text)
	return splice(out, last.Value.EndOffset, last.Value.EndOffset, ",")
}

// comma returns the offset of the comma between a value and what ends at an offset, or -1.
func (e jsonEdit) comma(from, to int) int {
	for i := from; i < to; i++ {
		switch {
		case e.data[i] == ',':
			return i
		case bytes.HasPrefix(e.data[i:to], []byte("//")):
			if n := bytes.IndexByte(e.data[i:to], '\n'); n >= 0 {
				i += n
			} else {
				return -1
			}
		case bytes.HasPrefix(e.data[i:to], []byte("/*")):
			i += bytes.Index(e.data[i:to], []byte("*/")) + 1
		}
	}
	return -1
}

// remove takes the member of that number away, with its line and the comment behind it there.
func (e jsonEdit) remove(holder *hujson.Value, i int) []byte {
	object := holder.Value.(*hujson.Object)
	m := &object.Members[i]
	from, to := m.Name.StartOffset, m.Value.EndOffset
	limit := len(e.data)
	if i+1 < len(object.Members) {
		limit = object.Members[i+1].Name.StartOffset
	}
	trailing := -1
	if i+1 < len(object.Members) || object.Members[i].Value.AfterExtra != nil {
		if trailing = e.comma(to, limit); trailing >= 0 {
			to = trailing + 1
		}
	}
	if begin := len(bytes.TrimRight(e.data[:from], " \t")); begin > 0 && e.data[begin-1] == '\n' {
		line, _, _ := bytes.Cut(e.data[to:], []byte("\n"))
		if tail := bytes.TrimSpace(line); len(tail) == 0 || bytes.HasPrefix(tail, []byte("//")) {
			to += len(bytes.TrimRight(line, "\r"))
		}
		from = begin - 1
		if from > 0 && e.data[from-1] == '\r' {
			from--
		}
	} else if i == 0 {
		for to < limit && (e.data[to] == ' ' || e.data[to] == '\t') {
			to++
		}
	} else {
		from = begin
	}
	open, close := holder.StartOffset+1, holder.EndOffset-1
	if len(bytes.TrimSpace(e.data[open:from]))+len(bytes.TrimSpace(e.data[to:close])) == 0 {
		from, to = open, close
	}
	out := splice(e.data, from, to, "")
	if i > 0 && i == len(object.Members)-1 && trailing < 0 {
		if comma := e.comma(object.Members[i-1].Value.EndOffset, from); comma >= 0 {
			out = splice(out, comma, comma+1, "")
		}
	}
	return out
}

// text lays a value out: an object has a line for each member, a list is on one line.
func (e jsonEdit) text(n *document.Node, indent string) string {
	if n.Kind != document.Object || len(n.Members) == 0 {
		return line(n)
	}
	var b strings.Builder
	b.WriteByte('{')
	for i, m := range n.Members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(e.nl + indent + e.unit + quote(m.Key) + ": " + e.text(m.Value, indent+e.unit))
	}
	b.WriteString(e.nl + indent + "}")
	return b.String()
}

// quote returns a string as JSON, YAML and TOML read it.
func quote(s string) string { return string(wire.AppendQuote(nil, s)) }
