package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Session is what a client goes by between its calls. It is in one conversation at a time.
type Session struct {
	ID           string
	Client       string
	Workflow     string
	Conversation string
}

// Begin makes a session of a client with a workflow. It is in the conversation of that id; with "" it is in the one
// that this client of this principal was in last with this workflow, or in a new one where there is none or it is damaged.
func (s *Store) Begin(ctx context.Context, principal, client, workflow, conversation string) (Session, error) {
	if err := checkNames("principal", principal, "client", client, "workflow", workflow); err != nil {
		return Session{}, err
	}
	now := s.now()
	session := Session{ID: NewID(), Client: client, Workflow: workflow}
	fresh := NewID()
	err := s.db.write(ctx, func(ctx context.Context, q querier) error {
		if _, err := q.ExecContext(ctx, `DELETE FROM sessions WHERE used < $1`, now-s.opts.SessionIdle.Milliseconds()); err != nil {
			return err
		}
		id, err := restore(ctx, q, principal, client, workflow, conversation)
		if conversation == "" && (errors.Is(err, ErrNotFound) || isPart(err)) {
			id = fresh
			err = putConversation(ctx, q, principal, Conversation{ID: id, Client: client, Workflow: workflow, Created: fromMillis(now), Updated: fromMillis(now)})
		}
		if err != nil {
			return err
		}
		session.Conversation = id
		if _, err := q.ExecContext(ctx, `INSERT INTO sessions (principal, id, client, workflow, conversation, created, used)
			VALUES ($1, $2, $3, $4, $5, $6, $6)`, principal, session.ID, client, workflow, id, now); err != nil {
			return err
		}
		return setLast(ctx, q, principal, session)
	})
	if err != nil {
		return Session{}, err
	}
	return session, nil
}

// restore finds the conversation to go on with.
func restore(ctx context.Context, q querier, principal, client, workflow, conversation string) (string, error) {
	if conversation == "" {
		err := q.QueryRowContext(ctx, `SELECT conversation FROM last_conversations WHERE principal = $1 AND client = $2 AND workflow = $3`,
			principal, client, workflow).Scan(&conversation)
		if errors.Is(err, sql.ErrNoRows) {
			return "", ErrNotFound
		} else if err != nil {
			return "", err
		}
	}
	c, err := getConversation(ctx, q, principal, conversation)
	if err == nil && c.Workflow != workflow {
		return "", ErrNotFound // Its state would mean nothing there.
	}
	return c.ID, err
}

// setLast remembers where the session's client is to go on.
func setLast(ctx context.Context, q querier, principal string, session Session) error {
	_, err := q.ExecContext(ctx, `INSERT INTO last_conversations (principal, client, workflow, conversation) VALUES ($1, $2, $3, $4)
		ON CONFLICT (principal, client, workflow) DO UPDATE SET conversation = excluded.conversation`,
		principal, session.Client, session.Workflow, session.Conversation)
	return err
}

// touchEvery is how old the note of a session's last use may be, so that not every call writes.
const touchEvery = time.Minute

// Session returns a session of the principal that was not idle for too long, and notes that it is in use.
func (s *Store) Session(ctx context.Context, principal, id string) (Session, error) {
	var session Session
	var used int64
	err := s.db.read(ctx, func(ctx context.Context, q querier) (err error) {
		session, used, err = s.getSession(ctx, q, principal, id)
		return err
	})
	if err != nil {
		return Session{}, err
	}
	now := s.now()
	if now-used < touchEvery.Milliseconds() && now-used < s.opts.SessionIdle.Milliseconds()/4 {
		return session, nil
	}
	err = s.db.write(ctx, func(ctx context.Context, q querier) error {
		_, err := q.ExecContext(ctx, `UPDATE sessions SET used = $1 WHERE principal = $2 AND id = $3 AND used < $1`, now, principal, id)
		return err
	})
	if err != nil && !errors.As(err, new(*ReadOnlyError)) {
		return Session{}, err
	}
	return session, nil
}

func (s *Store) getSession(ctx context.Context, q querier, principal, id string) (Session, int64, error) {
	session := Session{ID: id}
	var used int64
	err := q.QueryRowContext(ctx, `SELECT client, workflow, conversation, used FROM sessions WHERE principal = $1 AND id = $2`,
		principal, id).Scan(&session.Client, &session.Workflow, &session.Conversation, &used)
	if errors.Is(err, sql.ErrNoRows) || err == nil && s.now()-used >= s.opts.SessionIdle.Milliseconds() {
		return Session{}, 0, ErrNotFound
	}
	return session, used, err
}

// Activate puts a session into another conversation of the same principal and workflow. It is a *BusyError while a turn
// of the conversation it is in is under way.
func (s *Store) Activate(ctx context.Context, principal, session, conversation string) error {
	return s.move(ctx, principal, session, func(ctx context.Context, q querier, at Session) (string, error) {
		c, err := getConversation(ctx, q, principal, conversation)
		if err == nil && c.Workflow != at.Workflow {
			err = ErrNotFound // Its state would mean nothing here.
		}
		return c.ID, err
	})
}

// Rotate ends the conversation that a session is in with a topic and a summary, and puts the session into a new one,
// whose id it returns. A topic that the principal has already, whatever its case and white space, gets a number behind
// it. A conversation without turns is not ended but gone on with, and a damaged one is left as it is. The new one begins
// after the last turn of the other, so that it is listed before it, whatever the clock says. Rotate is a *BusyError while
// a turn is under way.
func (s *Store) Rotate(ctx context.Context, principal, session, topic, summary string) (string, error) {
	fresh, now := NewID(), fromMillis(s.now())
	var id string
	err := s.move(ctx, principal, session, func(ctx context.Context, q querier, at Session) (string, error) {
		begin := func() error {
			return putConversation(ctx, q, principal, Conversation{ID: fresh, Client: at.Client, Workflow: at.Workflow, Created: now, Updated: now})
		}
		old, err := getConversation(ctx, q, principal, at.Conversation)
		id = at.Conversation
		switch {
		case isPart(err):
			id = fresh
			return id, begin()
		case err != nil || old.Turns == 0:
			return id, err
		}
		if old.Topic, err = uniqueTopic(ctx, q, principal, old.ID, topic); err != nil {
			return "", err
		}
		old.Summary = summary
		if !now.After(old.Updated) {
			now = old.Updated.Add(time.Millisecond)
		}
		if err := putConversation(ctx, q, principal, old); err != nil {
			return "", err
		}
		id = fresh
		return id, begin()
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

// move puts a session into the conversation that to returns, and remembers it for the next session.
func (s *Store) move(ctx context.Context, principal, session string, to func(context.Context, querier, Session) (string, error)) error {
	at, err := s.Session(ctx, principal, session)
	if err != nil {
		return err
	}
	return s.idle(ctx, principal, at.Conversation, func(ctx context.Context, q querier) error {
		now, _, err := s.getSession(ctx, q, principal, session)
		if err != nil {
			return err
		}
		if now.Conversation != at.Conversation {
			return &BusyError{} // Another call moved it in between.
		}
		if now.Conversation, err = to(ctx, q, now); err != nil {
			return err
		}
		if _, err := q.ExecContext(ctx, `UPDATE sessions SET conversation = $1 WHERE principal = $2 AND id = $3`,
			now.Conversation, principal, session); err != nil {
			return err
		}
		return setLast(ctx, q, principal, now)
	})
}
