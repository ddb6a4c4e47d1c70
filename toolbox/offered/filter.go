package offered

import (
	"path"
	"strings"
)

// filtered returns the tools that pass the filters and, where that is wanted, say that they only read.
func filtered(tools []Item, filters []string, readOnly bool) []Item {
	if len(filters) == 0 && !readOnly {
		return tools
	}
	kept := make([]Item, 0, len(tools))
	for _, it := range tools {
		if allowed(filters, it.Key.Verbatim()) && (!readOnly || it.onlyReads()) {
			kept = append(kept, it)
		}
	}
	return kept
}

// allowed reports whether a tool passes the filters of its server. Filters are exact names or globs; "!" before one
// excludes. A name passes if some including filter matches, or there is none, and no excluding one does.
func allowed(filters []string, tool string) bool {
	included, hasInclude := false, false
	for _, f := range filters {
		pattern, excludes := strings.CutPrefix(f, "!")
		if !excludes {
			hasInclude = true
		}
		if !Matches(pattern, tool) {
			continue
		}
		if excludes {
			return false
		}
		included = true
	}
	return included || !hasInclude
}

// Matches compares a name with a pattern by path.Match, with "*" crossing the slashes that some tools have in their
// names.
func Matches(pattern, tool string) bool {
	if pattern == "*" || pattern == tool {
		return true
	}
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(tool, "/", "\x00"))
	return err == nil && ok
}
