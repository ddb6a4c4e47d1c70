package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// UnreachableError says that the database server does not answer, or has ended the connection. Whoever asks again is
// served when it is back. Its text is for everybody; that of Cause, which may name the server, the database and its
// user, is for the log.
type UnreachableError struct{ Cause error }

func (e *UnreachableError) Error() string {
	return "the store cannot be reached; look at the database server, and try again"
}

func (e *UnreachableError) Unwrap() error { return e.Cause }

// unreachable reports whether an error is that of a connection and not of what was asked.
func unreachable(err error) bool {
	var refused *pgconn.PgError
	connecting := errors.As(err, new(*pgconn.ConnectError))
	switch {
	case errors.As(err, &refused):
		// operator_intervention but for query_canceled, connection_exception, too_many_connections
		return strings.HasPrefix(refused.Code, "57P") || strings.HasPrefix(refused.Code, "08") || refused.Code == "53300"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return connecting
	}
	return connecting || errors.As(err, new(net.Error)) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}

// unwritable reports whether the server refuses for the moment what it would do otherwise: it only reads, as a server
// that stands by for another one does, its disk is full, or something else that it needs has run out or does not work.
func unwritable(err error) bool {
	var refused *pgconn.PgError
	// read_only_sql_transaction, insufficient_resources, system_error
	return errors.As(err, &refused) && (refused.Code == "25006" || strings.HasPrefix(refused.Code, "53") || strings.HasPrefix(refused.Code, "58"))
}

// reaching does what has no effect when it fails. Connections that the server has ended are noticed when they are used,
// and others may lead to a server that another one has taken over from: they are given up and it is done once more, on a
// new one.
func (d *postgresDB) reaching(ctx context.Context, do func() error) error {
	err := do()
	if (unreachable(err) || unwritable(err)) && ctx.Err() == nil {
		d.db.SetMaxIdleConns(0) // closes those that rest
		d.db.SetMaxIdleConns(idleConns)
		err = do()
	}
	if unreachable(err) {
		return &UnreachableError{err}
	}
	return err
}

// within bounds what is asked of the server: one that has not answered by then, though the caller still waits, cannot be
// reached.
func within(ctx context.Context, most time.Duration, do func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	err := do(bounded)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && !errors.As(err, new(*WriteError)) && !errors.As(err, new(*UnreachableError)) {
		return &UnreachableError{fmt.Errorf("it has not answered within %v: %w", most, err)}
	}
	return err
}
