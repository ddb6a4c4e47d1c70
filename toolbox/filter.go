package toolbox

import (
	"path"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/wire"
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

// onlyReads reports whether a tool says of itself that it changes nothing.
func (it *Item) onlyReads() bool {
	hint, err := wire.FindPath(it.Raw, wire.Span{Start: 0, End: len(it.Raw)}, "annotations", "readOnlyHint")
	return err == nil && string(it.Raw[hint.Start:hint.End]) == "true"
}

// Asks reports whether a person is to be asked before a call of a tool, by the configuration of its server; token is the name
// by which the server knows it, as a JSON string.
func (s *Server) Asks(token []byte) bool {
	rules := s.bounds.Load().approve
	if rules == nil {
		return false
	}
	tool, _ := wire.Unquote(token)
	for _, r := range rules {
		if Matches(r.Tools, tool) {
			return r.When == config.ApproveAlways || r.When == config.ApproveWrites && !s.onlyReads(tool)
		}
	}
	return false
}

// onlyReads reports whether the server has a tool of that name, or had when it was last seen, which says that it changes
// nothing. Its own list counts, as soon as that is known. What a tool says that is not as was agreed to counts for nothing.
func (s *Server) onlyReads(tool string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.disputed[tool] {
		return false
	}
	for _, list := range [][]Item{s.whole[Tools], s.before[Tools]} {
		if i := slices.IndexFunc(list, func(it Item) bool { return it.Key.Verbatim() == tool }); i >= 0 {
			return list[i].onlyReads()
		}
	}
	return false
}

// allowed reports whether a tool passes the filters of its server. Filters are
// exact names or globs; "!" before one excludes. A name passes if some
// including filter matches, or there is none, and no excluding one does.
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

// Matches compares a name with a pattern by path.Match, with "*" crossing the
// slashes that some tools have in their names.
func Matches(pattern, tool string) bool {
	if pattern == "*" || pattern == tool {
		return true
	}
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(tool, "/", "\x00"))
	return err == nil && ok
}
