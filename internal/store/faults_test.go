package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
)

func TestFaultE4_Killed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	n := rounds(50, 1000)
	acked := 0
	for range n {
		acks := killed(t, actor(t, "append", path), 1+rand.IntN(12), 20*time.Second)
		acked += len(acks)
		s := openFile(t, path, store.Options{})
		expect(t, s, acks)
		closeStore(t, s)
	}
	t.Logf("%d turns acknowledged in %d processes that were killed", acked, n)
}

// expect fails the test unless every message, which begins with its conversation, is in the store once.
func expect(t *testing.T, s *store.Store, acked []string) {
	t.Helper()
	byConversation := make(map[string]string)
	for _, message := range acked {
		conversation, _, ok := strings.Cut(message, "/")
		if !ok {
			t.Fatalf("got %q, want an acknowledgement", message)
		}
		if byConversation[conversation] == "" {
			turns, err := s.Turns(t.Context(), "alice", conversation, 0)
			if err != nil {
				t.Fatal(err)
			}
			byConversation[conversation] = " " + messages(turns) + " "
		}
		if n := strings.Count(byConversation[conversation], " "+message+" "); n != 1 {
			t.Errorf("got %s %d times, want once", message, n)
		}
	}
}

func TestFaultE8_EightProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	var all sync.WaitGroup
	for range 8 {
		cmd := actor(t, "crowd", path, strconv.Itoa(rounds(10, 400)))
		all.Go(func() {
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("got %v, want no error", err)
			}
			t.Logf("slowest hundredth from %s µs", bytes.TrimSpace(out))
		})
	}
	all.Wait()
	s := openFile(t, path, store.Options{})
	list, err := s.Latest(t.Context(), "alice", 100)
	if err != nil || len(list) != 8 {
		t.Fatalf("got %d conversations and %v, want 8", len(list), err)
	}
	for _, c := range list {
		if c.Turns != rounds(10, 400) {
			t.Errorf("got %d turns, want %d", c.Turns, rounds(10, 400))
		}
	}
}

func TestFaultE10_ReaderDoesNotEnd(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no log on Windows")
	}
	const limit = 1 << 20
	path := filepath.Join(t.TempDir(), "store.db")
	warnings := make(chan error, 10)
	s, err := store.OpenSQLite(t.Context(), path, func(err error) { warnings <- err }, store.Options{}.Turned(store.Knobs{LogLimit: limit}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeStore(t, s) })
	c := begin(t, s).Conversation
	reader := raw(t, path)
	rawExec(t, reader, `BEGIN`)
	if err := reader.QueryRow(`SELECT count(*) FROM conversations`).Scan(new(int)); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	big := strings.Repeat("x", 20_000)
	for i := 0; i < 1000 && len(warnings) == 0; i++ {
		say(t, s, c, big)
	}
	select {
	case err := <-warnings:
		var w *store.WriteError
		if !errors.As(err, &w) || !strings.Contains(err.Error(), "end the program that has been reading") {
			t.Errorf("got warning %v, want one of the log", err)
		}
	default:
		t.Fatalf("got no warning with a log of %d bytes", size())
	}
	rawExec(t, reader, `ROLLBACK`)
	for i := 0; i < 1000 && size() > limit; i++ {
		say(t, s, c, big)
	}
	if got := size(); got > limit {
		t.Errorf("got a log of %d bytes after the reader has ended, want at most %d", got, limit)
	}
}

func TestFaultE11_NewerSchema(t *testing.T) {
	each(t, func(t *testing.T, open opener, where string) {
		s := open(t, store.Options{})
		session := begin(t, s)
		say(t, s, session.Conversation, "kept")
		closeStore(t, s)
		newer := store.SchemaVersion() + 6
		if dsn, ok := strings.CutPrefix(where, "postgres:"); ok {
			query(t, dsn, `UPDATE workbench.version SET version = $1`, newer)
		} else {
			db := raw(t, where)
			rawExec(t, db, fmt.Sprintf(`PRAGMA user_version = %d`, newer))
			_ = db.Close()
		}
		var warned error
		s, err := openPlace(t.Context(), where, func(err error) { warned = err }, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer closeStore(t, s)
		var schema *store.SchemaError
		if !errors.As(warned, &schema) || schema.Has != newer || schema.Know != store.SchemaVersion() {
			t.Errorf("got warning %v, want the versions", warned)
		}
		schema = nil
		if _, err := sayAs(t.Context(), s, "alice", session.Conversation, "k", "m"); !errors.As(err, &schema) || !strings.Contains(err.Error(), strconv.Itoa(newer)) {
			t.Errorf("got %v from writing, want it refused with the versions", err)
		}
		var out bytes.Buffer
		if _, err := s.Export(t.Context(), &out, store.Selection{}); err != nil || !strings.Contains(out.String(), `"message":"kept"`) {
			t.Errorf("got %v and %q, want the turn", err, &out)
		}
		if _, err := s.Session(t.Context(), "alice", session.ID); err != nil {
			t.Errorf("got %v of a session, want it read", err)
		}
	})
}

// A newer program may change the schema while this one has the file open: from then on this one does not write to it.
func TestSchemaGetsNewer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := openFile(t, path, store.Options{})
	defer closeStore(t, s)
	session := begin(t, s)
	say(t, s, session.Conversation, "kept")
	db := raw(t, path)
	defer db.Close()
	rawExec(t, db, fmt.Sprintf(`PRAGMA user_version = %d`, store.SchemaVersion()+1))
	if _, err := sayAs(t.Context(), s, "alice", session.Conversation, "k", "m"); !errors.As(err, new(*store.SchemaError)) {
		t.Errorf("got %v from writing, want it refused with the versions", err)
	}
	if _, err := s.Session(t.Context(), "alice", session.ID); err != nil {
		t.Errorf("got %v of a session, want it read", err)
	}
}

// A version that is not that of what is in the file is told with the path. Nothing is changed: the file may be anybody's.
func TestWrongSchemaVersion(t *testing.T) {
	for version := -1; version < store.SchemaVersion(); version++ {
		path := filepath.Join(t.TempDir(), "store.db")
		s := openFile(t, path, store.Options{})
		session := begin(t, s)
		say(t, s, session.Conversation, "kept")
		closeStore(t, s)
		set := func(version int) {
			db := raw(t, path)
			rawExec(t, db, fmt.Sprintf(`PRAGMA user_version = %d`, version))
			_ = db.Close()
		}
		set(version)
		if s, err := openPlace(t.Context(), path, func(err error) { t.Error(err) }, store.Options{}); err == nil {
			t.Errorf("version %d: got a store, want an error", version)
			closeStore(t, s)
		} else if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), fmt.Sprintf("has schema %d", version)) {
			t.Errorf("version %d: got %v, want the path and the version", version, err)
		}
		set(store.SchemaVersion())
		s = openFile(t, path, store.Options{})
		if turns, err := s.Turns(t.Context(), "alice", session.Conversation, 0); err != nil || messages(turns) != "kept" {
			t.Errorf("version %d: got %q and %v, want what was there", version, messages(turns), err)
		}
		closeStore(t, s)
	}
}

func TestFaultE12_MigrationKilled(t *testing.T) {
	t.Parallel()
	for i := range rounds(10, 300) {
		path := filepath.Join(t.TempDir(), "store.db")
		cmd := actor(t, "open", path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i%15) * 3 * time.Millisecond) // any moment will do
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // It was killed, or was quicker.
		s := openFile(t, path, store.Options{})
		say(t, s, begin(t, s).Conversation, "m")
		closeStore(t, s)
	}
}

func TestFaultE13_UnsafePlace(t *testing.T) {
	home := t.TempDir()
	for _, tt := range []struct {
		dir  string
		safe bool
	}{
		{filepath.Join(home, "state"), true},
		{filepath.Join(home, "Dropboxes"), true},
		{filepath.Join(home, "Dropbox", "state"), false},
		{filepath.Join(home, "OneDrive - Example Ltd"), false},
		{filepath.Join(home, "Library", "Mobile Documents", "x"), false},
	} {
		if why := store.UnsafePlace(tt.dir); (why == "") != tt.safe {
			t.Errorf("%s: got %q, want it safe: %v", tt.dir, why, tt.safe)
		}
	}
	path := filepath.Join(home, "Dropbox", "store.db")
	var warned []error
	s, err := store.OpenSQLite(t.Context(), path, func(err error) { warned = append(warned, err) }, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	var place *store.PlaceError
	if len(warned) != 1 || !errors.As(warned[0], &place) {
		t.Errorf("got warnings %v, want one of the place", warned)
	}
	say(t, s, begin(t, s).Conversation, "m")
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want no write-ahead log", err)
	}
}

// However many conversations there are, the list reads those it returns, and a new topic those like it.
func TestFaultE14_ManyConversations(t *testing.T) {
	db := raw(t, cleanImage(t, t.TempDir()))
	for _, tt := range []struct {
		name, query, index string
		args               []any
	}{
		{"list", store.Latest, "conversations_updated", []any{"alice", "shop", 10}},
		{"runs", store.LatestRuns, "runs_updated", []any{"alice", 10}},
		{"topic", store.TopicTaken, "conversations_topic", []any{"alice", "topic", "x"}},
	} {
		rows, err := db.QueryContext(t.Context(), `EXPLAIN QUERY PLAN `+tt.query, tt.args...)
		if err != nil {
			t.Fatal(err)
		}
		var plan strings.Builder
		for rows.Next() {
			var detail string
			if err := rows.Scan(new(int), new(int), new(int), &detail); err != nil {
				t.Fatal(err)
			}
			plan.WriteString(detail + "\n")
		}
		err = errors.Join(rows.Err(), rows.Close())
		if err != nil || !strings.Contains(plan.String(), "INDEX "+tt.index) || strings.Contains(plan.String(), "TEMP B-TREE") {
			t.Errorf("%s: got %v and plan %q, want the index %s and no sorting", tt.name, err, plan.String(), tt.index)
		}
	}
}
