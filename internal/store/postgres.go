package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/mcp-workbench/workbench/internal/pause"
)

const (
	// migrationLock is the advisory lock that one process at a time migrates under.
	migrationLock = 0x776f726b62656e63
	// maxTries is how often a transaction is made that finds there what it is to make: another may be about to go.
	maxTries = 12
	// maxPause is the longest between two tries of a transaction that others get in the way of.
	maxPause = 200 * time.Millisecond
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
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, 10*time.Second)
	config.RuntimeParams["application_name"] = "workbench"
	d := &postgresDB{db: stdlib.OpenDB(*config, stdlib.OptionAfterConnect(settle)), answer: opts.pgAnswer, locking: newPGLocks(config, opts)}
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

// settle has a connection work in our schema and wait for the disk, even where the server is set up otherwise. Poolers
// refuse what they do not know where a connection begins.
func settle(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SET search_path = workbench; SET synchronous_commit = on`)
	return err
}

func (d *postgresDB) migrate(ctx context.Context) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // After Commit it does nothing.
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(`SELECT pg_advisory_xact_lock(%d)`, int64(migrationLock))); err != nil {
		return err
	}
	// A server that only reads can be read from, so that nothing is written where nothing has to be.
	if current, err := isCurrent(ctx, tx); err != nil || current {
		return err
	}
	// Even IF NOT EXISTS needs the right to create one.
	var there bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'workbench')`).Scan(&there); err != nil {
		return err
	}
	if !there {
		if _, err := tx.ExecContext(ctx, `CREATE SCHEMA workbench`); err != nil {
			return err
		}
	}
	for _, statement := range []string{
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

// isCurrent reports whether the tables are there, in the form that this program knows.
func isCurrent(ctx context.Context, tx *sql.Tx) (bool, error) {
	var there bool
	if err := tx.QueryRowContext(ctx, `SELECT to_regclass('workbench.version') IS NOT NULL`).Scan(&there); err != nil || !there {
		return false, err
	}
	var current bool
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM workbench.version WHERE version = $1)`, len(migrations())).Scan(&current)
	return current, err
}

func (d *postgresDB) read(ctx context.Context, do func(context.Context, querier) error) error {
	return within(ctx, d.answer, func(ctx context.Context) error {
		err := d.reaching(ctx, func() error { return snapshot(ctx, d.db, sql.LevelRepeatableRead, do) })
		if unwritable(err) {
			return &UnreachableError{err}
		}
		return err
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
		if unwritable(err) {
			return &WriteError{Next: "nothing was stored; look at the database server, and try again", Cause: err}
		}
		if err == nil || !conflicts(err) || try >= maxTries && isThere(err) {
			return err
		}
		// Of all that are in each other's way one gets through each time, so that each does: its time bounds that.
		if pause.For(ctx, rand.N(min(time.Duration(try)*4*time.Millisecond, maxPause))) != nil {
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

// conflicts reports whether another transaction is to blame: serialization_failure, deadlock_detected, or isThere.
func conflicts(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == "40001" || e.Code == "40P01") || isThere(err)
}

// isThere reports whether there is already what was to be made: unique_violation.
func isThere(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "23505"
}

func (d *postgresDB) lock(ctx context.Context, number int64) (*heldLock, error) {
	return d.locking.lock(ctx, number)
}

func (d *postgresDB) locks() bool { return true }

// evict ends the connection on which another process has a lock. That process notices when it goes on, and has lost its
// locks.
func (d *postgresDB) evict(ctx context.Context, number int64) error {
	if d.locking.on(number) != nil {
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

func (d *postgresDB) alive() { d.locking.alive() }

func (d *postgresDB) close() error { return errors.Join(d.locking.close(), d.db.Close()) }
