package agent

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/model"
)

// A dialogue is what is said between the model and the commands after the instruction.
type dialogue struct {
	Said []model.Message `json:"said,omitempty"`
}

// tell adds something to the dialogue that is neither a reply nor a result. What follows a result becomes part of it:
// not every endpoint takes a message of the user there.
func (d *dialogue) tell(text string) {
	if n := len(d.Said); n > 0 && d.Said[n-1].From != model.FromModel {
		d.Said[n-1].Text += "\n\n" + text
		return
	}
	d.Said = append(d.Said, model.Message{From: model.FromUser, Text: text})
}

// answer adds the result of a call to the dialogue.
func (d *dialogue) answer(callID, text string) {
	if text == "" {
		text = "Done. The command returned no text."
	}
	d.Said = append(d.Said, model.Message{From: model.FromTool, CallID: callID, Text: clip(text, maxResult)})
}

// shorten takes the oldest rounds out of the dialogue until it is no longer than that.
func (d *dialogue) shorten(most int) {
	size, from := 0, len(d.Said)
	for i, m := range slices.Backward(d.Said) {
		size += len(m.Text)
		for _, call := range m.Calls {
			size += len(call.Arguments)
		}
		if size > most && from < len(d.Said) {
			break
		}
		if m.From == model.FromModel { // a round begins, with its results behind it
			from = i
		}
		if i == 0 {
			return
		}
	}
	d.Said = append([]model.Message{{From: model.FromUser, Text: "(Earlier steps are left out here.)"}}, d.Said[from:]...)
}

// said words the dialogue for the planner.
func (d *dialogue) said() string {
	var b strings.Builder
	for _, m := range d.Said {
		for _, call := range m.Calls {
			b.WriteString("called " + call.Name + " " + clip(call.Arguments, 500) + "\n")
		}
		if m.From != model.FromModel || len(m.Calls) == 0 {
			// As a string of JSON, so that nothing in it stands beside what is said here.
			text, _ := json.Marshal(clip(m.Text, 1000))
			b.Write(append(text, '\n'))
		}
	}
	return b.String()
}
