package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// maxGroup is how many changes are committed together at most.
const maxGroup = 256

// writer makes all changes of this process to a SQLite file, on one goroutine and one connection. Changes that wait
// while others are being synced are committed together, with one sync.
type writer struct {
	d     *sqliteDB
	jobs  chan *job
	stop  chan struct{}
	ended chan struct{} // nil until start
	once  sync.Once

	db   *sql.DB
	conn *sql.Conn // nil after a failure
	// failed is why there is no connection.
	failed error
	// grown is set while the log is too long, so that a warning is given once.
	grown  bool
	groups int
}

// job is one change.
type job struct {
	ctx  context.Context
	do   func(context.Context, querier) error
	err  error
	done chan struct{} // closed when err stands
}

func newWriter(d *sqliteDB) *writer {
	return &writer{d: d, jobs: make(chan *job, maxGroup), stop: make(chan struct{})}
}

func (w *writer) connect(ctx context.Context) error {
	w.db = w.d.pool(w.d.writing()...)
	conn, err := w.db.Conn(ctx)
	if err != nil {
		w.disconnect()
		return err
	}
	w.conn = conn
	var mode string
	if err := conn.QueryRowContext(ctx, `PRAGMA journal_mode`).Scan(&mode); err != nil {
		w.disconnect()
		return err
	}
	if w.d.wal && mode != "wal" {
		w.d.wal = false
		w.d.warn(&PlaceError{w.d.path, "is in a place where no write-ahead log can be shared; it is slower"})
	}
	if !w.d.wal {
		return nil
	}
	// SQLite's own waiting gets longer with every try, up to 0.1 s, so that with several processes those that have
	// waited longest get in last. With a log, only the beginning of a transaction waits.
	if _, err := conn.ExecContext(ctx, `PRAGMA busy_timeout = 0`); err != nil {
		w.disconnect()
		return err
	}
	return nil
}

// beginWriting begins a transaction, for which it waits for those of other processes.
func beginWriting(ctx context.Context, q querier) error {
	for end := time.Now().Add(busyTimeout); ; {
		_, err := q.ExecContext(ctx, `BEGIN IMMEDIATE`)
		if code(err) != sqlite3.SQLITE_BUSY || time.Now().After(end) {
			return err
		}
		time.Sleep(200*time.Microsecond + rand.N(time.Millisecond)) // There is nothing that would tell.
	}
}

// disconnect may leave a file open that cannot be closed; there is nothing to be done about it.
func (w *writer) disconnect() {
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
	if w.db != nil {
		_ = w.db.Close()
	}
}

func (w *writer) start() {
	w.ended = make(chan struct{})
	go func() {
		defer close(w.ended)
		w.run()
	}()
}

// close ends the writer after the changes that wait.
func (w *writer) close() {
	w.once.Do(func() { close(w.stop) })
	if w.ended != nil {
		<-w.ended
	}
	w.disconnect()
}

// do has a change made and waits for it. If ctx ends while it is being made, its outcome is not known.
func (w *writer) do(ctx context.Context, do func(context.Context, querier) error) error {
	j := &job{ctx: ctx, do: do, done: make(chan struct{})}
	select {
	case <-w.stop:
		return ErrClosed
	default:
	}
	select {
	case w.jobs <- j:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.stop:
		return ErrClosed
	}
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
		select {
		case <-j.done:
			return j.err
		default:
		}
		return &WriteError{w.d.path, "whether the change was stored is not known; ask again", context.Cause(ctx)}
	case <-w.ended:
		// The change may have been put in the queue after the writer last looked there.
		select {
		case <-j.done:
			return j.err
		default:
			return ErrClosed
		}
	}
}

func (w *writer) run() {
	group := make([]*job, 0, maxGroup)
	for {
		group = group[:0]
		select {
		case j := <-w.jobs:
			group = append(group, j)
		case <-w.stop:
			// What waits is still done.
			select {
			case j := <-w.jobs:
				group = append(group, j)
			default:
				return
			}
		}
		for len(group) < maxGroup && len(w.jobs) > 0 {
			group = append(group, <-w.jobs)
		}
		w.commit(group)
		for _, j := range group {
			close(j.done)
		}
	}
}

// commit makes the changes of a group in one transaction. It sets the errors of its jobs.
func (w *writer) commit(group []*job) {
	// Not the callers' contexts: the end of one of them must not interrupt the transaction of all.
	ctx := context.Background()
	err := w.transact(ctx, group)
	if err == nil {
		w.watchLog()
		return
	}
	for _, j := range group {
		if j.err == nil {
			j.err = err
		}
	}
}

// transact returns an error if the transaction was not committed. The errors of single changes are in their jobs.
func (w *writer) transact(ctx context.Context, group []*job) error {
	if err := w.reconnect(ctx); err != nil {
		return err
	}
	if err := beginWriting(ctx, w.conn); err != nil {
		return w.failure(err)
	}
	if has, err := userVersion(ctx, w.conn); err != nil {
		w.rollback(ctx)
		return w.failure(err)
	} else if has > len(migrations()) { // by a newer program, since the file was opened
		w.rollback(ctx)
		return &SchemaError{Path: w.d.path, Has: has, Know: len(migrations())}
	}
	for _, j := range group {
		if err := w.apply(ctx, j, len(group) == 1); err != nil {
			w.rollback(ctx)
			return w.failure(err)
		}
	}
	if len(group) == 1 && group[0].err != nil {
		w.rollback(ctx)
		return nil
	}
	if _, err := w.conn.ExecContext(ctx, `COMMIT`); err != nil {
		w.rollback(ctx)
		return w.failure(err)
	}
	return nil
}

// apply makes one change. Its own failure stays its own, unless it is one of the store. A change that is alone in its
// transaction needs no savepoint.
func (w *writer) apply(ctx context.Context, j *job, alone bool) error {
	if j.err = context.Cause(j.ctx); j.err != nil {
		return nil
	}
	if !alone {
		if _, err := w.conn.ExecContext(ctx, `SAVEPOINT change`); err != nil {
			return err
		}
	}
	j.err = j.do(ctx, w.conn)
	if ofStore(j.err) {
		err := j.err
		j.err = nil
		return err
	}
	if alone {
		return nil
	}
	if j.err != nil {
		if _, err := w.conn.ExecContext(ctx, `ROLLBACK TO change`); err != nil {
			return err
		}
	}
	_, err := w.conn.ExecContext(ctx, `RELEASE change`)
	return err
}

// rollback may fail because SQLite has rolled back by itself.
func (w *writer) rollback(ctx context.Context) { _, _ = w.conn.ExecContext(ctx, `ROLLBACK`) }

// failure says what an error of the transaction means, and gives the connection up if it cannot be trusted any more.
func (w *writer) failure(err error) error {
	next := "nothing was stored; try again"
	switch code(err) {
	case sqlite3.SQLITE_FULL:
		next = "nothing was stored; free space on the disk and try again"
	case sqlite3.SQLITE_BUSY:
		next = fmt.Sprintf("another process has been writing to it for %v; try again", busyTimeout)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		w.fail(err)
		return err
	case sqlite3.SQLITE_READONLY:
		next = "nothing was stored; give this user the right to write the file and its folder"
	default:
		// What was written may be on the disk or not, and the system may have forgotten that it is not.
		next = "whether the change was stored is not known; look at the disk and ask again"
		w.fail(err)
	}
	return &WriteError{w.d.path, next, err}
}

func (w *writer) fail(err error) {
	w.failed = err
	w.disconnect()
}

// reconnect opens a new connection after a failure, and none to a file that is not the one of before. What it finds in
// the log may never have reached the disk, although reading shows it. A checkpoint writes it all to the file and syncs
// that; nothing is acknowledged before that has succeeded.
func (w *writer) reconnect(ctx context.Context) error {
	if err := w.d.inPlace(); err != nil {
		return &WriteError{w.d.path, "nothing was stored; put the file back, or end every workbench that uses it and start again", err}
	}
	if w.conn != nil {
		return nil
	}
	cause := fmt.Errorf("it was closed after %w", w.failed)
	const next = "look at the disk and try again"
	if err := w.connect(ctx); err != nil {
		return &WriteError{w.d.path, next, errors.Join(cause, err)}
	}
	if !w.d.wal {
		return nil
	}
	if _, err := w.conn.ExecContext(ctx, fmt.Sprintf(`PRAGMA busy_timeout = %d`, busyTimeout.Milliseconds())); err != nil {
		return w.failure(err)
	}
	var busy, log, moved int
	err := w.conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &moved)
	if err == nil && busy != 0 {
		err = errors.New("another process is reading")
	}
	if err != nil {
		w.disconnect()
		return &WriteError{w.d.path, next, errors.Join(cause, err)}
	}
	if _, err := w.conn.ExecContext(ctx, `PRAGMA busy_timeout = 0`); err != nil {
		return w.failure(err)
	}
	return nil
}

// watchLog warns when the log has become too long, which is when a reader does not end.
func (w *writer) watchLog() {
	const every = 64
	if w.groups++; w.groups%every != 0 || !w.d.wal {
		return
	}
	info, err := os.Stat(w.d.path + "-wal")
	if err != nil {
		return
	}
	tooLong := info.Size() > w.d.opts.logLimit
	if tooLong && !w.grown {
		w.d.warn(&WriteError{w.d.path + "-wal", "end the program that has been reading the store for a long time",
			fmt.Errorf("the log has %d MiB, which is more than %d", info.Size()>>20, w.d.opts.logLimit>>20)})
	}
	w.grown = tooLong
}
