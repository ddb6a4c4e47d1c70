package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// A yamlReader makes nodes of a YAML document.
type yamlReader struct {
	faults *Faults
	nodes  int
	open   map[*yaml.Node]bool // aliases being expanded, to refuse cycles
}

// readYAML parses data. YAML that cannot be read is one fault, and then there is no node.
func readYAML(data []byte, fs *Faults) *Node {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var document yaml.Node
	if err := dec.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			fs.Add(&Node{Line: 1, Column: 1}, "", "the file is empty")
			return nil
		}
		line, reason := yamlError(err)
		fs.Add(&Node{Line: line, Column: 1}, "", "not valid YAML: %s", reason)
		return nil
	}
	var second yaml.Node
	switch err := dec.Decode(&second); {
	case err == nil:
		fs.Add(&Node{Line: second.Line, Column: second.Column}, "", "the file holds more than one YAML document")
		return nil
	case !errors.Is(err, io.EOF):
		line, reason := yamlError(err)
		fs.Add(&Node{Line: line, Column: 1}, "", "not valid YAML: %s", reason)
		return nil
	}
	r := &yamlReader{faults: fs, open: map[*yaml.Node]bool{}}
	n, err := r.value(document.Content[0], 0)
	if err != nil {
		fs.Add(n, "", "%v", err)
		return nil
	}
	return n
}

// yamlError takes the line out of the text of a YAML error, the only place where the library tells it.
func yamlError(err error) (line int, reason string) {
	reason = strings.TrimPrefix(err.Error(), "yaml: ")
	rest, ok := strings.CutPrefix(reason, "line ")
	if !ok {
		return 1, reason
	}
	digits, rest, ok := strings.Cut(rest, ": ")
	line, err = strconv.Atoi(digits)
	if !ok || err != nil {
		return 1, reason
	}
	if strings.HasSuffix(rest, "cannot start any token") {
		rest += "; indent with spaces, not tabs, and put quotes around a text that begins with @, ` or %"
	}
	return line, rest
}

// value converts y. On an error the Node only says where.
func (r *yamlReader) value(y *yaml.Node, depth int) (*Node, error) {
	n := &Node{Line: y.Line, Column: y.Column}
	if depth > maxDepth {
		return n, errDeep
	}
	if r.nodes++; r.nodes > maxNodes {
		return n, errMany
	}
	switch y.Kind {
	case yaml.AliasNode:
		if r.open[y.Alias] {
			return n, errors.New("the alias *" + y.Value + " contains itself")
		}
		r.open[y.Alias] = true
		defer delete(r.open, y.Alias)
		target, err := r.value(y.Alias, depth)
		if err != nil {
			return n, err
		}
		at := *target
		at.Line, at.Column = y.Line, y.Column
		return &at, nil
	case yaml.SequenceNode:
		n.Kind = Array
		for _, item := range y.Content {
			v, err := r.value(item, depth+1)
			if err != nil {
				return v, err
			}
			n.Items = append(n.Items, v)
		}
		return n, nil
	case yaml.MappingNode:
		return r.mapping(n, y, depth)
	}
	return r.scalar(n, y)
}

func (r *yamlReader) mapping(n *Node, y *yaml.Node, depth int) (*Node, error) {
	n.Kind = Object
	seen := map[string]bool{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := y.Content[i]
		at := &Node{Line: key.Line, Column: key.Column}
		switch {
		case key.Kind != yaml.ScalarNode:
			return at, errors.New("keys must be plain strings")
		case key.ShortTag() == "!!merge":
			return at, errors.New("the merge key << is not for this file; use an alias for a whole value, or write the keys out")
		}
		value, err := r.value(y.Content[i+1], depth+1)
		if err != nil {
			return value, err
		}
		if seen[key.Value] {
			r.faults.Add(at, "", "key %q occurs twice in the same object", key.Value)
		}
		seen[key.Value] = true
		n.Members = append(n.Members, Member{Key: key.Value, Line: key.Line, Column: key.Column, Value: value})
	}
	return n, nil
}

var errTag = errors.New("the value does not fit its tag")

// scalar converts a plain or quoted scalar by the tag that YAML gives it. What JSON has no type for, such as a date,
// stays the text that is written.
func (r *yamlReader) scalar(n *Node, y *yaml.Node) (*Node, error) {
	n.Kind, n.Value = Text, y.Value
	switch y.ShortTag() {
	case "!!null":
		n.Kind, n.Value = Null, ""
	case "!!bool":
		var b bool
		if err := y.Decode(&b); err != nil {
			return n, errTag // its own text quotes the value
		}
		n.Kind, n.Value = Boolean, strconv.FormatBool(b)
	case "!!int", "!!float":
		n.Kind = Number
		if json.Valid([]byte(y.Value)) {
			return n, nil
		}
		var f float64
		if err := y.Decode(&f); err != nil {
			return n, errTag
		}
		if math.IsInf(f, 0) || math.IsNaN(f) {
			return n, errors.New("the number " + y.Value + " has no JSON form")
		}
		n.Value = strconv.FormatFloat(f, 'g', -1, 64)
	case "!!str", "!!timestamp", "!!binary":
	default:
		return n, errors.New("the tag " + strconv.Quote(y.Tag) + " has no JSON form")
	}
	return n, nil
}
