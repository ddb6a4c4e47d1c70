package command

import (
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/nearest"
)

// A visible is a command as it is seen from a path.
type visible struct {
	command *Command
	// depth is the part of the path that the command runs at: the place of its context and what that lies in. A command
	// of no context sees all of it.
	depth int
	// aliases are other qualified names it answers to here: an inherited command is also one of the context that
	// inherits it.
	aliases []string
}

// CommandsAt gives the commands that are there where a path ends, in the order in which a name is looked up: those of
// the place, of its bases, of the places around it from the nearest on, those of no context, and the core commands.
func (w *Workflow) CommandsAt(p Path) []*Command {
	seen := w.visibleAt(p)
	list := make([]*Command, len(seen))
	for i, v := range seen {
		list[i] = v.command
	}
	return list
}

func (w *Workflow) visibleAt(p Path) []visible {
	list, at := w.nearby(p)
	list = slices.Grow(list, len(w.anywhere))
	for _, c := range w.anywhere {
		if _, again := at[c]; !again {
			list = append(list, visible{command: c, depth: len(p)})
		}
	}
	return list
}

// nearby gives the commands of the places of a path, and where each stands in the list.
func (w *Workflow) nearby(p Path) (list []visible, at map[*Command]int) {
	at = map[*Command]int{}
	for depth := len(p); depth > 0; depth-- {
		own := map[string]bool{} // leaves that a nearer context of this place has
		kind := p[depth-1].Type
		for _, context := range w.lineage(kind) {
			for _, c := range w.own[context] {
				if own[c.Leaf] {
					continue
				}
				own[c.Leaf] = true
				alias := kind + "/" + c.Leaf
				if i, again := at[c]; again {
					list[i].aliases = append(list[i].aliases, alias)
					continue
				}
				at[c] = len(list)
				list = append(list, visible{c, depth, []string{alias}})
			}
		}
	}
	return list, at
}

// everywhere reports whether the command is there at every place: it belongs to no context, or to a group.
func (w *Workflow) everywhere(c *Command) bool {
	context := w.contexts[c.Context]
	return context == nil || context.group()
}

// resolve finds the command that a name means where the path ends: by its qualified name, or by its leaf, of which the
// nearest counts. A leaf that several groups have at once is not enough. The name of a core command means that one,
// whatever leaves there are, so that there is always a way out.
func (w *Workflow) resolve(p Path, name string) (v visible, problem *Problem) {
	if c := w.commands[name]; c != nil && c.core {
		return visible{command: c, depth: len(p)}, nil
	}
	list, at := w.nearby(p)
	for _, c := range w.called[name] {
		if _, again := at[c]; !again {
			list = append(list, visible{command: c, depth: len(p)})
		}
	}
	var leaves []visible
	for _, v := range list {
		switch {
		case v.command.Context != "" && v.command.Name == name, slices.Contains(v.aliases, name):
			return v, nil
		case v.command.Leaf == name:
			leaves = append(leaves, v)
		}
	}
	if len(leaves) == 1 || len(leaves) > 1 && (leaves[0].command.Context == "" || len(leaves[0].aliases) > 0) {
		return leaves[0], nil
	}
	problem = &Problem{}
	if len(leaves) > 1 {
		problem.Suggestions = map[string][]string{onCommand: names(leaves)}
		return visible{}, problem
	}
	if c := w.elsewhere(name); c != nil {
		problem.AvailableFrom = map[string][]string{onContext: w.waysTo(c)}
		problem.Suggestions = map[string][]string{onCommand: {c.Name}}
		return visible{}, problem
	}
	if near := w.nearestNames(w.visibleAt(p), name); near != nil {
		problem.Suggestions = map[string][]string{onCommand: near}
	}
	return visible{}, problem
}

// What a Problem says under other names than those of parameters.
const (
	onCommand = "command"
	onContext = "context"
)

func names(list []visible) []string {
	var all []string
	for _, v := range list {
		all = append(all, v.command.Name)
	}
	return all
}

// elsewhere finds a command by its name that is not there where one stands.
func (w *Workflow) elsewhere(name string) *Command {
	for _, c := range w.Commands {
		if c.Name == name || c.Leaf == name {
			return c
		}
	}
	return nil
}

// waysTo lists the commands that lead to where another one is: to a place of its context, or of one that inherits it
// and has none of the same name before it.
func (w *Workflow) waysTo(wanted *Command) []string {
	var list []string
	for _, c := range w.Commands {
		if to := c.Enters(); to != "" && w.inherited(to, wanted.Leaf) == wanted {
			list = append(list, c.Name)
		}
	}
	return list
}

// inherited is the command that a leaf means at a place of a context, nil if its context and the bases have none.
func (w *Workflow) inherited(context, leaf string) *Command {
	for _, base := range w.lineage(context) {
		if c := w.commands[qualified(base, leaf)]; c != nil {
			return c
		}
	}
	return nil
}

// maxNear is how many commands are suggested for a name.
const maxNear = 3

func (w *Workflow) nearestNames(seen []visible, name string) []string {
	byLeaf := map[string]string{}
	var known []string
	for _, v := range seen {
		known = append(known, v.command.Name)
		if v.command.Leaf != v.command.Name {
			byLeaf[v.command.Leaf] = v.command.Name
			known = append(known, v.command.Leaf)
		}
	}
	var near []string
	for _, found := range nearest.Names(name, known, 2*maxNear) {
		if full, ok := byLeaf[found]; ok {
			found = full
		}
		if !slices.Contains(near, found) && len(near) < maxNear {
			near = append(near, found)
		}
	}
	return near
}

// explainUnknown words why a name is no command here.
func (w *Workflow) explainUnknown(p Path, name string, problem *Problem) string {
	shown := "“" + cut.After(name, 80) + "”"
	near := problem.Suggestions[onCommand]
	if ways, elsewhere := problem.AvailableFrom[onContext]; elsewhere {
		context, _, _ := strings.Cut(near[0], "/")
		text := near[0] + " is a command of " + context + ", and this is " + w.Title(p) + "."
		if len(ways) > 0 {
			return text + " Go there first: " + strings.Join(ways, ", ") + "."
		}
		return text + " No command leads there."
	}
	switch {
	case len(near) == 0:
		return "There is no command " + shown + " here. what_can_i_do lists the commands."
	case slices.ContainsFunc(near, func(n string) bool { return strings.HasSuffix(n, "/"+name) }):
		return "Several commands are called " + shown + ": " + strings.Join(near, ", ") + ". Write the one that is meant in full."
	}
	return "There is no command " + shown + " here. Did you mean " + strings.Join(near, " or ") + "? what_can_i_do lists the commands."
}
