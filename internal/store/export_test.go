package store

import (
	"context"
	"time"
)

// Knobs are what tests turn.
type Knobs struct {
	Lease       time.Duration
	Now         func() time.Time
	VFS         string
	Synchronous string
	Rollback    bool
	LogLimit    int64
	Conns       int
	Answer      time.Duration
}

// Turned returns the options with the knobs turned.
func (o Options) Turned(k Knobs) Options {
	o.lease, o.now, o.pgConns, o.pgAnswer = k.Lease, k.Now, k.Conns, k.Answer
	o.sqlite = sqliteOptions{vfs: k.VFS, synchronous: k.Synchronous, rollback: k.Rollback, logLimit: k.LogLimit}
	return o
}

// SchemaVersion is that of this program.
func SchemaVersion() int { return len(migrations()) }

// TopicTaken is how a topic is made unique, Latest and LatestRuns what lists are.
const (
	TopicTaken = topicTaken
	Latest     = latest
	LatestRuns = latestRuns
)

// LongGroup returns how many changes are committed together at most.
const LongGroup = maxGroup

var (
	UnsafePlace = unsafePlace
	TopicKey    = topicKey
)

// LookAlive looks whether the locks taken are held still, as the keeper does.
func (s *Store) LookAlive() { s.db.alive() }

// ReadAnew has each read be done once more, as where the connection was lost at its end.
func (s *Store) ReadAnew() { s.db = anew{s.db} }

type anew struct{ database }

func (a anew) read(ctx context.Context, do func(context.Context, querier) error) error {
	if err := a.database.read(ctx, do); err != nil {
		return err
	}
	return a.database.read(ctx, do)
}
