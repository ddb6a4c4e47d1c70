package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// RunBook is where a store keeps runs of workflows, which know nothing of conversations.
type RunBook struct{ *base }

// Run is what is known of a run of a workflow besides its events.
type Run struct {
	ID       string
	Workflow string
	Digest   string          // of the definition that it goes by, as [Digest] gives it
	Head     json.RawMessage // what a list of runs shows; it is replaced with every change
	Events   int             // how many there are
	Created  time.Time
	Updated  time.Time
	// Held says until when a process is at work on it.
	Held time.Time
	// Damaged says, in a list, that what is known of it does not match its checksum.
	Damaged bool
}

// OwnedRun is a run and whose it is.
type OwnedRun struct {
	Principal string
	Run
}

// Digest names a definition by its content.
func Digest(definition []byte) string {
	sum := sha256.Sum256(definition)
	return hex.EncodeToString(sum[:])
}

// StaleError says that a run has gone on since it was read.
type StaleError struct{ Has, Want int }

func (e *StaleError) Error() string {
	return fmt.Sprintf("the run has %d events, not %d: somebody else has continued it", e.Has, e.Want)
}

const runColumns = `principal, id, workflow, digest, created, updated, events, head, sum`

// scanRun reads a row of runColumns and held, and checks it.
func scanRun(row scanner) (OwnedRun, error) {
	var r OwnedRun
	var created, updated, events, sum, held int64
	var head []byte
	err := row.Scan(&r.Principal, &r.ID, &r.Workflow, &r.Digest, &created, &updated, &events, &head, &sum, &held)
	if errors.Is(err, sql.ErrNoRows) {
		return r, ErrNotFound
	} else if err != nil {
		return r, err
	}
	if sum != checksum(r.Principal, r.ID, r.Workflow, r.Digest, created, updated, events, head) {
		return r, &CorruptError{Part: true, Cause: fmt.Errorf("run %q does not match its checksum", r.ID)}
	}
	r.Head, r.Events, r.Created, r.Updated, r.Held = head, int(events), fromMillis(created), fromMillis(updated), fromMillis(held)
	return r, nil
}

func getRun(ctx context.Context, q querier, principal, id string) (OwnedRun, error) {
	return scanRun(q.QueryRowContext(ctx, `SELECT `+runColumns+`, held FROM runs WHERE principal = $1 AND id = $2`, principal, id))
}

// putRun keeps the head of a run, whether it is new or not.
func putRun(ctx context.Context, q querier, principal string, r Run) error {
	created, updated, events := r.Created.UnixMilli(), r.Updated.UnixMilli(), int64(r.Events)
	head := []byte(r.Head)
	_, err := q.ExecContext(ctx, `INSERT INTO runs (`+runColumns+`, held) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (principal, id) DO UPDATE SET workflow = excluded.workflow, digest = excluded.digest, updated = excluded.updated,
			events = excluded.events, head = excluded.head, sum = excluded.sum, held = excluded.held`,
		principal, r.ID, r.Workflow, r.Digest, created, updated, events, head,
		checksum(principal, r.ID, r.Workflow, r.Digest, created, updated, events, head), r.Held.UnixMilli())
	return err
}

func putRunEvents(ctx context.Context, q querier, principal, run string, after int, events []json.RawMessage) error {
	for i, e := range events {
		seq, body := int64(after+i+1), []byte(e)
		if _, err := q.ExecContext(ctx, `INSERT INTO run_events (principal, run, seq, body, sum) VALUES ($1, $2, $3, $4, $5)`,
			principal, run, seq, body, checksum(principal, run, seq, body)); err != nil {
			return err
		}
	}
	return nil
}

// StartRun keeps a new run with its first events and the definition that it goes by. Created and Updated of an imported
// run are kept as they are; those of another are now. A run of that id is a *StaleError.
func (b *RunBook) StartRun(ctx context.Context, principal string, r Run, definition []byte, events ...json.RawMessage) error {
	if err := checkNames("principal", principal, "id of a run", r.ID, "workflow", r.Workflow); err != nil {
		return err
	}
	now := fromMillis(b.now())
	if r.Created.IsZero() {
		r.Created, r.Updated = now, now
	}
	r.Digest, r.Events, r.Held = Digest(definition), len(events), fromMillis(0)
	return b.db.write(ctx, func(ctx context.Context, q querier) error {
		if there, err := getRun(ctx, q, principal, r.ID); err == nil {
			return &StaleError{Has: there.Events}
		} else if !errors.Is(err, ErrNotFound) {
			return err
		}
		if err := putDefinition(ctx, q, r.Digest, definition); err != nil {
			return err
		}
		if err := putRun(ctx, q, principal, r); err != nil {
			return err
		}
		return putRunEvents(ctx, q, principal, r.ID, 0, events)
	})
}

// putDefinition writes a definition, unless it is there. Many runs of one workflow begin at the same time: none of them
// changes what the others go by, and [RunBook.DeleteRun] waits for all.
func putDefinition(ctx context.Context, q querier, digest string, definition []byte) error {
	_, err := q.ExecContext(ctx, `INSERT INTO definitions (digest, body) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING`,
		digest, definition)
	return err
}

// A RunChange is what is added to a run.
type RunChange struct {
	After  int             // how many events it has, as far as the caller knows
	Head   json.RawMessage // instead of the one before
	Events []json.RawMessage
	// Definition is what the run goes by from now on; nil: what it has gone by.
	Definition []byte
	// Hold is how long this process will be at work on the run; 0: it is not.
	Hold time.Duration
}

// ChangeRun adds events to a run. It is a *StaleError if the run has another number of events than the caller knows.
func (b *RunBook) ChangeRun(ctx context.Context, principal, id string, c RunChange) error {
	now := b.now()
	return b.db.write(ctx, func(ctx context.Context, q querier) error {
		r, err := getRun(ctx, q, principal, id)
		if err != nil {
			return err
		}
		if r.Events != c.After {
			return &StaleError{Has: r.Events, Want: c.After}
		}
		r.Head, r.Events, r.Updated, r.Held = c.Head, c.After+len(c.Events), fromMillis(now), fromMillis(0)
		if c.Hold > 0 {
			r.Held = fromMillis(now + c.Hold.Milliseconds())
		}
		if c.Definition != nil {
			r.Digest = Digest(c.Definition)
			if err := putDefinition(ctx, q, r.Digest, c.Definition); err != nil {
				return err
			}
		}
		if err := putRunEvents(ctx, q, principal, id, c.After, c.Events); err != nil {
			return err
		}
		return putRun(ctx, q, principal, r.Run)
	})
}

// HoldRun says that this process stays at work on a run that has so many events. It is a *StaleError if the run has
// another number of them: somebody else has taken it over.
func (b *RunBook) HoldRun(ctx context.Context, principal, id string, events int, hold time.Duration) error {
	return b.db.write(ctx, func(ctx context.Context, q querier) error {
		done, err := q.ExecContext(ctx, `UPDATE runs SET held = $1 WHERE principal = $2 AND id = $3 AND events = $4`,
			b.now()+hold.Milliseconds(), principal, id, int64(events))
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); n > 0 || err != nil {
			return err
		}
		r, err := getRun(ctx, q, principal, id)
		if err != nil {
			return err
		}
		return &StaleError{Has: r.Events, Want: events}
	})
}

// Run returns a run of the principal with its events behind the first so many.
func (b *RunBook) Run(ctx context.Context, principal, id string, after int) (Run, []json.RawMessage, error) {
	var found OwnedRun
	var events []json.RawMessage
	err := b.db.read(ctx, func(ctx context.Context, q querier) (err error) {
		if found, err = getRun(ctx, q, principal, id); err != nil {
			return err
		}
		events, err = runEvents(ctx, q, principal, id, after)
		if err == nil && after+len(events) != found.Events {
			err = &CorruptError{Part: true, Cause: fmt.Errorf("run %q lacks events", id)}
		}
		return err
	})
	if err != nil {
		return Run{}, nil, err
	}
	return found.Run, events, nil
}

func runEvents(ctx context.Context, q querier, principal, run string, after int) ([]json.RawMessage, error) {
	var events []json.RawMessage
	err := each(ctx, q, func(row scanner) error {
		var seq, sum int64
		var body []byte
		if err := row.Scan(&seq, &body, &sum); err != nil {
			return err
		}
		if seq != int64(after+len(events)+1) || sum != checksum(principal, run, seq, body) {
			return &CorruptError{Part: true, Cause: fmt.Errorf("event %d of run %q does not match its checksum", seq, run)}
		}
		events = append(events, body)
		return nil
	}, `SELECT seq, body, sum FROM run_events WHERE principal = $1 AND run = $2 AND seq > $3 ORDER BY seq`, principal, run, int64(after))
	return events, err
}

const latestRuns = `SELECT ` + runColumns + `, held FROM runs WHERE principal = $1 ORDER BY updated DESC, id DESC LIMIT $2`

// Runs returns the runs that were changed last, the latest first, at most limit, of one principal or, with "", of
// everybody.
func (b *RunBook) Runs(ctx context.Context, principal string, limit int) ([]OwnedRun, error) {
	if principal == "" {
		return b.runs(ctx, `SELECT `+runColumns+`, held FROM runs ORDER BY updated DESC, id DESC LIMIT $1`, limit)
	}
	return b.runs(ctx, latestRuns, principal, limit)
}

// RunsByID returns the runs of that id, of one principal or, with "", of everybody.
func (b *RunBook) RunsByID(ctx context.Context, principal, id string) ([]OwnedRun, error) {
	found, err := b.runs(ctx, `SELECT `+runColumns+`, held FROM runs WHERE ($1 = '' OR principal = $1) AND id = $2 ORDER BY principal`, principal, id)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("run %q: %w", id, ErrNotFound)
	}
	return found, err
}

func (b *RunBook) runs(ctx context.Context, query string, args ...any) ([]OwnedRun, error) {
	return list(ctx, b.db, func(row scanner) (OwnedRun, error) {
		r, err := scanRun(row)
		if r.Damaged = errors.As(err, new(*CorruptError)); r.Damaged {
			err = nil // One costs no other its place in the list.
		}
		return r, err
	}, query, args...)
}

// Definition returns the definition of that digest.
func (b *RunBook) Definition(ctx context.Context, digest string) ([]byte, error) {
	var body []byte
	err := b.db.read(ctx, func(ctx context.Context, q querier) error {
		err := q.QueryRowContext(ctx, `SELECT body FROM definitions WHERE digest = $1`, digest).Scan(&body)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		return err
	})
	if err == nil && Digest(body) != digest {
		err = &CorruptError{Part: true, Cause: fmt.Errorf("the definition %s does not match its digest", digest)}
	}
	return body, err
}

// DeleteRun removes a run with its events, and the definitions that no run goes by.
func (b *RunBook) DeleteRun(ctx context.Context, principal, id string) error {
	return b.db.write(ctx, func(ctx context.Context, q querier) error {
		if b.db.locks() { // before the transaction sees anything, so that it sees all runs that go by a definition
			if _, err := q.ExecContext(ctx, `LOCK TABLE definitions IN SHARE ROW EXCLUSIVE MODE`); err != nil {
				return err
			}
		}
		if _, err := getRun(ctx, q, principal, id); err != nil && !errors.As(err, new(*CorruptError)) {
			return err
		}
		if _, err := q.ExecContext(ctx, `DELETE FROM runs WHERE principal = $1 AND id = $2`, principal, id); err != nil {
			return err
		}
		_, err := q.ExecContext(ctx, `DELETE FROM definitions WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.digest = definitions.digest)`)
		return err
	})
}
