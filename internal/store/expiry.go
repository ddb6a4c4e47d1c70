package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// noticeTime is how long it is said that conversations go by their age before the first one does. A shorter age is said
// anew.
const noticeTime = 24 * time.Hour

// Expiry is what [Store.Expire] has found and done.
type Expiry struct {
	Deleted int       // conversations
	Due     int       // that are old enough to go, but not yet
	From    time.Time // when the first may go; zero where nothing goes by its age
}

// Expire deletes conversations whose last turn ended longer than Options.KeepFor ago, a thousand at most. It first only
// says that it will: none goes in the day after a store has been told of that age. A conversation that a session is in,
// or in which a turn is under way, stays. Without an age nothing goes. If certain is false, because the clock may be
// wrong, nothing goes either.
func (s *Store) Expire(ctx context.Context, certain bool) (Expiry, error) {
	from, err := s.announce(ctx)
	if err != nil || from.IsZero() {
		return Expiry{}, err
	}
	done := Expiry{From: from}
	old := s.now() - s.opts.KeepFor.Milliseconds()
	if s.now() < from.UnixMilli() || !certain {
		err := s.db.read(ctx, func(ctx context.Context, q querier) error {
			return q.QueryRowContext(ctx, `SELECT count(*) FROM conversations WHERE updated < $1`, old).Scan(&done.Due)
		})
		return done, err
	}
	unused := s.now() - s.opts.SessionIdle.Milliseconds()
	const free = `updated < $1 AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.principal = conversations.principal
		AND s.conversation = conversations.id AND s.used >= $2)`
	keys, err := s.page(ctx, `SELECT principal, id FROM conversations WHERE `+free+` ORDER BY updated LIMIT 1000`, old, unused)
	if err != nil {
		return done, err
	}
	for _, key := range keys {
		var n int64
		err := s.idle(ctx, key.Principal, key.ID, func(ctx context.Context, q querier) error {
			result, err := q.ExecContext(ctx, `DELETE FROM conversations WHERE `+free+` AND principal = $3 AND id = $4`, old, unused, key.Principal, key.ID)
			if err != nil {
				return err
			}
			n, err = result.RowsAffected()
			return err
		})
		if err == nil {
			done.Deleted += int(n)
		}
		if err != nil && !errors.As(err, new(*BusyError)) {
			return done, err
		}
	}
	return done, nil
}

// notice is what is kept of how long conversations are kept: the age, and since when it has been said. Both are 0 where
// none is.
func notice(ctx context.Context, q querier) (age, said int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT age, said FROM expiry`).Scan(&age, &said)
	return age, said, ignore(err, sql.ErrNoRows)
}

// announce keeps the age by which conversations go and since when that has been said. It returns when the first may go,
// zero for never.
func (b *base) announce(ctx context.Context) (from time.Time, err error) {
	now, age := b.now(), b.opts.KeepFor.Milliseconds()
	said := func(keptAge, keptSaid int64) int64 {
		if keptAge == 0 || age < keptAge || keptSaid > now {
			return now
		}
		return keptSaid
	}
	var keptAge, keptSaid int64
	err = b.db.read(ctx, func(ctx context.Context, q querier) (err error) {
		keptAge, keptSaid, err = notice(ctx, q)
		return err
	})
	switch {
	case err != nil || age == 0 && keptAge == 0:
		return time.Time{}, err
	case age != keptAge || keptSaid > now: // Otherwise there is nothing to write.
		err = b.db.write(ctx, func(ctx context.Context, q querier) error {
			var err error
			if keptAge, keptSaid, err = notice(ctx, q); err != nil {
				return err
			}
			if _, err := q.ExecContext(ctx, `DELETE FROM expiry`); err != nil || age == 0 {
				return err
			}
			_, err = q.ExecContext(ctx, `INSERT INTO expiry (single, age, said) VALUES (1, $1, $2)`, age, said(keptAge, keptSaid))
			return err
		})
	}
	if err != nil || age == 0 {
		return time.Time{}, err
	}
	return fromMillis(said(keptAge, keptSaid)).Add(noticeTime), nil
}

// goes fills in when conversations go if they are not gone on with.
func (b *base) goes(ctx context.Context, q querier, list ...*Conversation) error {
	if b.opts.KeepFor == 0 || len(list) == 0 {
		return nil
	}
	age, said, err := notice(ctx, q)
	if err != nil {
		return err
	}
	if age == 0 || b.opts.KeepFor.Milliseconds() < age {
		said = b.now() // That is said with the next Expire.
	}
	for _, c := range list {
		if c.Damaged {
			continue // Nobody knows when it was updated.
		}
		c.Expires = c.Updated.Add(b.opts.KeepFor)
		if from := fromMillis(said).Add(noticeTime); c.Expires.Before(from) {
			c.Expires = from
		}
	}
	return nil
}
