package workflowsrv

import (
	"context"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

type cachedList struct {
	catalogue *definition.Catalogue
	result    result
}

func runList(_ context.Context, s *service, _ arguments) (result, *fault) {
	c := s.catalogue()
	if last := s.lists.last.Load(); last != nil && last.catalogue == c {
		return last.result, nil
	}
	text := appendList(nil, c)
	fresh := &cachedList{catalogue: c, result: result{json: text, quoted: appendQuotedJSON(nil, text)}}
	s.lists.last.Store(fresh)
	return fresh.result, nil
}

// searchList gives the workflows that have all the words of a query and a tag: to programs as workflow_list does, without what is
// wrong with files, and to the model a line each.
func searchList(_ context.Context, s *service, a arguments, _ runs.Caller) (result, *fault) {
	query, f := a.text("query")
	if f != nil {
		return result{}, f
	}
	tag, f := a.text("tag")
	if f != nil {
		return result{}, f
	}
	c := s.catalogue()
	found := &definition.Catalogue{}
	var lines strings.Builder
	for _, e := range c.Entries {
		text := strings.ToLower(strings.Join(append([]string{e.ID, e.Name, e.Description, e.Category}, e.Tags...), " "))
		fits := tag == "" || e.Category == tag || slices.Contains(e.Tags, tag)
		for _, word := range strings.Fields(strings.ToLower(query)) {
			fits = fits && strings.Contains(text, word)
		}
		if fits {
			found.Entries = append(found.Entries, e)
			lines.WriteString(e.ID + ": " + e.Description + "\n")
		}
	}
	if len(found.Entries) == 0 {
		lines.WriteString("No workflow fits; workflow_list without arguments shows all.")
	}
	return result{json: appendList(nil, found), quoted: wire.AppendQuote(nil, strings.TrimSpace(lines.String()))}, nil
}

func appendList(dst []byte, c *definition.Catalogue) []byte {
	dst = append(dst, `{"workflows":[`...)
	for i, e := range c.Entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendSummary(dst, e)
	}
	dst = append(dst, ']')
	if len(c.Invalid) > 0 {
		dst = append(dst, `,"invalid":[`...)
		for i, f := range c.Invalid {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendInvalid(dst, f)
		}
		dst = append(dst, ']')
	}
	return append(appendUnreadable(dst, c), '}')
}

// appendSummary appends the members that every entry of a list has.
func appendSummary(dst []byte, e *definition.Entry) []byte {
	dst = appendObject(dst, "id", e.ID, "name", e.Name, "description", e.Description,
		"category", e.Category, "version", e.Version, "origin", string(e.Origin))
	dst = dst[:len(dst)-1] // the brace
	if len(e.Tags) > 0 {
		dst = appendStrings(append(dst, `,"tags":`...), e.Tags)
	}
	if len(e.Shadows) > 0 {
		dst = append(dst, `,"shadows":[`...)
		for i, p := range e.Shadows {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendObject(dst, "origin", string(p.Origin), "file", p.File)
		}
		dst = append(dst, ']')
	}
	if list := reasons(e.Warnings); len(list) > 0 {
		dst = appendStrings(append(dst, `,"warnings":`...), list)
	}
	return append(dst, '}')
}

func appendInvalid(dst []byte, f definition.Invalid) []byte {
	pairs := []string{"origin", string(f.Origin), "file", f.File}
	if f.ID != "" {
		pairs = append(pairs, "id", f.ID)
	}
	dst = appendObject(dst, pairs...)
	dst = append(dst[:len(dst)-1], `,"reasons":`...)
	return append(appendStrings(dst, reasons(f.Faults)), '}')
}

func appendUnreadable(dst []byte, c *definition.Catalogue) []byte {
	first := true
	for _, source := range c.Sources {
		if source.Err == "" {
			continue
		}
		if first {
			dst = append(dst, `,"unreadable":[`...)
		} else {
			dst = append(dst, ',')
		}
		first = false
		dst = appendObject(dst, "origin", string(source.Origin), "directory", source.Dir, "reason", source.Err)
	}
	if !first {
		dst = append(dst, ']')
	}
	return dst
}

// reasons words faults for an answer, at most maxReasons of them.
func reasons(faults []definition.Fault) []string {
	var list []string
	for i, f := range faults {
		if i == maxReasons {
			return append(list, "and more")
		}
		list = append(list, f.String())
	}
	return list
}
