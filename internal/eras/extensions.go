package eras

import (
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// Identifiers of the extensions of revision 2026-07-28 that are more to workbench than members of a message.
const (
	Tasks  = "io.modelcontextprotocol/tasks"
	Apps   = "io.modelcontextprotocol/ui"
	Skills = "io.modelcontextprotocol/skills"
)

// HasExtension reports whether capabilities, those of a client or of a server, declare an extension.
func HasExtension(capabilities []byte, name string) bool {
	return wire.Get(capabilities, wire.Whole(capabilities), "extensions", name) != nil
}

// WithExtension gives capabilities that declare an extension besides what they declare already. The extension has no
// settings unless they give it some.
func WithExtension(capabilities []byte, name string) []byte {
	if HasExtension(capabilities, name) || !isObject(capabilities, wire.Whole(capabilities)) {
		return capabilities
	}
	member := append(wire.AppendQuote(nil, name), ":{}"...)
	extensions, err := wire.FindPath(capabilities, wire.Whole(capabilities), "extensions")
	if err == nil && isObject(capabilities, extensions) {
		return wire.Splice(nil, capabilities, without(capabilities, extensions, member)...)
	}
	edits := without(capabilities, wire.Whole(capabilities), append(append([]byte(`"extensions":{`), member...), '}'), "extensions")
	return wire.Splice(nil, capabilities, edits...)
}

// NameMember is the member of a request's params that the header Mcp-Name repeats, "" for a method whose requests have
// no such header (specification 2026-07-28, streamable HTTP, standard headers; extension tasks, routing headers).
func NameMember(method string) string {
	switch method {
	case "tools/call", "prompts/get":
		return "name"
	case "resources/read":
		return "uri"
	case "tasks/get", "tasks/update", "tasks/cancel":
		return "taskId"
	}
	return ""
}

// IsOfTasks reports whether a request is one of the extension tasks, or of the tasks of revision 2025-11-25.
func IsOfTasks(method string) bool { return strings.HasPrefix(method, "tasks/") }
