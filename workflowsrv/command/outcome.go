package command

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// conclude turns what a command returned into its outcome.
func (t *turn) conclude(c *Command, args arguments, at Path, r result) *Outcome {
	response := CommandResponse{Response: r.text, Artifacts: r.artifacts()}
	get := t.scope(args, at)
	success := !r.failed
	if success {
		var missing []string
		outputs := r.pick(c.Outputs, &missing)
		if len(c.Outputs) > 0 {
			response.Artifacts = outputs
		}
		get = withOutputs(get, outputs, r.text)
		if c.reply != nil {
			response.Response = c.reply.text(get)
		}
		if c.enter != nil {
			success = t.goTo(c, get, &response)
		}
		if c.Leave && len(at) > 0 {
			t.path = at[: len(at)-1 : len(at)-1]
		}
		if len(missing) > 0 {
			response.Response += "\n(the result has no " + strings.Join(missing, ", ") + ")"
		}
	}
	if success {
		response.Recommendations, response.NextActions = t.recommend(c)
	}
	o := t.outcome(c, args, success, response)
	o.Content, o.Structured = r.given, r.data
	return o
}

// goTo enters the place that a command leads to.
func (t *turn) goTo(c *Command, get values, response *CommandResponse) bool {
	place := Place{Type: c.enter.context.Name, Key: map[string]json.RawMessage{}}
	for _, m := range c.enter.key {
		v, ok := m.text.value(get)
		if !ok || plain(v) == "" {
			response.Response += "\nThe command worked, but its result does not tell the " + m.name + " of the " + place.Type + " to go to."
			return false
		}
		if len(v) > maxPlaceValue {
			response.Response += fmt.Sprintf("\nThe command worked, but the %s of the %s to go to has more than %d bytes.", m.name, place.Type, maxPlaceValue)
			return false
		}
		place.Key[m.name] = v
	}
	for _, m := range c.enter.values {
		if v, ok := m.text.value(get); ok && len(v) > maxPlaceValue {
			response.Response += fmt.Sprintf("\n(%s has more than %d bytes, and is not known at the place)", m.name, maxPlaceValue)
		} else if ok {
			set(&place.Values, m.name, v)
		}
	}
	path, ok := t.w.enter(t.path, c.enter.context, place)
	if !ok {
		response.Response += "\nThe command worked, but " + place.Type + " lies in " + c.enter.context.Parent + ", and this is " + t.w.Title(t.path) + "."
		return false
	}
	t.path = path
	return true
}

// maxPlaceValue bounds what a place knows under one name: all of it is kept with each turn.
const maxPlaceValue = 16 << 10

// maxRecommended is how many commands are named after one that has moved the session.
const maxRecommended = 5

// recommend names what can be done at a new place, and gives as actions what can be done there at once.
func (t *turn) recommend(c *Command) (names []string, actions []Action) {
	if c.enter == nil {
		return nil, nil
	}
	for _, next := range t.w.CommandsAt(t.path) {
		if next.Context != c.enter.context.Name || len(names) == maxRecommended {
			continue
		}
		names = append(names, next.Name)
		if !slices.ContainsFunc(next.Params, func(p Param) bool { return p.needed(t.path) }) {
			actions = append(actions, Action{CommandName: next.Name, Arguments: json.RawMessage("{}")})
		}
	}
	return names, actions
}

// refuse returns an outcome without success. c is nil for an unknown command.
func (t *turn) refuse(c *Command, args arguments, problem *Problem, text string) *Outcome {
	o := t.outcome(c, args, false, CommandResponse{Response: text, Artifacts: problem.artifacts()})
	o.Problem = problem
	return o
}

// outcome completes an answer and traces it; c is nil where what came in is no command, which is traced with it.
func (t *turn) outcome(c *Command, args arguments, success bool, response CommandResponse) *Outcome {
	if c == nil {
		t.traceIn(nil, nil)
	}
	o := &Outcome{Status: Completed, Path: t.path, Inferred: t.inferred, Output: CommandOutput{
		Success: success, WorkflowName: t.w.Name, Context: t.w.Title(t.path),
		CommandParameters: json.RawMessage("null"), CommandResponses: []CommandResponse{response},
	}}
	if c != nil {
		o.Output.CommandName = &c.Name
		o.Output.CommandParameters = args.json(c)
	}
	t.trace(TraceEvent{Direction: ToAgent, RawCommand: &t.raw, CommandName: o.Output.CommandName,
		Parameters: o.Output.CommandParameters, ResponseText: &response.Response, Success: &success})
	o.Output.Traces = t.traces
	return o
}

func (t *turn) traceIn(c *Command, args json.RawMessage) {
	ev := TraceEvent{Direction: ToWorkflow, RawCommand: &t.raw, Parameters: json.RawMessage("null")}
	if c != nil {
		ev.CommandName, ev.Parameters = &c.Name, args
	}
	t.trace(ev)
}

func (t *turn) trace(ev TraceEvent) {
	ev.Timestamp = t.Engine.opts.Now().UnixMilli()
	if t.opts.Trace != nil {
		t.opts.Trace(ev)
		return
	}
	t.traces = append(t.traces, ev)
}
