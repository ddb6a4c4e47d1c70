package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/mcp-workbench/workbench/internal/pause"
)

const (
	// answerWithin is how long PostgreSQL may take where the caller has set no earlier end.
	answerWithin = 30 * time.Second
	// migrationLock is the advisory lock that one process at a time migrates under.
	migrationLock = 0x776f726b62656e63
	// maxTries is how often a transaction is made that others get in the way of.
	maxTries = 12
	// idleConns is how many connections rest.
	idleConns = 4
)

// postgresDB is a store in a PostgreSQL database, in its schema "workbench".
type postgresDB struct {
	db       *sql.DB
	answer   time.Duration // how long the server may take
	locking  *pgLocks
	readOnly error // why nothing is written; nil: it is
}

// OpenPostgres opens the store in the database that the connection string names, a URL or key=value pairs. Its tables
// are made in the schema "workbench" if they are not there. Errors do not tell the connection string.
//
// One connection holds the locks of the turns under way, so a pooler between must not give a connection to somebody
// else before it is closed (PgBouncer: pool_mode = session). Warn is told of a schema that a newer program wrote; it
// must not be nil.
func OpenPostgres(ctx context.Context, dsn string, warn func(error), opts Options) (*Store, error) {
	opts = opts.withDefaults()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("the connection string of PostgreSQL cannot be read; want postgres://USER@HOST:PORT/DATABASE or key=value pairs")
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	config.RuntimeParams["application_name"] = "workbench"
	config.RuntimeParams["synchronous_commit"] = "on" // even where the server is set up otherwise
	config.RuntimeParams["search_path"] = "workbench"
	d := &postgresDB{db: stdlib.OpenDB(*config), answer: opts.pgAnswer, locking: newPGLocks(config, opts.pgAnswer)}
	d.db.SetMaxOpenConns(opts.pgConns)
	d.db.SetMaxIdleConns(idleConns)
	d.db.SetConnMaxIdleTime(5 * time.Minute)
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if err := d.migrate(ctx); err != nil {
		var newer *SchemaError
		if !errors.As(err, &newer) {
			return nil, errors.Join(fmt.Errorf("PostgreSQL: %w", err), d.close())
		}
		d.readOnly = newer
		warn(newer)
	}
	return newStore(d, opts), nil
}

func (d *postgresDB) migrate(ctx context.Context) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // After Commit it does nothing.
	for _, statement := range []string{
		fmt.Sprintf(`SELECT pg_advisory_xact_lock(%d)`, int64(migrationLock)),
		`CREATE SCHEMA IF NOT EXISTS workbench`,
		`CREATE TABLE IF NOT EXISTS version (single BOOLEAN PRIMARY KEY CHECK (single), version BIGINT NOT NULL)`,
		`INSERT INTO version VALUES (true, 0) ON CONFLICT DO NOTHING`,
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	var has int
	if err := tx.QueryRowContext(ctx, `SELECT version FROM version`).Scan(&has); err != nil {
		return err
	}
	if has > len(migrations()) {
		return &SchemaError{Has: has, Know: len(migrations())}
	}
	if has < 0 {
		return fmt.Errorf("the store has schema %d, which no workbench writes", has)
	}
	for _, step := range migrations()[has:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `UPDATE version SET version = $1`, len(migrations())); err != nil {
		return err
	}
	return tx.Commit()
}

func (d *postgresDB) read(ctx context.Context, do func(context.Context, querier) error) error {
	return within(ctx, d.answer, func(ctx context.Context) error {
		return d.reaching(ctx, func() error { return snapshot(ctx, d.db, sql.LevelRepeatableRead, do) })
	})
}

func (d *postgresDB) write(ctx context.Context, do func(context.Context, querier) error) error {
	if d.readOnly != nil {
		return d.readOnly
	}
	return within(ctx, d.answer, func(ctx context.Context) error { return d.insist(ctx, do) })
}

// insist makes a transaction anew that another one got in the way of: it was rolled back whole.
func (d *postgresDB) insist(ctx context.Context, do func(context.Context, querier) error) error {
	for try := 1; ; try++ {
		var unknown *WriteError // that of a commit, which may have taken effect
		err := d.reaching(ctx, func() error {
			err := d.transact(ctx, do)
			if errors.As(err, &unknown) {
				return nil
			}
			return err
		})
		if unknown != nil {
			return unknown
		}
		if err == nil || try == maxTries || !conflicts(err) {
			return err
		}
		if pause.For(ctx, rand.N(time.Duration(try)*4*time.Millisecond)) != nil {
			return err
		}
	}
}

func (d *postgresDB) transact(ctx context.Context, do func(context.Context, querier) error) error {
	// What a transaction has read and goes by must not have changed when it writes.
	tx, err := d.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		return err
	}
	if err := do(ctx, tx); err != nil {
		_ = tx.Rollback() // The first error is the one to tell.
		return err
	}
	if err := tx.Commit(); err != nil {
		if conflicts(err) {
			return err
		}
		if unreachable(err) || errors.Is(err, context.DeadlineExceeded) {
			err = &UnreachableError{err}
		}
		return &WriteError{Next: "whether the change was stored is not known; ask again", Cause: err}
	}
	return nil
}

// conflicts reports whether another transaction is to blame: serialization_failure, deadlock_detected,
// unique_violation.
func conflicts(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == "40001" || e.Code == "40P01" || e.Code == "23505")
}

func (d *postgresDB) lock(ctx context.Context, number int64) (*heldLock, error) {
	return d.locking.lock(ctx, number)
}

func (d *postgresDB) locks() bool { return true }

// evict ends the connection on which another process has a lock. That process notices when it goes on, and has lost its
// locks.
func (d *postgresDB) evict(ctx context.Context, number int64) error {
	if d.locking.has(number) {
		return nil // it is ours
	}
	return within(ctx, d.answer, func(ctx context.Context) error {
		return d.reaching(ctx, func() error { return d.terminate(ctx, number) })
	})
}

func (d *postgresDB) terminate(ctx context.Context, number int64) error {
	_, err := d.db.ExecContext(ctx, `SELECT pg_terminate_backend(pid) FROM pg_locks
		WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND classid::bigint = $1 AND objid::bigint = $2
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
		int64(uint64(number)>>32), int64(uint64(number)&0xffffffff))
	return err
}

func (d *postgresDB) alive(ctx context.Context) { d.locking.alive(ctx) }

func (d *postgresDB) close() error { return errors.Join(d.locking.close(), d.db.Close()) }

// pgLocks takes advisory locks on a connection of its own. PostgreSQL gives them back when that ends, however it does.
type pgLocks struct {
	config *pgx.ConnConfig
	answer time.Duration   // how long the server may take
	life   context.Context // until close
	end    context.CancelFunc

	mu   sync.Mutex
	conn *pgx.Conn // nil until the first lock and after a failure; guarded by mu
	// held are the locks taken on conn: PostgreSQL gives a lock as often as one connection asks for it. Guarded by mu.
	held   map[int64]bool
	closed bool // guarded by mu
}

func newPGLocks(config *pgx.ConnConfig, answer time.Duration) *pgLocks {
	l := &pgLocks{config: config, answer: answer, held: make(map[int64]bool)}
	l.life, l.end = context.WithCancel(context.Background())
	return l
}

// lock asks the server to the end whoever goes away meanwhile: a question that is broken off costs the connection, and
// with it the locks of all.
func (l *pgLocks) lock(ctx context.Context, number int64) (*heldLock, error) {
	type answer struct {
		lock *heldLock
		err  error
	}
	answered := make(chan answer) // nobody takes it who has gone
	go func() {
		var a answer
		a.err = within(l.life, l.answer, func(ctx context.Context) (err error) {
			a.lock, err = l.take(ctx, number)
			return err
		})
		select {
		case answered <- a:
		case <-ctx.Done():
			if a.lock != nil {
				a.lock.unlock()
			}
		}
	}()
	select {
	case a := <-answered:
		return a.lock, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// take is lock for who stays.
func (l *pgLocks) take(ctx context.Context, number int64) (*heldLock, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, ErrClosed
	}
	if l.held[number] {
		return nil, nil
	}
	for try := 1; ; try++ {
		ok, err := l.tryLocked(ctx, number)
		switch {
		case err == nil && ok:
			l.held[number] = true
			conn := l.conn
			return &heldLock{sync.OnceFunc(func() { l.unlock(conn, number) }), func() bool { return l.holds(conn) }}, nil
		case err == nil:
			return nil, nil
		}
		// The connection may have broken since it was used last. With no lock on it, another one is as good.
		idle := len(l.held) == 0
		l.dropLocked()
		if idle && try < 2 {
			continue
		}
		if unreachable(err) {
			return nil, &UnreachableError{err}
		}
		return nil, fmt.Errorf("the lock of the conversation: %w", err)
	}
}

// has reports whether the lock is taken by this process.
func (l *pgLocks) has(number int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held[number]
}

// tryLocked needs mu.
func (l *pgLocks) tryLocked(ctx context.Context, number int64) (ok bool, err error) {
	if l.conn == nil {
		if l.conn, err = pgx.ConnectConfig(ctx, l.config); err != nil {
			l.conn = nil
			return false, err
		}
	}
	err = l.conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, number).Scan(&ok)
	return ok, err
}

// dropLocked gives up the connection and all locks; it needs mu.
func (l *pgLocks) dropLocked() {
	if l.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = l.conn.Close(ctx) // broken anyway
	}
	l.conn = nil
	clear(l.held)
}

// unlock gives a lock back, if the connection it was taken on is still there.
func (l *pgLocks) unlock(conn *pgx.Conn, number int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != conn || !l.held[number] {
		return
	}
	delete(l.held, number)
	ctx, cancel := context.WithTimeout(l.life, l.answer) // also when the caller has gone
	defer cancel()
	if _, err := l.conn.Exec(ctx, `SELECT pg_advisory_unlock($1)`, number); err != nil {
		l.dropLocked()
	}
}

// alive gives up a connection that has broken.
func (l *pgLocks) alive(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil && l.conn.Ping(ctx) != nil {
		l.dropLocked()
	}
}

// holds reports whether the locks that were taken on a connection are held: it is not given up.
func (l *pgLocks) holds(conn *pgx.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn == conn
}

func (l *pgLocks) close() error {
	l.end() // what is asked is broken off
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropLocked()
	l.closed = true
	return nil
}
