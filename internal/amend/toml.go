package amend

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/mcp-workbench/workbench/internal/document"
)

// inTOML changes the tables of a member: they are taken away where they stand, and put in again at the end.
func inTOML(data []byte, at Place, value *document.Node) ([]byte, error) {
	nl := newline(data)
	data, err := withoutTable(data, at)
	if err != nil || value == nil {
		return data, err
	}
	var b strings.Builder
	b.Write(data)
	if len(data) > 0 {
		if !bytes.HasSuffix(data, []byte("\n")) {
			b.WriteString(nl)
		}
		b.WriteString(nl)
	}
	var parts []string
	for _, key := range at.Keys {
		parts = append(parts, tomlKey(key))
	}
	head := "[" + strings.Join(parts, ".") + "]"
	if at.List {
		head = "[[" + strings.Join(parts[:len(parts)-1], ".") + "]]"
	}
	b.WriteString(head + nl)
	for _, m := range value.Members {
		b.WriteString(tomlKey(m.Key) + " = " + tomlValue(m.Value) + nl)
	}
	return []byte(b.String()), nil
}

// withoutTable takes the tables and keys of a member out of a text. Comments above the next table belong to that.
func withoutTable(data []byte, at Place) ([]byte, error) {
	var parser unstable.Parser
	parser.Reset(data)
	type span struct{ from, to int }
	var spans []span
	open, header := false, 0
	var table []string
	item := 0 // where the item of a list begins
	for parser.NextExpression() {
		e := parser.Expression()
		if e.Kind == unstable.Comment {
			continue
		}
		var key []string
		first := -1
		for it := e.Key(); it.Next(); {
			key = append(key, string(it.Node().Data))
			if first < 0 {
				first = int(it.Node().Raw.Offset)
			}
		}
		begin := bytes.LastIndexByte(data[:first], '\n') + 1
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			list := at.Keys[:len(at.Keys)-1]
			table = key
			part := !at.List && below(key, at.Keys) || at.List && e.Kind == unstable.Table && below(key, list)
			if open && !part {
				spans = append(spans, span{header, above(data, begin)})
				open = false
			}
			switch {
			case at.List && e.Kind == unstable.ArrayTable && slices.Equal(key, list):
				item = begin
			case !at.List && part && !open:
				open, header = true, begin
			}
		case unstable.KeyValue:
			whole := slices.Concat(table, key)
			switch {
			case open:
			case at.List:
				if slices.Equal(whole, slices.Concat(at.Keys[:len(at.Keys)-1], []string{"name"})) && string(e.Value().Data) == at.name() {
					open, header = true, item
				}
			case below(whole, at.Keys):
				end := len(data)
				if value := e.Value().Raw; value.Length > 0 && e.Value().Kind == unstable.String {
					end = int(value.Offset + value.Length)
				} else if n := bytes.IndexByte(data[first:], '\n'); n >= 0 {
					end = first + n
				}
				if n := bytes.IndexByte(data[end:], '\n'); n >= 0 {
					end += n + 1
				}
				spans = append(spans, span{begin, end})
			}
		}
	}
	if open {
		spans = append(spans, span{header, len(data)})
	}
	for i := len(spans) - 1; i >= 0; i-- {
		s := spans[i]
		if s.to == len(data) { // the blank line above goes with the last table
			s.from = len(bytes.TrimRight(data[:s.from], " \t\r\n"))
			if s.from > 0 {
				s.from += len(lineEnd(data[s.from:]))
			}
		}
		data = splice(data, s.from, s.to, "")
	}
	return data, parser.Error()
}

func lineEnd(data []byte) []byte { return data[:bytes.IndexByte(data, '\n')+1] }

// above returns where the comments begin that stand right above an offset, or the blank lines above these end.
func above(data []byte, offset int) int {
	for offset > 0 {
		begin := bytes.LastIndexByte(data[:offset-1], '\n') + 1
		if !bytes.HasPrefix(bytes.TrimSpace(data[begin:offset]), []byte("#")) {
			break
		}
		offset = begin
	}
	return offset
}

// below reports whether a key is another one, or in its table.
func below(key, of []string) bool {
	return len(key) >= len(of) && slices.Equal(key[:len(of)], of)
}

func tomlKey(key string) string {
	if regexp.MustCompile(`^[A-Za-z0-9_-]+$`).MatchString(key) {
		return key
	}
	return quote(key)
}

func tomlValue(n *document.Node) string {
	if n.Kind == document.Object {
		var parts []string
		for _, m := range n.Members {
			parts = append(parts, tomlKey(m.Key)+" = "+tomlValue(m.Value))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return line(n)
}
