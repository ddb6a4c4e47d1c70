package store_test

import (
	"database/sql"
	"testing"
)

// raw opens a SQLite file past the store.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() }) // It may be closed already.
	return db
}

func rawExec(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// occupy begins a transaction that writes, as another process would.
func occupy(t *testing.T, path string) (release func()) {
	t.Helper()
	db := raw(t, path)
	rawExec(t, db, `PRAGMA busy_timeout = 5000`)
	rawExec(t, db, `BEGIN IMMEDIATE`)
	return func() { rawExec(t, db, `ROLLBACK`); _ = db.Close() }
}
