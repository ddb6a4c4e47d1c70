package store

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// transferVersion is the version of the lines that Export writes; Import reads it and those before.
const transferVersion = 1

// transferLine is one line of an export. One field of it is set.
type transferLine struct {
	Workbench    *transferHead         `json:"workbench,omitempty"`
	Conversation *transferConversation `json:"conversation,omitempty"`
	Turn         *Turn                 `json:"turn,omitempty"` // of the conversation before it
	Correction   *transferCorrection   `json:"correction,omitempty"`
	Last         *transferLast         `json:"last,omitempty"`
	End          *Counts               `json:"end,omitempty"`
}

// hand makes what is in the line another principal's.
func (l *transferLine) hand(principal string) {
	switch {
	case l.Conversation != nil:
		l.Conversation.Principal = principal
	case l.Correction != nil:
		l.Correction.Principal = principal
	case l.Last != nil:
		l.Last.Principal = principal
	}
}

type transferHead struct {
	Version int `json:"version"`
}

type transferConversation struct {
	Principal string          `json:"principal"`
	ID        string          `json:"conversation_id"`
	Client    string          `json:"client"`
	Workflow  string          `json:"workflow"`
	Topic     string          `json:"topic"`
	Summary   string          `json:"summary"`
	State     json.RawMessage `json:"state,omitempty"`
	Turns     int             `json:"turns"`
	Created   time.Time       `json:"created_at"`
	Updated   time.Time       `json:"updated_at"`
}

type transferCorrection struct {
	Principal string `json:"principal"`
	Workflow  string `json:"workflow"`
	Version   string `json:"version"`
	Correction
}

// transferLast says which conversation a client was in last.
type transferLast struct {
	Principal    string `json:"principal"`
	Client       string `json:"client"`
	Workflow     string `json:"workflow"`
	Conversation string `json:"conversation_id"`
}

// Counts are what an export or an import has had in it.
type Counts struct {
	Conversations int `json:"conversations"`
	Turns         int `json:"turns"`
	Corrections   int `json:"corrections"`
	Skipped       int `json:"-"` // conversations that were there already, on import
}

// Export writes conversations with their turns, corrections, and what clients were in last, as lines of JSON. Sessions
// and turns under way are left out. It reads one conversation after the other, each as it is at one time, and holds
// nobody up. What is damaged is left out, and of a damaged turn only its key and its end are written; the error
// says which they are.
func (s *Store) Export(ctx context.Context, w io.Writer, sel Selection) (Counts, error) {
	var counts Counts
	out := wire.NewEncoder(w)
	if err := out.Encode(transferLine{Workbench: &transferHead{transferVersion}}); err != nil {
		return counts, err
	}
	var damaged []error
	for key, err := range s.Select(ctx, sel) {
		if err != nil {
			return counts, err
		}
		turns, err := s.exportOne(ctx, out, key)
		switch {
		case errors.As(err, new(*CorruptError)):
			damaged = append(damaged, err)
			if turns > 0 { // of which others are damaged
				counts.Conversations++
				counts.Turns += turns
			}
		case errors.Is(err, ErrNotFound) && sel.IDs == nil: // deleted in between
		case err != nil:
			return counts, err
		default:
			counts.Conversations++
			counts.Turns += turns
		}
	}
	if sel.IDs == nil {
		n, err := s.exportRest(ctx, out, sel.Principal)
		if err != nil && !isPart(err) {
			return counts, err
		}
		damaged, counts.Corrections = append(damaged, err), n
	}
	damaged = append(damaged, out.Encode(transferLine{End: &counts}))
	return counts, errors.Join(damaged...)
}

// exportOne writes a conversation and returns the number of its turns.
func (b *base) exportOne(ctx context.Context, out *json.Encoder, at Key) (int, error) {
	var c Conversation
	var turns []Turn
	var damaged error
	err := b.db.read(ctx, func(ctx context.Context, q querier) (err error) {
		if c, err = getConversation(ctx, q, at.Principal, at.ID); err != nil {
			return err
		}
		turns, damaged, err = lastTurns(ctx, q, at.Principal, at.ID, math.MaxInt32)
		return err
	})
	if err != nil {
		return 0, err
	}
	line := transferConversation{at.Principal, c.ID, c.Client, c.Workflow, c.Topic, c.Summary, c.State, len(turns), c.Created, c.Updated}
	if err := out.Encode(transferLine{Conversation: &line}); err != nil {
		return 0, err
	}
	for i := range turns {
		if err := out.Encode(transferLine{Turn: &turns[i]}); err != nil {
			return 0, err
		}
	}
	return len(turns), damaged
}

// exportRest writes corrections and what clients were in last, and returns the number of corrections. The error may say
// that some are damaged.
func (b *base) exportRest(ctx context.Context, out *json.Encoder, principal string) (n int, err error) {
	corrections, damaged, err := b.corrections(ctx, `$1 = '' OR principal = $1 ORDER BY principal, workflow, version, made, utterance, command`, principal)
	for _, r := range corrections { // what was read before a fault is not lost with it
		line := transferCorrection{r.principal, r.workflow, r.version, r.correction}
		if err := out.Encode(transferLine{Correction: &line}); err != nil {
			return n, err
		}
		n++
	}
	if err != nil {
		return n, err
	}
	lasts, err := list(ctx, b.db, func(row scanner) (l transferLast, err error) {
		err = row.Scan(&l.Principal, &l.Client, &l.Workflow, &l.Conversation)
		return l, err
	}, `SELECT principal, client, workflow, conversation FROM last_conversations
		WHERE $1 = '' OR principal = $1 ORDER BY principal, client, workflow`, principal)
	for i := range lasts {
		if err := out.Encode(transferLine{Last: &lasts[i]}); err != nil {
			return n, err
		}
	}
	if err != nil {
		return n, err
	}
	return n, damaged
}
