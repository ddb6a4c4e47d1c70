package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-workbench/workbench/internal/store"
)

// server is the PostgreSQL server that tests share; the first that needs it starts it.
var server postgresServer

// postgresServer is a server of this program's own, in a temporary folder, reached through a socket there.
type postgresServer struct {
	once sync.Once
	err  error // why there is none
	bin  string
	dir  string
	cmd  *exec.Cmd

	mu    sync.Mutex
	count int // of databases made, guarded by mu
}

// findPostgres returns the folder of the server's programs.
func findPostgres() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	// Debian keeps them out of PATH.
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errors.New("PostgreSQL's server is not installed (no initdb): tests of it are skipped")
	}
	return filepath.Dir(found[len(found)-1]), nil
}

func (p *postgresServer) start() error {
	var err error
	if p.bin, err = findPostgres(); err != nil {
		return err
	}
	// Not in the folder of a test: the path of a socket has at most 107 bytes.
	if p.dir, err = os.MkdirTemp("", "pg"); err != nil {
		return err
	}
	if err := giveAway(p.dir); err != nil {
		return err
	}
	if out, err := p.command("initdb", "--pgdata", p.data(), "--username", "workbench", "--auth", "trust", "--no-sync", "--encoding", "UTF8", "--locale", "C").CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return p.run()
}

func (p *postgresServer) data() string { return filepath.Join(p.dir, "data") }

func (p *postgresServer) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.bin, name), args...)
	cmd.Dir = p.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	unprivileged(cmd)
	return cmd
}

// run starts the server and waits until it answers.
func (p *postgresServer) run() error {
	p.cmd = p.command("postgres", "-D", p.data(), "-k", p.dir, "-c", "listen_addresses=", "-c", "max_connections=60")
	var log bytes.Buffer
	p.cmd.Stderr = &log
	if err := p.cmd.Start(); err != nil {
		return err
	}
	for range 300 {
		conn, err := pgx.Connect(context.Background(), p.dsn("postgres"))
		if err == nil {
			return conn.Close(context.Background())
		}
		time.Sleep(100 * time.Millisecond) // It does not tell when it is ready.
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // for log
	return fmt.Errorf("postgres does not answer:\n%s", &log)
}

// stop ends the server like its pg_ctl stop -m immediate.
func (p *postgresServer) stop() {
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(quitSignal())
		_ = p.cmd.Wait() // It was told to quit.
	}
	if p.dir != "" {
		_ = os.RemoveAll(p.dir)
	}
}

// restart ends the server as a crash would and starts it again.
func (p *postgresServer) restart(t testing.TB) {
	t.Helper()
	_ = p.cmd.Process.Signal(quitSignal())
	_ = p.cmd.Wait() // It was told to quit.
	if err := p.run(); err != nil {
		t.Fatal(err)
	}
}

func (p *postgresServer) dsn(database string) string {
	return fmt.Sprintf("host=%s user=workbench dbname=%s", p.dir, database)
}

// database makes an empty database for a test, or skips the test.
func (p *postgresServer) database(t testing.TB) string {
	t.Helper()
	p.once.Do(func() { p.err = p.start() })
	if p.err != nil {
		if p.bin == "" {
			t.Skip(p.err)
		}
		t.Fatal(p.err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	name := fmt.Sprintf("t%d", p.count)
	conn, err := pgx.Connect(t.Context(), p.dsn("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return p.dsn(name)
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
