package amend

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/mcp-workbench/workbench/internal/document"
)

// inYAML changes the lines of a member.
func inYAML(data []byte, at Place, value *document.Node) ([]byte, error) {
	e := yamlLines(data)
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return e.insert(len(e.lines), e.block(at.Keys, at.List, value, 0)), nil
	}
	holder := doc.Content[0]
	for i, key := range at.Keys[:len(at.Keys)-1] {
		if holder.Kind != yaml.MappingNode || holder.Style&yaml.FlowStyle != 0 {
			return nil, ErrUnable
		}
		_, next := pair(holder, key)
		if next == nil {
			return e.insert(e.end(holder), e.block(at.Keys[i:], at.List, value, holder.Column-1)), nil
		}
		holder = next
	}
	if holder.Style&yaml.FlowStyle != 0 || len(holder.Content) == 0 {
		return nil, ErrUnable
	}
	switch {
	case at.List && holder.Kind == yaml.SequenceNode:
		for _, item := range holder.Content {
			if _, name := pair(item, "name"); name != nil && name.Value == at.name() {
				return e.replace(item.Line, e.indented(item.Line, item), holder, at, value)
			}
		}
		return e.insert(e.end(holder), e.block(at.Keys[len(at.Keys)-1:], true, value, e.dash(holder))), nil
	case !at.List && holder.Kind == yaml.MappingNode:
		if key, old := pair(holder, at.name()); key != nil {
			return e.replace(key.Line, e.indented(key.Line, old), holder, at, value)
		}
		return e.insert(e.end(holder), e.block(at.Keys[len(at.Keys)-1:], false, value, holder.Column-1)), nil
	}
	return nil, ErrUnable
}

// carryYAML puts the lines of a member of data in place of those that it has in out, so that its comments are there
// too.
func carryYAML(data []byte, from Place, out []byte, to Place) ([]byte, error) {
	old, first, last, value := memberLines(data, from)
	e, begin, end, _ := memberLines(out, to)
	if first > 0 && begin > 0 && from.name() == to.name() {
		shift := indentation(e.lines[begin-1]) - indentation(old.lines[first-1])
		lines := slices.Clone(e.lines[:begin-1])
		for _, line := range old.lines[first-1 : last] {
			if text := strings.TrimLeft(line, " "); strings.TrimSpace(text) != "" {
				line = strings.Repeat(" ", max(0, len(line)-len(text)+shift)) + text
			}
			lines = append(lines, line)
		}
		carried := []byte(strings.Join(append(lines, e.lines[end:]...), ""))
		want, err := tree(out, to)
		if err != nil {
			return nil, err
		}
		if got, err := tree(carried, to); err == nil && to.essence(got) == to.essence(want) {
			return carried, nil
		}
	}
	if value != nil && len(comments(value)) > 0 {
		return nil, ErrUnable
	}
	return out, nil
}

// memberLines returns the numbers of the first and the last line of a member, 0 if it shares them with others, and its
// value.
func memberLines(data []byte, at Place) (e yamlEdit, first, last int, value *yaml.Node) {
	var doc yaml.Node
	if at.List || yaml.Unmarshal(data, &doc) != nil || len(doc.Content) == 0 {
		return e, 0, 0, nil
	}
	e, value = yamlLines(data), doc.Content[0]
	for _, key := range at.Keys {
		holder := value
		name, next := pair(holder, key)
		if value = next; value == nil {
			return e, 0, 0, nil
		}
		if first, last = 0, 0; holder.Style&yaml.FlowStyle == 0 {
			first, last = name.Line, e.indented(name.Line, value)
		}
	}
	return e, first, last, value
}

// yamlLines takes a text apart into lines, each with an end.
func yamlLines(data []byte) yamlEdit {
	e := yamlEdit{nl: newline(data), lines: strings.SplitAfter(string(data), "\n")}
	if n := len(e.lines); e.lines[n-1] == "" {
		e.lines = e.lines[:n-1]
	} else {
		e.lines[n-1] += e.nl
	}
	return e
}

// yamlEdit changes lines.
type yamlEdit struct {
	nl    string
	lines []string // with their ends
}

// pair returns a key of a mapping and its value.
func pair(mapping *yaml.Node, key string) (k, v *yaml.Node) {
	if mapping.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i], mapping.Content[i+1]
		}
	}
	return nil, nil
}

// dash is how far the items of a sequence are indented.
func (e yamlEdit) dash(sequence *yaml.Node) int { return indentation(e.lines[sequence.Line-1]) }

// end returns the number of the last line of a node.
func (e yamlEdit) end(n *yaml.Node) int {
	last := n.Line
	for _, part := range n.Content {
		last = max(last, e.end(part))
	}
	if n.Kind == yaml.ScalarNode {
		last = e.indented(last, n)
	}
	return last
}

// indented returns the number of the last line that belongs to what begins in a line: those that are further indented.
func (e yamlEdit) indented(line int, n *yaml.Node) int {
	last := line
	for _, part := range n.Content {
		last = max(last, part.Line)
		if part.Kind != yaml.ScalarNode {
			last = max(last, e.indented(part.Line, part))
		}
	}
	for i := last; i < len(e.lines); i++ {
		text := strings.TrimSpace(e.lines[i])
		if text == "" {
			continue
		}
		if indentation(e.lines[i]) <= indentation(e.lines[line-1]) {
			break
		}
		last = i + 1
	}
	return last
}

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// replace puts a value in place of the lines of a member, which must not be the only one.
func (e yamlEdit) replace(from, to int, holder *yaml.Node, at Place, value *document.Node) ([]byte, error) {
	only := len(holder.Content) == 1 || holder.Kind == yaml.MappingNode && len(holder.Content) == 2
	if only && value == nil {
		return nil, ErrUnable
	}
	rest := append([]string{}, e.lines[:from-1]...)
	if value != nil {
		rest = append(rest, e.block(at.Keys[len(at.Keys)-1:], at.List, value, indentation(e.lines[from-1])))
	}
	return []byte(strings.Join(append(rest, e.lines[to:]...), "")), nil
}

// insert puts text behind a line.
func (e yamlEdit) insert(behind int, text string) []byte {
	return []byte(strings.Join(e.lines[:behind], "") + text + strings.Join(e.lines[behind:], ""))
}

// block lays a member out, below what leads to it.
func (e yamlEdit) block(keys []string, list bool, value *document.Node, indent int) string {
	var b strings.Builder
	for _, key := range keys[:len(keys)-1] {
		b.WriteString(strings.Repeat(" ", indent) + yamlKey(key) + ":" + e.nl)
		indent += 2
	}
	lead := strings.Repeat(" ", indent)
	if value.Kind != document.Object || len(value.Members) == 0 {
		return b.String() + lead + yamlKey(keys[len(keys)-1]) + ": " + yamlValue(value) + e.nl
	}
	if !list {
		b.WriteString(lead + yamlKey(keys[len(keys)-1]) + ":" + e.nl)
	}
	for i, m := range value.Members {
		switch {
		case list && i == 0:
			b.WriteString(lead + "- ")
		default:
			b.WriteString(lead + "  ")
		}
		if m.Value.Kind == document.Object && len(m.Value.Members) > 0 && !list {
			b.WriteString(strings.TrimLeft(e.block([]string{m.Key}, false, m.Value, indent+2), " "))
			continue
		}
		b.WriteString(yamlKey(m.Key) + ": " + yamlValue(m.Value) + e.nl)
	}
	return b.String()
}

// yamlKey writes a key, in quotes where it needs them.
func yamlKey(key string) string {
	if regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`).MatchString(key) && !regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null)$`).MatchString(key) {
		return key
	}
	return quote(key)
}

// yamlValue writes a value on one line; plain words without quotes.
func yamlValue(n *document.Node) string {
	if n.Kind == document.Text && yamlKey(n.Value) == n.Value {
		return n.Value
	}
	return line(n)
}

// anewYAML changes the nodes of a file and writes it anew.
func anewYAML(data []byte, at Place, value *document.Node) ([]byte, error) {
	nl := newline(data)
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) // else each comment would end with a carriage return
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil || len(doc.Content) == 0 {
		return nil, ErrUnable
	}
	holder, above := doc.Content[0], doc.Content[0]
	for i, key := range at.Keys[:len(at.Keys)-1] {
		fill(holder, above, yaml.MappingNode)
		name, next := pair(holder, key)
		if next == nil && (value == nil || holder.Kind != yaml.MappingNode) {
			return nil, ErrUnable
		}
		if next == nil {
			next = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"} // made what it is to be below
			if i < len(at.Keys)-2 {
				*next = yaml.Node{Kind: yaml.MappingNode}
			}
			name = &yaml.Node{Kind: yaml.ScalarNode, Value: key}
			unfold(holder, above)
			holder.Content = append(holder.Content, name, next)
		}
		holder, above = next, name
	}
	var made yaml.Node
	if value != nil {
		if err := yaml.Unmarshal(value.AppendJSON(nil), &made); err != nil {
			return nil, err
		}
		made = *made.Content[0]
		block(&made)
	}
	kind := yaml.MappingNode
	if at.List {
		kind = yaml.SequenceNode
	}
	fill(holder, above, kind)
	if value != nil {
		unfold(holder, above)
	}
	holder.Content = edited(holder, at, &made, value != nil)
	said := comments(&doc) // but for those of what is taken out
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(&doc); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil {
		return nil, err
	}
	for _, comment := range said {
		if !bytes.Contains(out.Bytes(), []byte(comment)) {
			return nil, ErrUnable
		}
	}
	return bytes.ReplaceAll(out.Bytes(), []byte("\n"), []byte(nl)), nil
}

// fill has a null become an empty mapping or sequence; the comment behind it then stands above its key.
func fill(n, key *yaml.Node, kind yaml.Kind) {
	if n.Tag == "!!null" {
		n.Kind, n.Tag, n.Value, n.Style = kind, "", "", yaml.FlowStyle
		unfold(n, key)
	}
}

// unfold has a mapping of one line have several; the comment behind it then stands above its key.
func unfold(n, key *yaml.Node) {
	if n.Style&yaml.FlowStyle != 0 && n.LineComment != "" {
		key.HeadComment = strings.TrimPrefix(key.HeadComment+"\n"+n.LineComment, "\n")
		n.LineComment = ""
	}
	n.Style &^= yaml.FlowStyle
}

// comments returns the lines of all comments.
func comments(n *yaml.Node) []string {
	var all []string
	for _, text := range []string{n.HeadComment, n.LineComment, n.FootComment} {
		for line := range strings.SplitSeq(text, "\n") {
			if line != "" {
				all = append(all, line)
			}
		}
	}
	for _, part := range n.Content {
		all = append(all, comments(part)...)
	}
	return all
}

// edited returns what a holder holds once a member is put in or taken out.
func edited(holder *yaml.Node, at Place, made *yaml.Node, put bool) []*yaml.Node {
	var content []*yaml.Node
	step := 2
	if at.List {
		step = 1
	}
	for i := 0; i+step <= len(holder.Content); i += step {
		name := holder.Content[i]
		if at.List {
			_, name = pair(holder.Content[i], "name")
		}
		if name == nil || name.Value != at.name() {
			content = append(content, holder.Content[i:i+step]...)
			continue
		}
		if put {
			content, put = append(content, holder.Content[i:i+step-1]...), false
			content = append(content, made)
		}
	}
	if put && !at.List {
		content = append(content, &yaml.Node{Kind: yaml.ScalarNode, Value: at.name()})
	}
	if put {
		content = append(content, made)
	}
	return content
}

// block has what was read from JSON be written in lines, but for lists.
func block(n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		n.Style = 0
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		n.Style = 0
	}
	for _, part := range n.Content {
		block(part)
	}
}
