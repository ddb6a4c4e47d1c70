package agent

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// askUser is the tool by which the model asks the user.
const askUser = "ask_user"

// maxQuestion is how long a question of the model may be, in bytes.
const maxQuestion = 2 << 10

// askUser asks the user what the model wants to know.
func (t *run) askUser(callID string, object map[string]json.RawMessage) (result, fault string, err error) {
	var text string
	var options []string
	_ = json.Unmarshal(object["question"], &text)
	_ = json.Unmarshal(object["options"], &options) // a hint, which may be no list
	if text = clip(strings.TrimSpace(text), maxQuestion); text == "" {
		return "Not asked: the question is empty.", "it asked the user nothing", nil
	}
	field := map[string]any{"type": "string", "title": "Answer"}
	if len(options) > 1 {
		field["enum"] = options
	}
	form, _ := json.Marshal(map[string]any{"type": "object", "properties": map[string]any{"answer": field}, "required": []string{"answer"}}) // of texts
	t.Ask = &question{CallID: callID, Text: text, Form: form}
	return t.reach()
}

// confirm asks the user whether a command may run.
func (t *run) confirm(callID string, o *command.Outcome) (result, fault string, err error) {
	t.Ask = &question{CallID: callID, Text: o.Question, Form: o.Pending.Form, Pending: o.Pending}
	return t.reach()
}

// reach puts the question to the user where that can be done now. Otherwise it stays, for a later call to bring the
// answer.
func (t *run) reach() (result, fault string, err error) {
	if t.request.Ask == nil {
		return "", "", nil
	}
	reply, ok, err := t.request.Ask(t.ctx, t.Ask.Text, t.Ask.Form)
	if cause := context.Cause(t.ctx); cause != nil {
		return "", "", cause
	}
	if err != nil {
		return "", "", nil
	}
	if !ok {
		t.Ask, t.stale = nil, true
		return "The user did not answer. Nothing was run.", "", nil
	}
	result, err = t.answered(reply)
	return result, "", err
}

// resume goes on with the answer to a question that an earlier call left.
func (t *run) resume(reply string) error {
	if !t.waiting() {
		return nil
	}
	callID := t.Ask.CallID
	result, err := t.answered(reply)
	if err == nil {
		t.answer(callID, result)
	}
	return err
}

// answered takes the user's reply and gives the result of the call that asked.
func (t *run) answered(reply string) (string, error) {
	ask := t.Ask
	t.Ask = nil
	if ask.Pending == nil {
		t.stale = true
		return "The user answers: " + spoken(reply), nil
	}
	reply = strings.TrimLeft(strings.TrimSpace(reply), "/") // no command, whatever it looks like
	o, err := t.request.Engine.Answer(t.ctx, t.path, *ask.Pending, reply,
		command.CallOptions{AnswersOnly: true, Trace: t.request.Trace})
	switch {
	case err != nil:
		return "", err
	case o.Status == command.Cancelled:
		t.stale = true
		return "The user does not agree. It was not run; do not call it again unless the user wants it.", nil
	case o.Status == command.AwaitingUser:
		t.stale = true
		return "It was not run, because the user answers neither yes nor no: " + spoken(reply), nil
	}
	return t.note(o), nil
}

// spoken gives the words of a reply, which may be that of a form.
func spoken(reply string) string {
	var form struct {
		Answer *string `json:"answer"`
	}
	if json.Unmarshal([]byte(reply), &form) == nil && form.Answer != nil {
		return *form.Answer
	}
	return reply
}
