package store_test

import (
	"bytes"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-workbench/workbench/internal/pgtest"
	"github.com/mcp-workbench/workbench/internal/store"
)

// server is the PostgreSQL server that tests share.
var server pgtest.Server

// ownServer is one that a test ends.
func ownServer(t *testing.T) *pgtest.Server {
	own := new(pgtest.Server)
	t.Cleanup(own.Stop)
	return own
}

// query runs a statement in a database, past the store.
func query(t testing.TB, dsn, statement string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// lockTable keeps everybody from writing turns.
func lockTable(t testing.TB, dsn string) (release func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `BEGIN; LOCK TABLE workbench.leases, workbench.turns IN EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// Errors do not tell what is in a connection string.
func TestPostgresSecrets(t *testing.T) {
	const canary = "canary-3f1b"
	for _, dsn := range []string{
		"postgres://user:" + canary + "@127.0.0.1:1/db",
		"host=127.0.0.1 port=1 user=u password=" + canary,
		"host=127.0.0.1 port=notanumber password=" + canary,
		"postgres://user:" + canary + "@%zz/db",
		canary,
	} {
		_, err := store.OpenPostgres(t.Context(), dsn, deaf(t), store.Options{})
		if err == nil {
			t.Fatalf("%s: got no error", dsn)
		}
		if bytes.Contains([]byte(err.Error()), []byte(canary)) {
			t.Errorf("got the secret in %q", err)
		}
	}
}
