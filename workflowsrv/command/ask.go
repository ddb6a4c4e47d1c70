package command

import (
	"slices"
	"strings"
)

// ask returns the problem, and the question for what is missing.
func (t *turn) ask(c *Command, args arguments, problem *Problem) *Outcome {
	o := t.refuse(c, args, problem, problem.words(c))
	wanted := slices.Clone(problem.Missing)
	for _, bad := range problem.Invalid {
		if c.Param(bad.Name) != nil {
			wanted = append(wanted, bad.Name)
			delete(args, bad.Name)
		}
	}
	if t.query == "" || len(wanted) == 0 {
		return o // an exact command is corrected and sent again
	}
	o.Status, o.Question = AwaitingUser, question(c, wanted, problem)
	o.Pending = &Pending{Kind: AskValues, Query: t.query, Missing: wanted, Inferred: t.inferred, Form: c.form(wanted),
		Action: Action{CommandName: c.Name, Arguments: args.json(c)}}
	return o
}

// confirm returns the question whether the command may run.
func (t *turn) confirm(c *Command, args arguments) *Outcome {
	q := "Run " + c.Name + t.describe(args, c) + " at " + t.w.Title(t.path) + "?"
	if c.Description != "" {
		q += " It does this: " + summary(c.Description)
	}
	o := t.outcome(c, args, false, CommandResponse{Response: q})
	o.Status, o.Question = AwaitingUser, q
	o.Pending = &Pending{Kind: AskConfirm, Query: t.query, Inferred: t.inferred, Action: Action{CommandName: c.Name, Arguments: args.json(c)}, Form: confirmForm()}
	o.Output.CommandResponses[0].NextActions = []Action{o.Pending.Action}
	return o
}

// describe shows the values that a command would run with.
func (t *turn) describe(args arguments, c *Command) string {
	var parts []string
	for _, p := range c.Params {
		if v, ok := args[p.Name]; ok {
			parts = append(parts, p.Name+" "+clip(string(v), 60))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " with " + strings.Join(parts, ", ")
}

// question asks for the named parameters of a command.
func question(c *Command, names []string, problem *Problem) string {
	var parts []string
	for _, name := range names {
		part := spaced(name)
		if p := c.Param(name); p != nil && p.Description != "" {
			part += " (" + strings.TrimSuffix(p.Description, ".") + ")"
		}
		if values := problem.Suggestions[name]; len(values) > 0 {
			part += ", for example " + strings.Join(values[:min(3, len(values))], ", ")
		}
		parts = append(parts, part)
	}
	return "For " + c.Name + ", what is the " + strings.Join(parts, "; and the ") + "?"
}
