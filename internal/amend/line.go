package amend

import (
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
)

// line lays a value out on one line, which JSON and YAML read.
func line(n *document.Node) string {
	var parts []string
	switch n.Kind {
	case document.Array:
		for _, item := range n.Items {
			parts = append(parts, line(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case document.Object:
		for _, m := range n.Members {
			parts = append(parts, quote(m.Key)+": "+line(m.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return string(n.AppendJSON(nil))
}
