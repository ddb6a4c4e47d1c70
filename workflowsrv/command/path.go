package command

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/cut"
)

// A Place is one instance of a context, such as the order 44821. Its JSON is stable: the same place gives the same
// bytes.
type Place struct {
	// Type is the name of the context.
	Type string `json:"type"`
	// Key are the values that make it this one, by the names of the context.
	Key map[string]json.RawMessage `json:"key"`
	// Values are what else was learnt of it on the way in.
	Values map[string]json.RawMessage `json:"values,omitempty"`
}

// A Path is where a session stands: places, each in the one before. The empty path is the top, where only commands of
// no context are.
type Path []Place

// value finds a value of the place.
func (p Place) value(name string) (json.RawMessage, bool) {
	if v, ok := p.Key[name]; ok {
		return v, true
	}
	v, ok := p.Values[name]
	return v, ok
}

// lookup finds a value on the path, the innermost place first.
func (p Path) lookup(name string) (json.RawMessage, bool) {
	for _, place := range slices.Backward(p) {
		if v, ok := place.value(name); ok {
			return v, true
		}
	}
	return nil, false
}

// top is what the empty path is called.
const top = "global"

// Title names the place where a path ends for a reader: "Order 44821", or "global" at the top.
func (w *Workflow) Title(p Path) string {
	return cut.After(shown(strings.Join(strings.Fields(w.title(p)), " ")), maxTitle)
}

// maxTitle is how long a title may be: what servers have returned stands in it.
const maxTitle = 200

func (w *Workflow) title(p Path) string {
	if len(p) == 0 {
		return top
	}
	last := p[len(p)-1]
	c := w.contexts[last.Type]
	if c != nil && c.title != nil {
		if text := c.title.text(func(name string) (json.RawMessage, bool) { return p.lookup(name) }); strings.TrimSpace(text) != "" {
			return text
		}
	}
	words := []string{last.Type}
	for _, name := range slices.Sorted(maps.Keys(last.Key)) {
		words = append(words, plain(last.Key[name]))
	}
	return strings.Join(words, " ")
}

// Trail names all places of a path, the outermost first.
func (w *Workflow) Trail(p Path) string {
	words := []string{top}
	for i := range p {
		words = append(words, w.Title(p[:i+1]))
	}
	return strings.Join(words, " > ")
}

// Resume gives the part of a stored path that the workflow still has, and whether that is all of it.
func (w *Workflow) Resume(p Path) (Path, bool) {
	for i, place := range p {
		c := w.contexts[place.Type]
		if c == nil || c.group() || c.Parent != "" && (i == 0 || !w.is(p[i-1].Type, c.Parent)) {
			return p[:i:i], false
		}
		for _, key := range c.Key {
			if _, ok := place.Key[key]; !ok {
				return p[:i:i], false
			}
		}
	}
	return p, true
}

// enter gives the path to a new place. ok is false if the path has no place that the context lies in.
func (w *Workflow) enter(p Path, c *Context, place Place) (Path, bool) {
	end := 0
	if c.Parent != "" {
		for end = len(p); end > 0 && !w.is(p[end-1].Type, c.Parent); end-- {
		}
		if end == 0 {
			return nil, false
		}
	}
	return append(slices.Clone(p[:end]), place), true
}
