package offered

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/reshape"
)

// reshaped is what a tool has that is offered otherwise than its server has it.
type reshaped struct {
	token     []byte // of the name that the server knows it by
	arguments *reshape.Arguments
}

// reshapedBy gives tools as models can be given them and the configuration has them offered, and what is wrong with that.
func reshapedBy(tools []Item, rules []config.Tool) (shown []Item, notes []string) {
	if len(rules) == 0 {
		return Shown(tools), nil
	}
	names := make(map[string]bool, len(tools))
	for i := range tools {
		names[tools[i].Key.Verbatim()] = true
	}
	shown = slices.Clone(tools)
	for i := range rules {
		notes = append(notes, apply(&rules[i], shown, names)...)
	}
	return Shown(shown), notes
}

// apply puts the tool that a rule is for in its place.
func apply(rule *config.Tool, tools []Item, names map[string]bool) (notes []string) {
	for i := range tools {
		it := &tools[i]
		if it.as != nil || it.Key.Verbatim() != rule.Name {
			continue
		}
		r := reshape.Rule{Name: rule.Rename, Description: rule.Describe, Defaults: rule.Defaults, Hidden: rule.Hide}
		if names[r.Name] && r.Name != rule.Name {
			notes = append(notes, fmt.Sprintf("the tool %q keeps its name: there is another %q", it.Key, r.Name))
			r.Name = ""
		}
		raw, arguments, unknown := r.Definition(it.Raw)
		if unknown != nil {
			notes = append(notes, fmt.Sprintf("the tool %q has no parameters %s, which the configuration names", it.Key, strings.Join(unknown, ", ")))
		}
		if as, ok := readItem(raw, Tools); ok {
			as.mended, as.as = it.mended, &reshaped{it.Token(), arguments}
			names[as.Key.Verbatim()] = true
			*it = as.plain()
		}
		return notes
	}
	return append(notes, fmt.Sprintf("there is no tool %q, which the configuration names in tools", foreign.NewName(rule.Name)))
}
