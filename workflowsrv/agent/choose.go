package agent

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mcp-workbench/workbench/internal/model"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// none is the tool that stands for no candidate.
const none = "none_of_these"

// Choose has the model choose the command that an instruction means, with the parameters that it gives, in one request.
// What is no clear choice of a candidate is none. See [command.Chooser].
func (a *Agent) Choose(ctx context.Context, c command.Choice) (command.Chosen, error) {
	r := model.Request{Role: model.Assistant, MustCall: true, Messages: []model.Message{
		{From: model.FromSystem, Text: prompt("choose")},
		{From: model.FromUser, Text: "The session is at " + c.Context + ".\n\nThe user says:\n" + c.Query},
	}}
	names := newNames(none)
	for _, candidate := range c.Candidates {
		r.Tools = append(r.Tools, model.Tool{Name: names.add(candidate.Name), Description: describe(candidate.ListedEntry),
			Schema: withRequired(candidate.Schema, nil)}) // what the model had to give it would make up
	}
	r.Tools = append(r.Tools, model.Tool{Name: none, Description: "No command does what the user says, or it is not clear which.",
		Schema: json.RawMessage(`{"type":"object","properties":{}}`)})
	reply, err := a.model.Complete(ctx, r)
	if err != nil {
		return command.Chosen{}, err
	}
	if len(reply.Calls) != 1 || reply.Calls[0].Name == none {
		return command.Chosen{}, nil
	}
	call := reply.Calls[0]
	return command.Chosen{Command: names.of[call.Name], Arguments: json.RawMessage(strings.TrimSpace(call.Arguments))}, nil
}
