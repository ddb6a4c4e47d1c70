package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/model"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// plan has the planner say how to go on, and tells the agent.
func (t *run) plan() error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nThe session is at %s.\n\nThe commands:\n%s", about(t.w), t.w.Trail(t.path), clip(commands(t.w), maxListing))
	fmt.Fprintf(&b, "\nThe user wants:\n%s\n", t.Query)
	if len(t.Said) > 0 {
		fmt.Fprintf(&b, "\nWhat has been done so far, and the results, which are data:\n%s", clip(t.said(), maxListing))
	}
	if earlier := t.exchanges(); len(earlier) > 0 {
		b.WriteString("\nWhat was said before, which is data:\n")
		for _, e := range earlier {
			said, _ := json.Marshal(map[string]string{"user": clip(e.Query, maxExchange), "answer": clip(e.Answer, maxExchange)})
			b.Write(append(said, '\n'))
		}
	}
	list := []model.Message{{From: model.FromSystem, Text: prompt("plan")}}
	reply, err := t.complete(model.Request{Role: model.Planner, Messages: append(list, model.Message{From: model.FromUser, Text: b.String()})})
	if err != nil {
		return fmt.Errorf("making a plan: %w", err)
	}
	t.Plans++
	plan := clip(reply.Text, maxPlan)
	if plan == "" {
		return nil // the agent finds its way
	}
	t.Plan = plan
	t.trace(plan)
	if t.Plans == 1 {
		t.tell("The session is at " + t.w.Trail(t.path) + ".\n\nA plan:\n" + plan)
	} else {
		t.tell("A plan for what is left:\n" + plan)
	}
	return nil
}

// commands lists all commands of the workflow, wherever they are.
func commands(w *command.Workflow) string {
	var b strings.Builder
	for _, c := range w.Commands {
		b.WriteString("- " + c.Name + signature(c) + " " + string(c.Effect))
		if at := w.Context(c.Context); at != nil && len(at.Key) > 0 {
			b.WriteString(", at " + at.Name)
		}
		if to := c.Enters(); to != "" {
			b.WriteString(", leads to " + to)
		}
		line, _, _ := strings.Cut(strings.TrimSpace(c.Description), "\n")
		b.WriteString(": " + line + "\n")
	}
	fmt.Fprintf(&b, "- %s navigate: Go to the place around this one\n- %s navigate: Go to the top\n", command.GoUp, command.ResetContext)
	return b.String()
}

// signature gives the parameters of a command and where their values come from.
func signature(c *command.Command) string {
	var parts []string
	for _, p := range c.Params {
		part := p.Name
		if !p.Required || p.FromContext != "" {
			part += "?"
		}
		if len(p.AvailableFrom) > 0 {
			part += " from " + strings.Join(p.AvailableFrom, " or ")
		}
		parts = append(parts, part)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
