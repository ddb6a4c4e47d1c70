package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// pgLocks takes advisory locks on a connection of its own. PostgreSQL gives them back when that ends, however it does.
// The connection therefore belongs to no caller: one who goes away ends nothing that is asked on it, and one who waits
// for others to be done with it does not take the waiting for silence of the server.
type pgLocks struct {
	config   *pgx.ConnConfig
	patience time.Duration   // how long a caller waits
	answer   time.Duration   // how long the server may take for one statement before the connection is given up
	life     context.Context // until close
	end      context.CancelFunc
	turn     chan struct{} // has room for one; whoever has put something in may use conn
	conn     *pgx.Conn     // nil until the first lock and after a failure

	mu sync.Mutex
	// held are the locks taken on conn, which they are with: PostgreSQL gives a lock as often as one connection asks for
	// it. Guarded by mu.
	held map[int64]*pgx.Conn
}

func newPGLocks(config *pgx.ConnConfig, opts Options) *pgLocks {
	l := &pgLocks{config: config, patience: opts.pgAnswer, answer: opts.lease / 3, turn: make(chan struct{}, 1), held: make(map[int64]*pgx.Conn)}
	l.life, l.end = context.WithCancel(context.Background())
	return l
}

// enter waits until conn may be used; leave follows.
func (l *pgLocks) enter(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if l.life.Err() != nil {
		l.leave()
		return ErrClosed
	}
	return nil
}

func (l *pgLocks) leave() { <-l.turn }

// lock asks the server to the end whoever goes away meanwhile: a question that is broken off costs the connection, and
// with it the locks of all.
func (l *pgLocks) lock(ctx context.Context, number int64) (lock *heldLock, err error) {
	err = within(ctx, l.patience, func(ctx context.Context) error {
		if err := l.enter(ctx); err != nil {
			return err
		}
		type answer struct {
			lock *heldLock
			err  error
		}
		answered, gone := make(chan answer), make(chan struct{})
		defer close(gone)
		go func() { // close waits until it has left
			defer l.leave()
			lock, err := l.take(number)
			select {
			case answered <- answer{lock, err}:
			case <-gone:
				if lock != nil {
					l.giveBack(number)
				}
			}
		}()
		select {
		case a := <-answered:
			lock = a.lock
			return a.err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	return lock, err
}

// take is lock for who has the turn.
func (l *pgLocks) take(number int64) (*heldLock, error) {
	if l.on(number) != nil {
		return nil, nil
	}
	for try := 1; ; try++ {
		ok, err := l.try(number)
		switch {
		case err == nil && ok:
			conn := l.conn
			l.mu.Lock()
			defer l.mu.Unlock()
			l.held[number] = conn
			return &heldLock{sync.OnceFunc(func() { l.unlock(conn, number) }), func() bool { return l.on(number) == conn }}, nil
		case err == nil:
			return nil, nil
		}
		// The connection may have broken since it was used last; those with a lock on it hear of that. Another one is as good.
		l.drop()
		if try < 2 && l.life.Err() == nil {
			continue
		}
		if unreachable(err) || errors.Is(err, context.DeadlineExceeded) {
			return nil, &UnreachableError{err}
		}
		return nil, fmt.Errorf("the lock of the conversation: %w", err)
	}
}

// try needs the turn.
func (l *pgLocks) try(number int64) (ok bool, err error) {
	if l.conn == nil {
		ctx, cancel := context.WithTimeout(l.life, l.patience)
		defer cancel()
		if l.conn, err = pgx.ConnectConfig(ctx, l.config); err != nil {
			l.conn = nil
			return false, err
		}
	}
	ctx, cancel := context.WithTimeout(l.life, l.answer)
	defer cancel()
	err = l.conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, number).Scan(&ok)
	return ok, err
}

// on is the connection that this process has a lock on, nil if it has not.
func (l *pgLocks) on(number int64) *pgx.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held[number]
}

// drop gives up the connection and all locks; it needs the turn.
func (l *pgLocks) drop() {
	if l.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = l.conn.Close(ctx) // broken anyway
	}
	l.conn = nil
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.held)
}

// unlock gives a lock back, if the connection it was taken on is still there.
func (l *pgLocks) unlock(conn *pgx.Conn, number int64) {
	if l.enter(context.Background()) != nil { // each use ends by itself
		return // the lock ended with the connection
	}
	defer l.leave()
	if l.on(number) == conn {
		l.giveBack(number)
	}
}

// giveBack needs the turn.
func (l *pgLocks) giveBack(number int64) {
	l.mu.Lock()
	delete(l.held, number)
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(l.life, l.answer)
	defer cancel()
	if _, err := l.conn.Exec(ctx, `SELECT pg_advisory_unlock($1)`, number); err != nil {
		l.drop()
	}
}

// alive gives the connection up if it is dead. Where somebody uses it, they do.
func (l *pgLocks) alive() {
	select {
	case l.turn <- struct{}{}:
		defer l.leave()
	default:
		return
	}
	ctx, cancel := context.WithTimeout(l.life, l.answer)
	defer cancel()
	if l.conn != nil && l.conn.Ping(ctx) != nil {
		l.drop()
	}
}

// close gives all locks back. It may be called twice.
func (l *pgLocks) close() error {
	l.end()
	l.turn <- struct{}{}
	defer l.leave()
	l.drop()
	return nil
}
