package clients

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/foreign"
)

// Source is a file to read.
type Source struct {
	Client  *Client // whose file it is; nil if that is not known
	Path    string
	Data    []byte
	Project string // the folder of the project that the file belongs to; "" for a file of the user
	System  System
}

// Read returns the servers of a file, in its order, and what is to be said of the file as a whole. Each member of an
// entry is carried over or has a note. The error says where the file cannot be read.
func Read(src Source) ([]Entry, []Note, error) {
	var faults document.Faults
	name := src.Path
	if src.Client != nil { // some write JSON into a file of another ending
		name = "file." + strings.ToLower(string(src.Client.Format))
	}
	root := document.ReadSettings(name, src.Data, &faults)
	r := reader{Source: src, patterns: newPatterns()}
	if root == nil {
		return nil, nil, fmt.Errorf("%s:%d:%d: %s", src.Path, faults[0].Line, faults[0].Column, foreign.NewText(faults[0].Message))
	}
	for _, f := range faults {
		r.note(f.Line, "", foreign.NewText(f.Message).String()+"; the last one counts")
	}
	r.inputs(root.Get("inputs"))
	servers := r.find(root)
	r.all(servers, src.Project)
	if src.Client != nil && src.Client.Name == "claude-code" && src.Project == "" {
		if projects := root.Get("projects"); projects != nil {
			for _, m := range projects.Members {
				r.all(m.Value.Get("mcpServers"), m.Key)
			}
		}
	}
	if mcp := root.Get("mcp"); mcp != nil && src.Client != nil && (src.Client.Name == "gemini" || src.Client.Name == "qwen") {
		r.allowed(mcp)
	}
	return r.entries, r.notes, nil
}

// reader reads one file.
type reader struct {
	Source
	patterns *patterns
	entries  []Entry
	notes    []Note            // of the file
	prompted map[string]string // what the inputs of VS Code are for, by id

	// Of the entry that is being read:
	entry *Entry
}

// find returns the servers of a file: an object of entries, or a list.
func (r *reader) find(root *document.Node) *document.Node {
	if r.Client != nil {
		servers := root
		for _, key := range r.Client.Key {
			servers = servers.Get(key)
		}
		return inner(r.Client.Key[0], servers)
	}
	for _, key := range []string{"mcpServers", "servers", "context_servers", "mcp_servers", "amp.mcpServers", "mcp", "extensions"} {
		if servers := root.Get(key); servers != nil {
			return inner(key, servers)
		}
	}
	return nil
}

// inner returns the servers below mcp, which are below its servers in some files.
func inner(key string, servers *document.Node) *document.Node {
	if nested := servers.Get("servers"); key == "mcp" && nested != nil && nested.Kind == document.Object && !isEntry(nested) {
		return nested
	}
	return servers
}

// isEntry reports whether an object is the entry of one server, and not many.
func isEntry(n *document.Node) bool {
	for _, key := range []string{"command", "cmd", "url", "serverUrl", "httpUrl", "uri"} {
		if n.Get(key) != nil {
			return true
		}
	}
	return false
}

// inputs notes what the inputs of VS Code are for.
func (r *reader) inputs(list *document.Node) {
	r.prompted = map[string]string{}
	if list == nil {
		return
	}
	for _, input := range list.Items {
		r.prompted[input.Str("id")] = input.Str("description")
	}
}

// all reads the servers of one place.
func (r *reader) all(servers *document.Node, project string) {
	switch {
	case servers == nil || servers.Kind == document.Null:
		return
	case servers.Kind == document.Array:
		for _, item := range servers.Items {
			r.one(item.Str("name"), item.Line, item, project)
		}
	case servers.Kind == document.Object:
		for i, m := range servers.Members {
			if !twice(servers.Members[i+1:], m.Key) {
				r.one(m.Key, m.Line, m.Value, project)
			}
		}
	default:
		r.note(servers.Line, "", "the servers are not an object; they are left out")
	}
}

// twice reports whether a key comes again, as which it counts.
func twice(rest []document.Member, key string) bool {
	return slices.ContainsFunc(rest, func(m document.Member) bool { return m.Key == key })
}

// one reads an entry.
func (r *reader) one(name string, line int, n *document.Node, project string) {
	r.entry = &Entry{Name: name, File: r.Path, Line: line, Project: project}
	switch {
	case n.Kind != document.Object:
		r.note(line, name, "the entry is not an object; it is left out")
		return
	case name == "":
		r.note(line, "", "the entry has no name; it is left out")
		return
	}
	c := conversion{reader: r, project: Literal(project), server: &r.entry.Server}
	c.members(n)
	c.finish(n)
	r.patterns.secrets(r.entry, n)
	if s := r.entry.Server; s.Command == "" && s.URL == "" {
		r.notes = append(r.notes, r.entry.Notes...)
		if !c.refused {
			r.note(line, name, c.unreachable())
		}
		return
	}
	r.entries = append(r.entries, *r.entry)
}

// note says something of the file, or of a server that is left out.
func (r *reader) note(line int, server, message string) {
	r.notes = append(r.notes, Note{File: r.Path, Line: line, Server: shown(server), Message: message})
}

// allowed heeds which servers Gemini CLI uses of those that are there.
func (r *reader) allowed(mcp *document.Node) {
	for _, m := range mcp.Members {
		if m.Key != "allowed" && m.Key != "excluded" {
			continue
		}
		for i := range r.entries {
			e := &r.entries[i]
			if slices.Contains(mcp.Strs(m.Key), e.Name) == (m.Key == "excluded") {
				e.Server.Disabled = true
				e.Notes = append(e.Notes, Note{File: r.Path, Line: m.Line, Server: shown(e.Name),
					Message: "mcp." + m.Key + " leaves it out; it is disabled"})
			}
		}
	}
}
