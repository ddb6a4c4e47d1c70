package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/cut"
)

// ask returns the problem, and the question for what is missing: for one value at a time, and first for one that was
// given and cannot be.
func (t *turn) ask(c *Command, args arguments, problem *Problem) *Outcome {
	o := t.refuse(c, args, problem, problem.words(c))
	var wanted []string
	for _, bad := range problem.Invalid {
		delete(args, bad.Name)
		if c.Param(bad.Name) != nil && !slices.Contains(wanted, bad.Name) {
			wanted = append(wanted, bad.Name)
		}
	}
	wanted = append(wanted, problem.Missing...)
	if t.query == "" || len(wanted) == 0 {
		return o // an exact command is corrected and sent again
	}
	if p := c.Param(wanted[0]); p != nil && len(problem.Suggestions[p.Name]) == 0 && len(enumTexts(p.schema)) == 0 {
		problem.suggest(p.Name, t.memory.fitting(c, p))
	}
	o.Status, o.Question = AwaitingUser, question(c, wanted, problem)
	o.Pending = &Pending{Kind: AskValues, Query: t.query, Missing: wanted, Inferred: t.inferred, Command: cmp.Or(t.was, c.digest()), Form: c.form(wanted[0], problem.choices[wanted[0]]),
		Action: Action{CommandName: c.Name, Arguments: args.json(c)}}
	return o
}

// confirm returns the question whether the command may run.
func (t *turn) confirm(c *Command, args arguments, at Path) *Outcome {
	inline, below := describe(c, args, at)
	q := "Run " + shown(c.Name) + inline + " at " + t.w.Title(t.path) + "?"
	if c.Description != "" {
		q += " It does this: " + shown(summary(c.Description))
	}
	q += below
	o := t.outcome(c, args, false, CommandResponse{Response: q})
	o.Status, o.Question = AwaitingUser, q
	o.Pending = &Pending{Kind: AskConfirm, Query: t.query, Inferred: t.inferred, Command: c.digest(), Form: confirmForm(),
		Action: Action{CommandName: c.Name, Arguments: args.json(c)}}
	o.Output.CommandResponses[0].NextActions = []Action{o.Pending.Action}
	return o
}

const (
	maxLater = 5 // parameters that it names as asked for later
	patience = 2 // answers that are none, before it is said how to get out
)

// question asks for the first of the named parameters of a command. It says what was wrong with the value that was
// given, and what the choices are.
func question(c *Command, names []string, problem *Problem) string {
	name, p := names[0], c.Param(names[0])
	var b strings.Builder
	for _, bad := range problem.Invalid {
		if bad.Name == name {
			b.WriteString(shown(strings.TrimSpace(spaced(name)+" "+bad.Reason+", got "+cut.After(string(bad.Value), maxInline))) + ". ")
			break
		}
	}
	b.WriteString("For " + c.Name + ", what is the " + spaced(name))
	if p.Description != "" {
		b.WriteString(" (" + strings.TrimSuffix(p.Description, ".") + ")")
	}
	all := enumTexts(p.schema)
	if len(all) == 0 {
		all = problem.choices[name]
	}
	switch likely := problem.Suggestions[name]; {
	case len(all) > 0 && len(all) <= maxChoices:
		b.WriteString(", one of " + strings.Join(all, ", "))
	case len(likely) > 0:
		b.WriteString(", for example " + strings.Join(likely[:min(3, len(likely))], ", "))
	case len(p.Examples) > 0:
		b.WriteString(", for example " + plain(p.Examples[0]))
	}
	b.WriteString("?")
	for i, name := range names[1:] {
		switch {
		case i == maxLater:
			fmt.Fprintf(&b, ", then %d more", len(names)-1-maxLater)
		case i > maxLater:
			continue
		case i == 0:
			b.WriteString(" The " + spaced(name))
		default:
			b.WriteString(", then the " + spaced(name))
		}
	}
	switch {
	case len(names) > 1+maxLater:
		b.WriteString(" are asked for after it.")
	case len(names) > 1:
		b.WriteString(" is asked for after it.")
	}
	return b.String()
}
