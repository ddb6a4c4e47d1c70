package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Review says line by line what a configuration would have a program start, reach and read, for a person who is to
// decide whether to trust its file: each toolbox and server with all keys that it has, as they are written there,
// variables not put in, and what the keys of the top level are. It leaves out descriptions and comments, which do
// nothing, and the values of keys that hold secrets, unless variables make them. Each line is one line whatever the
// file holds, and hides no characters.
//
// It goes through the file and not through what was read of it, so that no key is forgotten. The error is a *[Error].
func (s *Source) Review() ([]string, error) {
	root, fault := parseTree(s.Path, s.Data)
	if fault != nil {
		fault.File = s.Path
		return nil, newError([]Fault{*fault})
	}
	var r review
	for _, m := range root.Members {
		switch {
		case ignored(m.Key):
		case m.Key == "toolboxes":
			for _, t := range m.Value.Members {
				r.toolbox(t)
			}
		default:
			r.add(0, "", m)
		}
	}
	names := map[string]bool{}
	variables(root, names)
	if len(names) > 0 {
		r.line(0, "variables of your environment that it reads: "+strings.Join(slices.Sorted(maps.Keys(names)), ", "))
	}
	return r.lines, nil
}

// variables collects the names of those that strings name; one of a literal ${ may be among them.
func variables(n *document.Node, names map[string]bool) {
	for rest := n.Value; n.Kind == document.Text; {
		_, after, found := strings.Cut(rest, "${")
		if !found {
			break
		}
		inside, _, _ := strings.Cut(after, "}")
		if name, _, _ := strings.Cut(inside, ":-"); isVariable(name) {
			names[name] = true
		}
		rest = after
	}
	for _, item := range n.Items {
		variables(item, names)
	}
	for _, m := range n.Members {
		variables(m.Value, names)
	}
}

type review struct{ lines []string }

func (r *review) line(depth int, text string) {
	r.lines = append(r.lines, strings.Repeat("  ", depth)+string(foreign.JSON([]byte(text))))
}

// add tells a key. in is what it is a key of: "server.", "toolbox." or, at the top level, "".
func (r *review) add(depth int, in string, m document.Member) {
	r.line(depth, fmt.Sprintf("%s: %s", name(m.Key), asWritten(in+m.Key, m.Value)))
}

func (r *review) toolbox(t document.Member) {
	if ignored(t.Key) {
		return
	}
	r.line(0, "toolbox "+text(t.Key))
	for _, m := range t.Value.Members {
		switch {
		case ignored(m.Key) || m.Key == "description":
		case m.Key == "mcpServers":
			for _, s := range m.Value.Members {
				r.server(s)
			}
		default:
			r.add(1, "toolbox.", m)
		}
	}
}

// server tells what is started first.
func (r *review) server(s document.Member) {
	if ignored(s.Key) {
		return
	}
	var first, others []document.Member
	for _, m := range s.Value.Members {
		switch m.Key {
		case "command", "args", "url", "builtin":
			first = append(first, m)
		default:
			others = append(others, m)
		}
	}
	r.line(1, "server "+text(s.Key))
	for _, m := range append(first, others...) {
		if !ignored(m.Key) {
			r.add(2, "server.", m)
		}
	}
}

// asWritten gives the value at a path as JSON, of a secret one what is not known to all. The whole path counts: the keys
// of maps, such as the names of variables and of secrets, are what the author of the file has chosen.
func asWritten(path string, n *document.Node) string {
	switch path {
	case "models.apiKey", "server.headers", "server.oauth.clientSecret", "server.oauth.privateKey", "server.oauth.identityProvider.clientSecret":
		return masked(n)
	}
	var parts []string
	switch n.Kind {
	case document.Text:
		return text(n.Value)
	case document.Array:
		for _, item := range n.Items {
			parts = append(parts, asWritten(path+"[]", item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case document.Object:
		for _, m := range n.Members {
			parts = append(parts, text(m.Key)+": "+asWritten(path+"."+m.Key, m.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case document.Null:
		return "null"
	}
	return n.Value
}

// masked is asWritten for values that are secret unless they name variables.
func masked(n *document.Node) string {
	switch {
	case n.Kind == document.Object:
		var parts []string
		for _, m := range n.Members {
			parts = append(parts, text(m.Key)+": "+masked(m.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case n.Kind == document.Text && strings.Contains(n.Value, "${"):
		return text(n.Value)
	}
	return "(a value)"
}

// name gives a key without quotation marks where it is a plain one.
func name(key string) string {
	if isVariable(key) {
		return key
	}
	return text(key)
}

// text gives a string as JSON has it, on one line.
func text(s string) string { return string(wire.MustEncode(s)) }
