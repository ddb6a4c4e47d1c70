package store

import (
	"context"
)

// Store keeps conversations. Open one with [OpenSQLite] or [OpenPostgres], and Close it in the end.
type Store struct {
	*base
	RunBook
	CorrectionBook
	keeper keeper
	quiet  silence
}

func newStore(db database, opts Options) *Store {
	b := &base{db, opts}
	s := &Store{base: b, RunBook: RunBook{b}, CorrectionBook: CorrectionBook{b}}
	s.keeper.start(s)
	return s
}

// Close ends the store after the changes under way. Turns that have not ended lose their conversations.
func (s *Store) Close() error {
	s.keeper.stop()
	return s.db.close()
}

// Try changes something and takes it back, to see whether changes are kept. The error says why they are not.
func (s *Store) Try(ctx context.Context) error {
	return s.db.write(ctx, func(ctx context.Context, q querier) error {
		mark := NewID()
		if _, err := q.ExecContext(ctx, `INSERT INTO corrections (`+correctionColumns+`) VALUES ('', '', '', $1, '', 0, 0, 0)`, mark); err != nil {
			return err
		}
		_, err := q.ExecContext(ctx, `DELETE FROM corrections WHERE principal = '' AND workflow = '' AND version = '' AND utterance = $1`, mark)
		return err
	})
}
