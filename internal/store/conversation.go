package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Conversation is what is known of a conversation besides its turns.
type Conversation struct {
	ID       string
	Client   string // where it was begun
	Workflow string // what it is about
	Topic    string // "" until the conversation is rotated
	Summary  string
	State    json.RawMessage // what the next turn goes on from, such as the path of contexts; nil: nothing yet
	Turns    int
	Created  time.Time
	Updated  time.Time // when its last turn ended
	Expires  time.Time // when it is deleted unless it is gone on with; zero: never
	Damaged  bool      // nothing but its ID is certain; only lists have such
}

// conversationBody is what is kept of a conversation that no query asks for.
type conversationBody struct {
	Topic   string          `json:"topic,omitempty"`
	Summary string          `json:"summary,omitempty"`
	State   json.RawMessage `json:"state,omitempty"`
}

const conversationColumns = `principal, id, client, workflow, topic_key, created, updated, turns, body, sum`

// scanConversation reads a row of conversationColumns and checks it. A damaged one is returned as such beside the error.
func scanConversation(row scanner) (principal string, c Conversation, err error) {
	var key string
	var created, updated, turns, sum int64
	var body []byte
	err = row.Scan(&principal, &c.ID, &c.Client, &c.Workflow, &key, &created, &updated, &turns, &body, &sum)
	if errors.Is(err, sql.ErrNoRows) {
		return "", c, ErrNotFound
	} else if err != nil {
		return "", c, err
	}
	c.Turns, c.Created, c.Updated = int(turns), fromMillis(created), fromMillis(updated)
	var b conversationBody
	if sum != checksum(principal, c.ID, c.Client, c.Workflow, key, created, updated, turns, body) {
		err = errors.New("does not match its checksum")
	} else if err = json.Unmarshal(body, &b); err != nil {
		err = fmt.Errorf("cannot be read: %w", foreign.NewError(err))
	}
	if err != nil {
		c.Damaged = true
		return principal, c, &CorruptError{Part: true, Cause: fmt.Errorf("conversation %q %w", c.ID, err)}
	}
	c.Topic, c.Summary, c.State = b.Topic, b.Summary, b.State
	return principal, c, nil
}

func getConversation(ctx context.Context, q querier, principal, id string) (Conversation, error) {
	_, c, err := scanConversation(q.QueryRowContext(ctx,
		`SELECT `+conversationColumns+` FROM conversations WHERE principal = $1 AND id = $2`, principal, id))
	return c, err
}

// putConversation keeps a conversation, whether it is new or not.
func putConversation(ctx context.Context, q querier, principal string, c Conversation) error {
	body, err := encode(conversationBody{c.Topic, c.Summary, c.State})
	if err != nil {
		return err
	}
	key := topicKey(c.Topic)
	created, updated, turns := c.Created.UnixMilli(), c.Updated.UnixMilli(), int64(c.Turns)
	sum := checksum(principal, c.ID, c.Client, c.Workflow, key, created, updated, turns, body)
	_, err = q.ExecContext(ctx, `INSERT INTO conversations (`+conversationColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (principal, id) DO UPDATE SET client = excluded.client, workflow = excluded.workflow, topic_key = excluded.topic_key,
			created = excluded.created, updated = excluded.updated, turns = excluded.turns, body = excluded.body, sum = excluded.sum`,
		principal, c.ID, c.Client, c.Workflow, key, created, updated, turns, body, sum)
	return err
}

// encode is JSON without the escapes that HTML wants.
func encode(v any) ([]byte, error) {
	out, err := wire.Encode(v)
	if err != nil {
		return nil, &InvalidError{fmt.Sprintf("want valid JSON to keep, got %v", err)}
	}
	return out, nil
}

// Conversation returns a conversation of the principal.
func (s *Store) Conversation(ctx context.Context, principal, id string) (Conversation, error) {
	var found Conversation
	err := s.db.read(ctx, func(ctx context.Context, q querier) (err error) {
		if found, err = getConversation(ctx, q, principal, id); err != nil {
			return err
		}
		return s.goes(ctx, q, &found)
	})
	if err != nil {
		return Conversation{}, err
	}
	return found, nil
}

// latest finds the conversations of a principal with a workflow.
const latest = `SELECT ` + conversationColumns + ` FROM conversations WHERE principal = $1 AND workflow = $2
	ORDER BY updated DESC, id DESC LIMIT $3`

// Conversations returns the principal's conversations with a workflow that were updated last, the latest first, at most
// limit.
func (s *Store) Conversations(ctx context.Context, principal, workflow string, limit int) ([]Conversation, error) {
	owned, err := s.conversations(ctx, latest, principal, workflow, limit)
	var found []Conversation
	for _, c := range owned {
		found = append(found, c.Conversation)
	}
	return found, err
}

// SaveState keeps what the next turn of a conversation goes on from, where no turn changed it.
func (s *Store) SaveState(ctx context.Context, principal, id string, state json.RawMessage) error {
	return s.db.write(ctx, func(ctx context.Context, q querier) error {
		c, err := getConversation(ctx, q, principal, id)
		if err != nil {
			return err
		}
		c.State = state
		return putConversation(ctx, q, principal, c)
	})
}

// Delete removes a conversation with its turns and the sessions that are in it. It is a *BusyError while a turn is
// under way.
func (s *Store) Delete(ctx context.Context, principal, id string) error {
	return s.idle(ctx, principal, id, func(ctx context.Context, q querier) error {
		result, err := q.ExecContext(ctx, `DELETE FROM conversations WHERE principal = $1 AND id = $2`, principal, id)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if err == nil && n == 0 {
			err = ErrNotFound
		}
		return err
	})
}
