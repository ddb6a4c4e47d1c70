package offered

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/reshape"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// reshaped is what a tool has that is offered otherwise than its server has it.
type reshaped struct {
	token     []byte // of the name that the server knows it by
	arguments *reshape.Arguments
}

// reshapedBy gives tools as the configuration has them offered, and what is wrong with that. Their parameters have names
// that models can be given.
func reshapedBy(tools []Item, rules []config.Tool) (shown []Item, notes []string) {
	if len(rules) == 0 {
		return plain(tools), nil
	}
	names := make(map[string]bool, len(tools))
	for i := range tools {
		names[tools[i].Key.Verbatim()] = true
	}
	shown = slices.Clone(tools)
	for i := range rules {
		notes = append(notes, apply(&rules[i], shown, names)...)
	}
	return plain(shown), notes
}

// mostComposed is how many bytes of input schemas that are made of others are merged for a list, since it takes time.
const mostComposed = 1 << 20

// plain gives tools as models can be given them; tools itself where all are like that.
func plain(tools []Item) []Item {
	shown, room := tools, mostComposed
	for i := range tools {
		it := &tools[i]
		raw, arguments := reshape.Plain(it.Raw, it.Arguments(), room)
		toLegacy := reshape.Merged(raw, room)
		if isSame(raw, it.Raw, wire.Whole(it.Raw)) && toLegacy == nil {
			continue
		}
		as, ok := newItem(raw, Tools)
		if !ok {
			continue
		}
		if &shown[0] == &tools[0] {
			shown = slices.Clone(tools)
		}
		if toLegacy != nil {
			as.ToLegacy = toLegacy
			room = max(room-len(raw), 0)
		}
		as.mended, as.as = it.mended, it.as
		if !isSame(raw, it.Raw, wire.Whole(it.Raw)) {
			as.as = &reshaped{it.Token(), arguments}
		}
		shown[i] = as
	}
	return shown
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
		if as, ok := newItem(raw, Tools); ok {
			as.mended, as.as = it.mended, &reshaped{it.Token(), arguments}
			names[as.Key.Verbatim()] = true
			*it = as
		}
		return notes
	}
	return append(notes, fmt.Sprintf("there is no tool %q, which the configuration names in tools", foreign.NewName(rule.Name)))
}
