package commandsrv

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// An event is what a turn tells of while it goes on: a command on its way in, its answer, or with said set a piece of
// what the agent says to the user.
type event struct {
	trace command.TraceEvent
	said  *said
}

// said is a piece of a reply of the agent's model.
type said struct {
	Timestamp int64  `json:"timestamp"` // in milliseconds since 1970
	Reply     int    `json:"reply"`
	Text      string `json:"text"`
}

const (
	// maxSaid is how much of what the agent says a turn keeps for those that follow it, in bytes; the rest stands in
	// the answer. Each piece counts pieceSize besides.
	maxSaid   = 4 << 20
	pieceSize = 64
	// maxJoined is about how long pieces are together that are told of as one.
	maxJoined = 4 << 10
)

func (ev event) kind() string {
	if ev.said != nil {
		return "text"
	}
	return "trace"
}

func (ev event) encode() json.RawMessage {
	if ev.said != nil {
		return wire.MustEncode(ev.said)
	}
	return wire.MustEncode(ev.trace)
}

// wording is an event in words: a trace in a line, a piece of text as it is.
func (ev event) wording() string {
	if ev.said != nil {
		return ev.said.Text
	}
	mark, text := "> ", ev.trace.RawCommand
	if ev.trace.Direction == command.ToAgent {
		mark, text = "< ", ev.trace.ResponseText
	}
	if text == nil {
		return mark
	}
	line, _, _ := strings.Cut(*text, "\n")
	return mark + cut.After(line, 200)
}

// joined is a list of events with neighbouring pieces of one reply as one: who reads slowly, or comes late, hears the
// same in fewer.
func joined(events []event) []event {
	var list []event
	for _, ev := range events {
		if n := len(list); n > 0 && ev.said != nil && list[n-1].said != nil && list[n-1].said.Reply == ev.said.Reply && len(list[n-1].said.Text) < maxJoined {
			whole := *list[n-1].said
			whole.Text += ev.said.Text
			list[n-1].said = &whole
			continue
		}
		list = append(list, ev)
	}
	return list
}

// withTraces puts the events of a turn into its output.
func withTraces(output, traces json.RawMessage) json.RawMessage {
	return wire.Object(slices.Clone(output[:len(output)-1])).Raw("traces", traces).End()
}
