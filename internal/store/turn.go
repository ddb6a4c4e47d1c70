package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// Turn is one request of a conversation and what came of it.
type Turn struct {
	Key      string            `json:"turn_key"` // of the caller's making, once for each principal
	Kind     string            `json:"kind,omitempty"`
	Message  string            `json:"message"` // what was asked for
	Status   string            `json:"status"`  // such as completed, awaiting_user or failed; StatusLost and StatusDamaged are the store's own
	Summary  string            `json:"summary,omitempty"`
	Output   json.RawMessage   `json:"output,omitempty"`
	Traces   []json.RawMessage `json:"traces,omitempty"`
	State    json.RawMessage   `json:"state,omitempty"` // of the conversation after it; nil: as before
	Feedback *Feedback         `json:"feedback,omitempty"`
	Started  time.Time         `json:"started"` // kept in milliseconds
	Ended    time.Time         `json:"ended"`
}

// StatusLost is the status of a turn whose process ended before the turn did. What the turn has done is unknown.
const StatusLost = "lost"

// StatusDamaged is the status of a turn of which nothing can be read but its key and its end.
const StatusDamaged = "damaged"

// Feedback is what a user thinks of a turn. At least one of Score and Text is not nil.
type Feedback struct {
	Score *float64  `json:"binary_or_numeric_score,omitempty"`
	Text  *string   `json:"nl_feedback,omitempty"`
	Given time.Time `json:"given"`
}

const turnColumns = `t.conversation, t.seq, t.turn_key, t.ended, t.body, t.sum`

// turnRow is a turn as it is kept.
type turnRow struct {
	conversation string
	seq          int64
	turn         Turn
}

// scanTurn reads a row of turnColumns, with more in front of it, and checks it.
func scanTurn(row scanner, principal string, front ...any) (turnRow, error) {
	var r turnRow
	var key string
	var ended, sum int64
	var body []byte
	err := row.Scan(append(front, &r.conversation, &r.seq, &key, &ended, &body, &sum)...)
	if errors.Is(err, sql.ErrNoRows) {
		return r, ErrNotFound
	} else if err != nil {
		return r, err
	}
	damaged := Turn{Key: key, Status: StatusDamaged, Started: fromMillis(ended), Ended: fromMillis(ended)}
	if checkNames("turn key", key) != nil { // Such a key could be neither exported as it is nor imported.
		damaged.Key = Digest(fmt.Appendf(nil, "%s %d", r.conversation, r.seq))
	}
	if sum != checksum(principal, r.conversation, r.seq, key, ended, body) {
		r.turn = damaged
		return r, &CorruptError{Part: true, Cause: fmt.Errorf("turn %d of conversation %q does not match its checksum", r.seq, r.conversation)}
	}
	if err := json.Unmarshal(body, &r.turn); err != nil {
		r.turn = damaged
		return r, &CorruptError{Part: true, Cause: fmt.Errorf("turn %d of conversation %q cannot be read: %w", r.seq, r.conversation, foreign.NewError(err))}
	}
	return r, nil
}

// putTurn keeps a turn, whether it is new or not.
func putTurn(ctx context.Context, q querier, principal string, r turnRow) error {
	body, err := encode(r.turn)
	if err != nil {
		return err
	}
	ended := r.turn.Ended.UnixMilli()
	_, err = q.ExecContext(ctx, `INSERT INTO turns (principal, conversation, seq, turn_key, ended, body, sum) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (principal, conversation, seq) DO UPDATE SET body = excluded.body, sum = excluded.sum`,
		principal, r.conversation, r.seq, r.turn.Key, ended, body,
		checksum(principal, r.conversation, r.seq, r.turn.Key, ended, body))
	return err
}

// appendTurn puts a turn at the end of a conversation.
func appendTurn(ctx context.Context, q querier, principal string, c *Conversation, t Turn) error {
	t.Started, t.Ended = fromMillis(t.Started.UnixMilli()), fromMillis(t.Ended.UnixMilli())
	c.Turns++
	if t.Ended.After(c.Updated) {
		c.Updated = t.Ended
	}
	if t.State != nil {
		c.State = t.State
	}
	if err := putTurn(ctx, q, principal, turnRow{c.ID, int64(c.Turns), t}); err != nil {
		return err
	}
	return putConversation(ctx, q, principal, *c)
}

func turnByKey(ctx context.Context, q querier, principal, key string) (turnRow, error) {
	return scanTurn(q.QueryRowContext(ctx, `SELECT `+turnColumns+` FROM turns t WHERE principal = $1 AND turn_key = $2`, principal, key), principal)
}

// Turns returns the last turns of a conversation in the order they ended; limit 0 means all. A damaged one is there
// with StatusDamaged.
func (s *Store) Turns(ctx context.Context, principal, conversation string, limit int) ([]Turn, error) {
	if limit <= 0 {
		limit = math.MaxInt32
	}
	var turns []Turn
	err := s.db.read(ctx, func(ctx context.Context, q querier) (err error) {
		turns, _, err = lastTurns(ctx, q, principal, conversation, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	return turns, nil
}

// lastTurns is Turns; damaged says which of them are.
func lastTurns(ctx context.Context, q querier, principal, conversation string, limit int) (turns []Turn, damaged, _ error) {
	// One statement sees one state: the count and the turns belong together.
	var next int64
	err := each(ctx, q, func(row scanner) error {
		var count int64
		r, err := scanTurn(row, principal, &count)
		switch {
		case isPart(err):
			damaged = errors.Join(damaged, err)
		case err != nil:
			return err
		}
		if turns == nil {
			next = count
		}
		if r.seq != next {
			return missingTurn(conversation, next)
		}
		next--
		turns = append(turns, r.turn)
		return nil
	}, `SELECT c.turns, `+turnColumns+` FROM conversations c
		JOIN turns t ON t.principal = c.principal AND t.conversation = c.id
		WHERE c.principal = $1 AND c.id = $2 ORDER BY t.seq DESC LIMIT $3`, principal, conversation, limit)
	if err != nil {
		return nil, nil, err
	}
	if turns == nil {
		c, err := getConversation(ctx, q, principal, conversation)
		if err != nil {
			return nil, nil, err
		}
		next = int64(c.Turns)
	}
	if next > 0 && len(turns) < limit {
		return nil, nil, missingTurn(conversation, next)
	}
	slices.Reverse(turns)
	return turns, damaged, nil
}

func missingTurn(conversation string, seq int64) error {
	return &CorruptError{Part: true, Cause: fmt.Errorf("turn %d of conversation %q is missing", seq, conversation)}
}

// SaveFeedback attaches feedback to the latest turn of a conversation, in place of what was there.
func (s *Store) SaveFeedback(ctx context.Context, principal, conversation string, f Feedback) error {
	if f.Score == nil && f.Text == nil {
		return &InvalidError{"want a score or a text as feedback, got neither"}
	}
	f.Given = fromMillis(s.now())
	return s.db.write(ctx, func(ctx context.Context, q querier) error {
		c, err := getConversation(ctx, q, principal, conversation)
		if err != nil {
			return err
		}
		if c.Turns == 0 {
			return ErrNoTurn
		}
		r, err := scanTurn(q.QueryRowContext(ctx, `SELECT `+turnColumns+` FROM turns t WHERE principal = $1 AND conversation = $2 AND seq = $3`,
			principal, conversation, int64(c.Turns)), principal)
		if errors.Is(err, ErrNotFound) {
			return missingTurn(conversation, int64(c.Turns))
		} else if err != nil {
			return err
		}
		r.turn.Feedback = &f
		return putTurn(ctx, q, principal, r)
	})
}

// Progress says how far a turn is.
type Progress string

// The states of a turn.
const (
	Running Progress = "running"
	Done    Progress = "done"
	Lost    Progress = "lost" // its process ended before it did
)

// Result is what has become of a turn.
type Result struct {
	Progress     Progress
	Conversation string
	Turn         Turn // while it is running, only its Key, Kind, Message and Started
}

// Result returns what has become of the principal's turn with that key, from its start until ResultTTL after its end.
func (s *Store) Result(ctx context.Context, principal, key string) (Result, error) {
	var result Result
	var held lease
	err := s.db.read(ctx, func(ctx context.Context, q querier) error {
		r, err := turnByKey(ctx, q, principal, key)
		switch {
		case err == nil && s.now()-r.turn.Ended.UnixMilli() > s.opts.ResultTTL.Milliseconds():
			return ErrNotFound
		case err == nil:
			result = Result{Done, r.conversation, r.turn}
			if r.turn.Status == StatusLost {
				result.Progress = Lost
			}
			return nil
		case !errors.Is(err, ErrNotFound):
			return err
		}
		held, err = getLease(ctx, q, `turn_key`, principal, key)
		return err
	})
	if err != nil {
		return Result{}, err
	}
	if held.key == "" {
		return result, nil
	}
	result = Result{Running, held.conversation, held.turn()}
	dead, err := s.dead(ctx, principal, held)
	if err != nil {
		return Result{}, err
	}
	if dead {
		result.Progress = Lost
	}
	return result, nil
}
