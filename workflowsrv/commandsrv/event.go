package commandsrv

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// An event is what a turn tells of while it goes on: a command on its way in, its
// answer, or with said set a piece of what the agent says to the user.
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
	// maxSaid is how much of what the agent says a turn keeps for those that
	// follow it, in bytes; the rest stands in the answer. Each piece counts
	// pieceSize besides.
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

// joined is a list of events with neighbouring pieces of one reply as one: who
// reads slowly, or comes late, hears the same in fewer.
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

// note takes a trace of the turn.
func (t *turn) note(ev command.TraceEvent) { t.add(event{trace: ev}) }

// say takes a piece of what the agent says.
func (t *turn) say(reply int, piece string) {
	t.add(event{said: &said{time.Now().UnixMilli(), reply, piece}})
}

func (t *turn) add(ev event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ev.said != nil {
		if t.said += len(ev.said.Text) + pieceSize; t.said > maxSaid {
			return
		}
	}
	t.events = append(t.events, ev)
	close(t.more)
	t.more = make(chan struct{})
}

// since gives the events from the n-th on, and what is closed when there are more.
func (t *turn) since(n int) ([]event, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.events[n:], t.more
}

// traces are those of the turn.
func (t *turn) traces() []command.TraceEvent {
	events, _ := t.since(0)
	list := []command.TraceEvent{}
	for _, ev := range events {
		if ev.said == nil {
			list = append(list, ev.trace)
		}
	}
	return list
}
