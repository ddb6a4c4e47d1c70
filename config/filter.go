package config

import (
	"path"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
)

// readToolFilters reads the filters of a server. An empty list is refused: it may be meant as everything or as nothing.
func readToolFilters(o *object) []string {
	n, at, ok := o.take("toolFilters")
	if !ok {
		return nil
	}
	filters := o.c.list(n, at, false)
	if n.Kind == document.Array && len(n.Items) == 0 {
		o.c.fault(position{n.Line, n.Column}, at, "want at least one filter, got none", `write ["*"] for every tool, or "disabled": true for none`)
	}
	for _, v := range filters {
		pattern := strings.TrimPrefix(v.text, "!")
		if _, err := path.Match(pattern, ""); err != nil {
			o.c.reject(v, "want a glob of *, ? and [a-z]", `a \ makes the next character an ordinary one`)
		} else if pattern == "" {
			o.c.reject(v, "want the name of a tool or a glob", "")
		}
	}
	return texts(filters)
}
