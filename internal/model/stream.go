package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/sse"
)

const (
	// maxStream is how many bytes a streamed reply may have with all that stands around its pieces.
	maxStream = 4 * maxReply
	// maxPiece is about how much text is handed on in one piece.
	maxPiece = 4 << 10
	// callSize is what one call counts in a reply besides its name and arguments.
	callSize = 64
)

// A chunk is one event of a streamed chat completion.
type chunk struct {
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			said
			Calls []calledPiece `json:"tool_calls"`
		} `json:"delta"`
		Finish string `json:"finish_reason"`
	} `json:"choices"`
	outcome
}

// said is what a model says, or a piece of that.
type said struct {
	Content json.RawMessage `json:"content"`
	Refusal string          `json:"refusal"`
}

// called is a call of a tool, or a piece of one.
type called struct {
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// A calledPiece is a piece of a call, with the number of that. A call in one piece has none that is looked at: endpoints
// write there what they like.
type calledPiece struct {
	Index *int `json:"index"`
	called
}

// outcome is what stands beside the choices.
type outcome struct {
	Usage struct {
		Total int `json:"total_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// failed reports whether the endpoint has sent an error in place of what a model says.
func (o *outcome) failed() bool { return len(o.Error) > 0 && string(o.Error) != "null" }

// stream reads a reply that comes as server-sent events, and hands its text on as it comes.
func (c *Client) stream(name string, body io.Reader, t *teller) (*completion, error) {
	bounded := &io.LimitedReader{R: body, N: maxStream}
	events := sse.NewReader(bounded, maxReply)
	s := streamed{numbered: map[int]*building{}}
	for seen := 0; ; {
		ev, err := events.Next()
		switch {
		case err == nil && string(ev.Data) == "[DONE]", err != nil && s.finish != "":
			t.add(s.text.String())
			return s.completion(), nil // What has been said to be over is whole, however the stream then ends.
		case err != nil && (errors.Is(err, sse.ErrTooLong) || bounded.N == 0):
			return nil, fmt.Errorf("model %q: %w: its stream went on after %d bytes", name, ErrTooLong, maxStream-bounded.N)
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil, c.garbled(name, "its stream ended in the middle of the reply")
		case err != nil:
			return nil, err
		}
		if err := c.take(name, ev.Data, &s); err != nil {
			return nil, err
		}
		if s.size > maxReply {
			return nil, fmt.Errorf("model %q: %w: it went on after %d bytes", name, ErrTooLong, maxReply)
		}
		if !events.Buffered() || s.text.Len()-seen > maxPiece {
			seen = s.text.Len()
			t.add(s.text.String())
		}
	}
}

// take adds one event to a reply.
func (c *Client) take(name string, data []byte, s *streamed) error {
	var got chunk
	if err := json.Unmarshal(data, &got); err != nil {
		return c.garbled(name, "%v, in its stream", foreign.Misread(err, &got))
	}
	if got.failed() {
		return c.garbled(name, "it is the error %s", wordsOf(data))
	}
	s.tokens = max(s.tokens, got.Usage.Total)
	for _, choice := range got.Choices {
		if choice.Index != 0 {
			continue
		}
		s.finish = cmp.Or(choice.Finish, s.finish)
		text := textOf(choice.Delta.Content)
		s.text.WriteString(text)
		s.refusal.WriteString(choice.Delta.Refusal)
		s.size += len(text) + len(choice.Delta.Refusal)
		for _, piece := range choice.Delta.Calls {
			s.call(piece)
		}
	}
	return nil
}

// streamed is a reply as far as it has come.
type streamed struct {
	text, refusal strings.Builder
	calls         []*building
	numbered      map[int]*building // by the number that the endpoint gives them
	finish        string
	tokens        int
	size          int // in bytes, as maxReply counts them
}

// building is a call as far as it has come.
type building struct {
	id              string
	name, arguments strings.Builder
}

// call adds a piece to its call. Endpoints that give calls no number send each in one piece, or each with an id.
func (s *streamed) call(piece calledPiece) {
	var to *building
	if n := len(s.calls); piece.Index != nil {
		to = s.numbered[*piece.Index]
	} else if n > 0 && (piece.ID == "" || piece.ID == s.calls[n-1].id) {
		to = s.calls[n-1]
	}
	if to == nil {
		to = new(building)
		s.calls = append(s.calls, to)
		s.size += callSize
		if piece.Index != nil {
			s.numbered[*piece.Index] = to
		}
	}
	to.id = cmp.Or(to.id, piece.ID)
	to.name.WriteString(piece.Function.Name)
	var arguments string
	if json.Unmarshal(piece.Function.Arguments, &arguments) != nil { // JSON as it is, not in a string
		arguments = string(piece.Function.Arguments)
	}
	to.arguments.WriteString(arguments)
	s.size += len(piece.ID) + len(piece.Function.Name) + len(arguments)
}

func (s *streamed) completion() *completion {
	done := &completion{text: cmp.Or(s.text.String(), s.refusal.String()), finish: s.finish, tokens: s.tokens}
	for _, b := range s.calls {
		done.calls = append(done.calls, Call{b.id, b.name.String(), b.arguments.String()})
	}
	return done
}

// A teller hands on the text of a reply as far as it is certain to be part of it: not what the model thinks aloud, and
// not what may be a call in words.
type teller struct {
	tell   func(piece string, anew bool) // nil hands nothing on
	calls  bool                          // the model may call in words
	looked int                           // up to where the end of what is thought was looked for
	from   int                           // where in the text what is said begins
	told   int                           // up to where it was handed on
	held   bool                          // the rest may be a call
	begun  bool                          // something was handed on
}

// add takes the whole text so far.
func (t *teller) add(text string) {
	if t.tell == nil || t.held || t.told == 0 && !t.begins(text) {
		return
	}
	end := len(strings.TrimRight(text, space))
	for at := t.told; t.calls && at < end; at++ {
		if text[at] != '{' {
			continue
		}
		if inside := strings.TrimLeft(text[at+1:], space); inside == "" || inside[0] == '"' {
			end, t.held = len(strings.TrimRight(text[:at], space)), inside != "" // A brace with nothing behind it is looked at again.
		}
	}
	t.hand(text, end)
}

const (
	space    = " \t\r\n"
	thinking = "<think>"
	thought  = "</think>"
)

// begins finds where what is said begins, behind what the model thinks aloud and white space. It reports whether that
// is known.
func (t *teller) begins(text string) bool {
	rest := strings.TrimLeft(text, space)
	switch {
	case len(rest) < len(thinking) && strings.HasPrefix(thinking, rest):
		return false
	case strings.HasPrefix(rest, thinking):
		from := max(0, t.looked-len(thought))
		end := strings.Index(text[from:], thought)
		t.looked = len(text)
		if end < 0 {
			return false
		}
		if rest = strings.TrimLeft(text[from+end+len(thought):], space); rest == "" {
			t.looked = from + end
			return false
		}
	}
	t.from = len(text) - len(rest)
	t.told = t.from
	return true
}

// end hands on what is left of what a reply says, which has come to its end.
func (t *teller) end(said string) {
	if done := t.told - t.from; t.tell != nil && done < len(said) {
		t.told = done
		t.hand(said, len(said))
	}
}

func (t *teller) hand(text string, end int) {
	if end > t.told {
		t.tell(text[t.told:end], !t.begun)
		t.told, t.begun = end, true
	}
}
