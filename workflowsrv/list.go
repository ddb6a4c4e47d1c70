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
	if last := s.listed.Load(); last != nil && last.catalogue == c {
		return last.result, nil
	}
	text := listed(c)
	fresh := &cachedList{catalogue: c, result: result{json: text, quoted: wire.AppendQuote(nil, string(text))}}
	s.listed.Store(fresh)
	return fresh.result, nil
}

// searchList gives the workflows that have all the words of a query and a tag: to programs as workflow_list does,
// without what is wrong with files, and to the model a line each.
func searchList(_ context.Context, s *service, a arguments, _ runs.Caller) (result, *fault) {
	query, tag := a.text("query"), a.text("tag")
	if a.fault != nil {
		return result{}, a.fault
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
	return result{json: listed(found), quoted: wire.AppendQuote(nil, strings.TrimSpace(lines.String()))}, nil
}

// A listing is what workflow_list gives.
type listing struct {
	Workflows  []summary    `json:"workflows"`
	Invalid    []invalid    `json:"invalid,omitempty"`
	Unreadable []unreadable `json:"unreadable,omitempty"`
}

// A summary is what every list has of a workflow.
type summary struct {
	ID          string             `json:"id"`
	Name        string             `json:"name"`
	Description string             `json:"description"`
	Category    string             `json:"category"`
	Version     string             `json:"version"`
	Origin      definition.Origin  `json:"origin"`
	Tags        []string           `json:"tags,omitempty"`
	Shadows     []definition.Place `json:"shadows,omitempty"`
	Warnings    []string           `json:"warnings,omitempty"`
}

type invalid struct {
	definition.Place
	ID      string   `json:"id,omitempty"`
	Reasons []string `json:"reasons"`
}

type unreadable struct {
	Origin    definition.Origin `json:"origin"`
	Directory string            `json:"directory"`
	Reason    string            `json:"reason"`
}

func listed(c *definition.Catalogue) []byte {
	l := listing{Workflows: []summary{}}
	for _, e := range c.Entries {
		l.Workflows = append(l.Workflows, summarized(e))
	}
	for _, f := range c.Invalid {
		l.Invalid = append(l.Invalid, invalid{f.Place, f.ID, reasons(f.Faults)})
	}
	for _, source := range c.Sources {
		if source.Err != "" {
			l.Unreadable = append(l.Unreadable, unreadable{source.Origin, source.Dir, source.Err})
		}
	}
	return wire.MustEncode(l)
}

func summarized(e *definition.Entry) summary {
	return summary{e.ID, e.Name, e.Description, e.Category, e.Version, e.Origin, e.Tags, e.Shadows, reasons(e.Warnings)}
}

// reasons words faults for an answer, at most maxReasons of them.
func reasons(faults []definition.Fault) []string {
	list := []string{}
	for i, f := range faults {
		if i == maxReasons {
			return append(list, "and more")
		}
		list = append(list, f.String())
	}
	return list
}
