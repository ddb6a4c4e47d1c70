package workflowsrv

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/author"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// goalArgument is the argument of every prompt; the others are variables.
const goalArgument = "goal"

// maxInputs bounds the arguments of a prompt: a client asks its user for each.
const maxInputs = 10

// A prompt is a workflow as clients offer it to their users, such as by a slash command.
type prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Arguments   []promptArgument `json:"arguments"`
}

type promptArgument struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// promptFor describes a workflow. Its arguments are the goal, and the variables that conditions need and no step finds
// out.
func promptFor(w *definition.Workflow) prompt {
	p := prompt{w.ID, w.Name, w.Description, []promptArgument{{goalArgument, "What it is to achieve this time"}}}
	for _, v := range author.Variables(w) {
		if len(v.Set) == 0 && v.Name != goalArgument && len(p.Arguments) <= maxInputs {
			p.Arguments = append(p.Arguments, promptArgument{v.Name, "Tested for: " + strings.Join(v.Tests, "; ")})
		}
	}
	return p
}

func (o *offers) listPrompts(context.Context, []byte) ([]byte, error) {
	list := []prompt{}
	for _, e := range o.audience.forList().Entries {
		list = append(list, promptFor(e.Workflow))
	}
	return json.Marshal(map[string]any{"prompts": list})
}

// getPrompt has the model follow a workflow. It begins nothing: clients get prompts to show them, too.
func (o *offers) getPrompt(_ context.Context, params []byte) ([]byte, error) {
	var ask struct {
		Name      string            `json:"name"`
		Arguments map[string]string `json:"arguments"`
	}
	if len(params) == 0 || json.Unmarshal(params, &ask) != nil {
		return nil, badParams("name must be the id of a workflow, and arguments an object of strings")
	}
	e, f := o.entry(ask.Name)
	if f != nil {
		return nil, badParams(f.message() + ": " + f.advice)
	}
	p := promptFor(e.Workflow)
	call := wire.NewObject(nil).Text("workflowId", e.ID).Text("goal", cmp.Or(strings.TrimSpace(ask.Arguments[goalArgument]), "…"))
	variables := map[string]any{}
	for name, text := range ask.Arguments {
		i := slices.IndexFunc(p.Arguments, func(a promptArgument) bool { return a.Name == name })
		switch {
		case i < 0:
			advice := nearest.Hint(name, argumentNames(p), "it takes "+goalArgument)
			return nil, badParams(fmt.Sprintf("the prompt %s has no argument %q; %s", e.ID, name, advice))
		case name != goalArgument && strings.TrimSpace(text) != "":
			variables[name] = valueOf(text)
		}
	}
	if len(variables) > 0 {
		text, err := json.Marshal(variables)
		if err != nil {
			return nil, err
		}
		call = call.Raw("context", text)
	}
	text := fmt.Sprintf("Follow the workflow %s to its end: %s\n\nCall workflow_start %s. Do what its answer says, then call workflow_next with the run and the result of "+
		"the step, and so on, one step at a time, until the answer says that the workflow is complete.", e.Name, e.Description, call.End())
	if ask.Arguments[goalArgument] == "" {
		text += " Put into goal what the user wants, in a sentence."
	}
	return json.Marshal(map[string]any{"description": e.Description, "messages": []any{
		map[string]any{"role": "user", "content": map[string]string{"type": "text", "text": text}},
	}})
}

// valueOf reads true, false, numbers, lists and objects as what they are: arguments of prompts are texts.
func valueOf(text string) any {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) == nil && !d.More() && v != nil {
		return v
	}
	return text
}

func argumentNames(p prompt) []string {
	var names []string
	for _, a := range p.Arguments {
		names = append(names, a.Name)
	}
	return names
}
