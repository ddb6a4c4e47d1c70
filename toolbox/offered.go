package toolbox

import (
	"context"
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

// reshapedBy gives tools as the configuration has them offered, and what is wrong with that.
func reshapedBy(tools []Item, rules []config.Tool) (shown []Item, notes []string) {
	if len(rules) == 0 {
		return tools, nil
	}
	names := make(map[string]bool, len(tools))
	for i := range tools {
		names[tools[i].Key.Verbatim()] = true
	}
	shown = slices.Clone(tools)
	for i := range rules {
		notes = append(notes, offer(shown, &rules[i], names)...)
	}
	return shown, notes
}

// offer puts the tool that a rule is for in its place.
func offer(tools []Item, rule *config.Tool, names map[string]bool) (notes []string) {
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
		if as, ok := newItem(it.Server, raw, Tools); ok {
			as.mended, as.as = it.mended, &reshaped{it.Token(), arguments}
			names[as.Key.Verbatim()] = true
			*it = as
		}
		return notes
	}
	return append(notes, fmt.Sprintf("there is no tool %q, which the configuration names in tools", foreign.NewName(rule.Name)))
}

// Token gives the name by which the server knows it, as a JSON string.
func (it *Item) Token() []byte {
	if it.as != nil {
		return it.as.token
	}
	return it.Raw[it.KeySpan.Start:it.KeySpan.End]
}

// Arguments says what becomes of the arguments of a tool; nil if they go to the server as they are.
func (it *Item) Arguments() *reshape.Arguments {
	if it.as == nil {
		return nil
	}
	return it.as.arguments
}

// CallParams gives the params of a call of the tool with these arguments.
func (it *Item) CallParams(arguments []byte) ([]byte, error) {
	merged, err := it.Arguments().Merge(arguments)
	if err != nil {
		return nil, err
	}
	params := append(append([]byte(`{"name":`), it.Token()...), `,"arguments":`...)
	return append(append(params, merged...), '}'), nil
}

// Offered gives the tool that is offered under a name, once the server is ready. The error of one that is not says why: what
// filters, readOnly and pins leave out is left out for workbench itself too.
func (s *Server) Offered(ctx context.Context, tool string) (Item, error) {
	c, err := s.await(ctx)
	if err != nil {
		return Item{}, err
	}
	s = c.server
	items := s.Items(Tools)
	if i := slices.IndexFunc(items, func(it Item) bool { return it.Key.Verbatim() == tool }); i >= 0 {
		return items[i], nil
	}
	why := s.leftOut(tool)
	if why == "" {
		why = "none is offered under that name"
	}
	return Item{}, &RefusedError{Toolbox: s.Toolbox, Server: s.Name, Cause: fmt.Errorf("does not offer the tool %q: %s", foreign.NewName(tool), why)}
}

// CallTool calls a tool for workbench itself, by the name under which it is offered, and waits for the result.
func (s *Server) CallTool(ctx context.Context, tool string, arguments []byte) ([]byte, error) {
	called, err := s.Offered(ctx, tool)
	if err != nil {
		return nil, err
	}
	params, err := called.CallParams(arguments)
	if err != nil {
		return nil, err
	}
	return s.Request(ctx, "tools/call", params)
}
