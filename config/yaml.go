package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxAliased bounds the values that aliases add to a YAML file, so that a few lines do not become millions of servers.
const maxAliased = 100_000

// parseYAML reads one YAML document of the kinds that JSON has. Aliases stand for what they name.
func parseYAML(data []byte) (*node, *Fault) {
	var document, second yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&document); err != nil {
		return nil, yamlFault(err)
	}
	switch err := d.Decode(&second); {
	case err == nil:
		return nil, faultAt(position{second.Line, second.Column}, "want one YAML document, got a second", "")
	case !errors.Is(err, io.EOF):
		return nil, yamlFault(err)
	}
	r := yamlReader{inside: map[*yaml.Node]bool{}}
	n, fault := r.node(document.Content[0], 0)
	if fault != nil {
		return nil, fault
	}
	return n, nil
}

// yamlFault words an error of the YAML parser, which knows a line at best, and sometimes that of the block around it.
func yamlFault(err error) *Fault {
	if errors.Is(err, io.EOF) {
		return faultAt(position{1, 1}, "want an object, got an empty file", "")
	}
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if _, scanErr := fmt.Sscanf(text, "line %d:", &line); scanErr == nil {
		_, text, _ = strings.Cut(text, ": ")
	}
	return faultAt(position{line, 1}, "want YAML, got a mistake: "+text, "it may stand some lines further on")
}

// yamlReader turns YAML nodes into ours.
type yamlReader struct {
	inside  map[*yaml.Node]bool // the aliased nodes on the way to the current one
	aliased int                 // values read inside aliases
}

func (r *yamlReader) node(y *yaml.Node, depth int) (*node, *Fault) {
	at := position{y.Line, y.Column}
	if depth > maxDepth {
		return nil, faultAt(at, fmt.Sprintf("want at most %d levels, got more", maxDepth), "")
	}
	if len(r.inside) > 0 {
		if r.aliased++; r.aliased > maxAliased {
			return nil, faultAt(at, fmt.Sprintf("want at most %d values through aliases, got more", maxAliased), "")
		}
	}
	n := &node{at: at, text: y.Value}
	switch y.Kind {
	case yaml.AliasNode:
		if r.inside[y.Alias] {
			return nil, faultAt(at, "want an alias of something else, got "+quote(y.Value)+" inside itself", "")
		}
		r.inside[y.Alias] = true
		defer delete(r.inside, y.Alias)
		return r.node(y.Alias, depth)
	case yaml.MappingNode:
		n.kind = kindObject
		return r.mapping(n, y, depth)
	case yaml.SequenceNode:
		n.kind = kindArray
		for _, item := range y.Content {
			value, fault := r.node(item, depth+1)
			if fault != nil {
				return nil, fault
			}
			n.items = append(n.items, value)
		}
		return n, nil
	}
	return scalar(n, y)
}

func (r *yamlReader) mapping(n *node, y *yaml.Node, depth int) (*node, *Fault) {
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := y.Content[i]
		at := position{key.Line, key.Column}
		switch {
		case key.Kind != yaml.ScalarNode:
			return nil, faultAt(at, "want a name as key, got an alias, a list or a mapping", "")
		case key.ShortTag() == "!!merge":
			return nil, faultAt(at, "want a key, got the merge key <<", "use an alias for a whole value, or write the keys out")
		}
		value, fault := r.node(y.Content[i+1], depth+1)
		if fault != nil {
			return nil, fault
		}
		n.members = append(n.members, member{key.Value, at, value})
	}
	return n, nil
}

func scalar(n *node, y *yaml.Node) (*node, *Fault) {
	switch y.ShortTag() {
	case "!!str", "!!timestamp":
		n.kind = kindString
	case "!!int", "!!float":
		n.kind = kindNumber
		if err := y.Decode(&n.number); err != nil {
			return nil, faultAt(n.at, "want a number behind its tag, got something else", "")
		}
	case "!!bool":
		n.kind = kindBool
		n.text = strings.ToLower(y.Value)
		if n.text != "true" && n.text != "false" {
			return nil, faultAt(n.at, "want true or false behind its tag, got something else", "")
		}
	case "!!null":
		n.kind = kindNull
	default:
		return nil, faultAt(n.at, "want a string, number, boolean or null, got the tag "+quote(y.Tag), "")
	}
	return n, nil
}
