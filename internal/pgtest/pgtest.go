// Package pgtest starts a PostgreSQL server for tests, where one is installed.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Server is one of this program's own, in a temporary folder, reached through a socket there. The first test that
// needs it starts it; the zero value is ready.
type Server struct {
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
	// Debian keeps them out of PATH; under Wine they can be seen, but not run.
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 || runtime.GOOS == "windows" {
		return "", errors.New("PostgreSQL's server is not installed (no initdb): tests of it are skipped")
	}
	return filepath.Dir(found[len(found)-1]), nil
}

func (p *Server) start() error {
	var err error
	if p.bin, err = findPostgres(); err != nil {
		return err
	}
	// Not in the folder of a test: the path of a socket has at most 107 bytes.
	if p.dir, err = os.MkdirTemp("", "pg"); err != nil {
		return err
	}
	if err := GiveAway(p.dir); err != nil {
		return err
	}
	if out, err := p.command("initdb", "--pgdata", p.data(), "--username", "workbench", "--auth", "trust", "--no-sync", "--encoding", "UTF8", "--locale", "C").CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return p.Run()
}

func (p *Server) data() string { return filepath.Join(p.dir, "data") }

func (p *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.bin, name), args...)
	cmd.Dir = p.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	Unprivileged(cmd)
	return cmd
}

// Run starts the server, which a test has ended, and waits until it answers.
func (p *Server) Run() error {
	p.cmd = p.command("postgres", "-D", p.data(), "-k", p.dir, "-c", "listen_addresses=", "-c", "max_connections=200", "-c", "wal_keep_size=2GB")
	var log bytes.Buffer
	p.cmd.Stderr = &log
	if err := p.cmd.Start(); err != nil {
		return err
	}
	for end := time.Now().Add(6 * time.Minute); time.Now().Before(end); { // after a crash it syncs thousands of files, twice
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

// Crash ends the server like its pg_ctl stop -m immediate.
func (p *Server) Crash() {
	_ = p.cmd.Process.Signal(quitSignal())
	_ = p.cmd.Wait() // It was told to quit.
}

// Stop ends the server, if a test has started it, and removes what it kept.
func (p *Server) Stop() {
	if p.cmd != nil {
		p.Crash()
	}
	if p.dir != "" {
		_ = os.RemoveAll(p.dir)
	}
}

func (p *Server) dsn(database string) string {
	return fmt.Sprintf("host=%s user=workbench dbname=%s", p.dir, database)
}

// Database makes an empty database for a test and returns its connection string, or skips the test.
func (p *Server) Database(t testing.TB) string {
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
