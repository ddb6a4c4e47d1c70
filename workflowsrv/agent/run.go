package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/model"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/commandsrv"
)

// work plans, and lets the model go round after round.
func (t *run) work() (*commandsrv.AgentResult, error) {
	for {
		if why := t.spent(); why != "" {
			return t.end(why), nil
		}
		if t.stale && t.Plans < maxPlans {
			if err := t.plan(); err != nil {
				return t.broken(err)
			}
		}
		t.stale = false
		if t.Rounds == maxRounds-1 {
			t.tell("This is your last reply. Answer the user now, in words, with what you have; say what was not done.")
		}
		reply, err := t.ask()
		if err != nil {
			return t.broken(err)
		}
		t.Rounds++
		if len(reply.Calls) == 0 && reply.Text != "" {
			return t.result(command.Completed, !t.Failed && t.Rounds < maxRounds, reply.Text), nil
		}
		if t.Rounds >= maxRounds {
			return t.end(fmt.Sprintf("The model was stopped after %d rounds without an answer; ask for less at a time.", maxRounds)), nil
		}
		fault, err := t.round(reply)
		switch {
		case err != nil:
			return t.broken(err)
		case t.waiting():
			return t.await(), nil
		case fault == "":
			t.Faults = 0
			continue
		}
		if t.Faults++; t.Faults == maxFaults {
			return t.end(fmt.Sprintf("The model could not go on: %d times in a row it did something useless, the last time because %s. Say it in other words, or name the command.", maxFaults, fault)), nil
		}
	}
}

// broken is what becomes of work that cannot go on. Where the application was changed, or the session moved, that has
// to be told, and is kept.
func (t *run) broken(err error) (*commandsrv.AgentResult, error) {
	moved := t.w.Trail(t.path) != t.w.Trail(t.request.Path)
	if context.Cause(t.ctx) != nil || len(t.Done) == 0 && !moved {
		return nil, err
	}
	return t.end("The work was broken off: " + err.Error() + "."), nil
}

// ask has the model reply to the dialogue so far.
func (t *run) ask() (*model.Reply, error) {
	t.shorten(maxSaid)
	for most := maxSaid; ; {
		r := model.Request{Role: model.Agent, Text: t.say}
		r.Tools, t.tools = t.offer()
		r.Messages = t.messages(len(t.tools) == 0)
		reply, err := t.complete(r)
		var e *model.Error
		if most /= 3; err == nil || !errors.As(err, &e) || !e.Overflow() || most < maxSaid/10 {
			return reply, err
		}
		t.shorten(most)
	}
}

// say hands on what the model says as it comes.
func (t *run) say(piece string, anew bool) {
	if anew {
		t.replies++
	}
	t.request.Text(t.replies, piece)
}

// messages are the instructions, what was said before, and the dialogue. listed has the commands in words.
func (t *run) messages(listed bool) []model.Message {
	system := prompt("agent") + "\n\n" + about(t.w) + "\n\n" + t.here()
	if listed {
		system += "\n\n" + clip(t.w.Describe(t.path).DisplayText, maxListing)
	}
	list := append([]model.Message{{From: model.FromSystem, Text: system}}, t.history()...)
	first := model.Message{From: model.FromUser, Text: t.Query}
	rest := t.Said
	if len(rest) > 0 && rest[0].From == model.FromUser {
		first.Text += "\n\n" + rest[0].Text
		rest = rest[1:]
	}
	return append(append(list, first), rest...)
}

// here says what day it is and what may be done where the session stands. The names are those of the file; what a place
// is called may be data, and stands in the dialogue.
func (t *run) here() string {
	now := t.opts.Now()
	kind := "the top"
	if n := len(t.path); n > 0 {
		kind = "one of the kind " + t.path[n-1].Type
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Today is %s, %s.\nThe place is %s. What may be done there:", now.Weekday(), now.Format("2 January 2006 (MST)"), kind)
	for i, c := range t.w.CommandsAt(t.path) {
		if i == maxTools {
			b.WriteString(" …")
			break
		}
		fmt.Fprintf(&b, " %s (%s)", c.Name, c.Effect)
	}
	return b.String()
}

// history gives them as messages. What the application said is the result of a call, never the model's word.
func (t *run) history() []model.Message {
	var list []model.Message
	for i, e := range t.exchanges() {
		list = append(list, model.Message{From: model.FromUser, Text: clip(e.Query, maxExchange)})
		answer := model.Message{From: model.FromModel, Text: clip(e.Answer, maxExchange)}
		if !e.Own {
			call := earlier(i, e.Query)
			list = append(list, model.Message{From: model.FromModel, Calls: []model.Call{call}},
				model.Message{From: model.FromTool, CallID: call.ID, Text: answer.Text})
			answer.Text = "That is what the application answered." // not every endpoint takes the user behind a result
		}
		list = append(list, answer)
	}
	return list
}

// earlier is the call that stands for what the user had the application do.
func earlier(n int, query string) model.Call {
	arguments, _ := json.Marshal(map[string]string{"command": clip(query, maxExchange)})
	return model.Call{ID: fmt.Sprintf("earlier_%d", n), Name: executeCommand, Arguments: string(arguments)}
}

// round carries out what a reply calls. fault says why nothing came of it.
func (t *run) round(reply *model.Reply) (fault string, err error) {
	if len(reply.Calls) == 0 {
		t.tell("Your reply was empty. Call a tool, or answer the user in words.")
		return "its reply was empty", nil
	}
	calls := reply.Calls[:min(len(reply.Calls), maxCalls)]
	for i := range calls {
		calls[i].Name = clip(calls[i].Name, 2*maxName)
		if len(calls[i].Arguments) > maxArguments {
			calls[i].Arguments = ""
		}
	}
	t.Said = append(t.Said, model.Message{From: model.FromModel, Text: reply.Text, Calls: calls})
	brought := false
	for _, call := range calls {
		if t.waiting() {
			t.answer(call.ID, "Not carried out: a question goes to the user first. Call it again if it is still wanted.")
			continue
		}
		result, wrong, err := t.call(call)
		if err != nil {
			return "", err
		}
		if !t.waiting() {
			t.answer(call.ID, result)
		}
		brought = brought || wrong == ""
		fault = wrong
	}
	if len(reply.Calls) > maxCalls && !t.waiting() {
		t.tell(fmt.Sprintf("Only the first %d calls were carried out.", maxCalls))
	}
	if brought {
		fault = ""
	}
	return fault, nil
}

// call carries out a call and gives its result for the model. fault says why nothing came of it; err ends the work.
func (t *run) call(call model.Call) (result, fault string, err error) {
	called, arguments := cmp.Or(call.Name, "a tool without a name"), json.RawMessage(call.Arguments)
	var object map[string]json.RawMessage
	if json.Unmarshal(arguments, &object) != nil || object == nil {
		return fmt.Sprintf("Not carried out: the arguments are not a JSON object of at most %d bytes. Write them again.", maxArguments), "the arguments of " + called + " were not JSON", nil
	}
	if t.again(call.Name, object) {
		return "Not carried out: you have made this call with these arguments before, and nothing has changed since. Do something else, or answer the user.",
			"it made the same call of " + called + " again and again", nil
	}
	if call.Name == askUser {
		return t.askUser(call.ID, object)
	}
	if t.Calls++; t.Calls > t.opts.Calls {
		return "Not carried out: this instruction has made as many calls as it may.", "", nil
	}
	o, err := t.carryOut(call.Name, arguments, object)
	var refused *command.Error
	switch {
	case errors.As(err, &refused):
		return "Not carried out: " + refused.Error(), call.Name + " was not called as it has to be", nil
	case err != nil:
		return "", "", err
	case o.Status == command.AwaitingUser && o.Pending != nil:
		return t.confirm(call.ID, o)
	case o.Output.CommandName == nil:
		return o.Text(), "there is no command " + call.Name, nil
	}
	return t.note(o), "", nil
}

// again counts a call, and reports whether it is made once too often.
func (t *run) again(name string, object map[string]json.RawMessage) bool {
	b, _ := json.Marshal([]any{t.path, name, object}) // read from JSON, and so written
	key := fmt.Sprintf("%x", sha256.Sum256(b))
	if t.Seen == nil {
		t.Seen = map[string]int{}
	}
	t.Seen[key]++
	return t.Seen[key] >= maxSame
}

// carryOut runs a command, or returns the question whether it may run.
func (t *run) carryOut(name string, arguments json.RawMessage, object map[string]json.RawMessage) (*command.Outcome, error) {
	opts := command.CallOptions{Trace: t.request.Trace, Inferred: true}
	if name == executeCommand {
		var text string
		if err := json.Unmarshal(object["command"], &text); err != nil {
			return nil, &command.Error{Offset: -1, Message: "command has to be a string"}
		}
		return t.request.Engine.Execute(t.ctx, t.path, text, opts)
	}
	known, offered := t.tools[name]
	if !offered {
		known = strings.ReplaceAll(name, slash, "/") // the engine finds it, or says where it is
	}
	return t.request.Engine.Run(t.ctx, t.path, command.Action{CommandName: known, Arguments: arguments}, opts)
}
