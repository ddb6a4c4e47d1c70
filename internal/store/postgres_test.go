package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/mcp-workbench/workbench/internal/store"
)

func TestFaultE16_ServerRestarts(t *testing.T) {
	t.Parallel()
	server := ownServer(t)
	dsn := server.Database(t)
	s := openDatabase(t, dsn, store.Options{}.Turned(store.Knobs{Lease: time.Second}))
	c := begin(t, s).Conversation
	want := []string{say(t, s, c, "before").Message}
	f, err := s.Start(t.Context(), "alice", c, store.Request{Key: "k", Message: "during"})
	if err != nil {
		t.Fatal(err)
	}
	server.Crash()
	if err := server.Run(); err != nil {
		t.Fatal(err)
	}
	within(t, "the loss of the locks", f.Lost())
	// Nobody has gone on with the conversation, so the turn is still good.
	var finished error
	for range 10 { // for the connections that have broken
		if _, finished = f.Finish(t.Context(), store.Turn{Status: "completed"}); finished == nil {
			break
		}
	}
	if finished != nil {
		t.Fatal(finished)
	}
	want = append(want, "during", say(t, s, c, "after").Message)
	turns, err := s.Turns(t.Context(), "alice", c, 0)
	if err != nil || messages(turns) != strings.Join(want, " ") {
		t.Errorf("got %q and %v, want %q", messages(turns), err, want)
	}
}

// elsewhere begins another conversation of alice.
func elsewhere(t *testing.T, s *store.Store) (conversation string) {
	t.Helper()
	session, err := s.Begin(t.Context(), "alice", "terminal", "shop", "")
	if err != nil {
		t.Fatal(err)
	}
	return session.Conversation
}

// Who goes away while a lock is asked for costs no turn its own.
func TestLocksOutliveCallers(t *testing.T) {
	dsn := server.Database(t)
	s, replica := openDatabase(t, dsn, store.Options{}), openDatabase(t, dsn, store.Options{})
	c, other := begin(t, s).Conversation, elsewhere(t, s)
	f, err := s.Start(t.Context(), "alice", c, store.Request{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := s.Delete(gone, "alice", other); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v for a caller who has gone", err)
	}
	var busy *store.BusyError
	if _, err := replica.Start(t.Context(), "alice", c, store.Request{Key: "second"}); !errors.As(err, &busy) || busy.Key != "k" {
		t.Errorf("got %v from a second turn, want the first under way", err)
	}
	if _, err := f.Finish(t.Context(), store.Turn{Status: "completed"}); err != nil {
		t.Error(err)
	}
}

// A turn whose lock has gone with its connection is told so, also where there is another connection already.
func TestLockOfABrokenConnection(t *testing.T) {
	t.Parallel()
	dsn := server.Database(t)
	s := openDatabase(t, dsn, store.Options{}.Turned(store.Knobs{Lease: 6 * time.Second}))
	c, other := begin(t, s).Conversation, elsewhere(t, s)
	f, err := s.Start(t.Context(), "alice", c, store.Request{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	endConnections(t, dsn)
	var away *store.UnreachableError
	later, err := s.Start(t.Context(), "alice", other, store.Request{Key: "later"})
	for errors.As(err, &away) {
		later, err = s.Start(t.Context(), "alice", other, store.Request{Key: "later"})
	}
	if err != nil {
		t.Fatal(err)
	}
	within(t, "the loss of the lock", f.Lost())
	select {
	case <-later.Lost():
		t.Error("a turn on the new connection is lost, too")
	default:
	}
	if _, err := later.Finish(t.Context(), store.Turn{Status: "completed"}); err != nil {
		t.Error(err)
	}
}

// A server that stalls, or has no connection left, holds callers up until their deadline and no longer.
func TestFaultE16_ServerStalls(t *testing.T) {
	dsn := server.Database(t)
	s := openDatabase(t, dsn, store.Options{}.Turned(store.Knobs{Conns: 1}))
	c := begin(t, s).Conversation
	release := lockTable(t, dsn)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			if _, err := sayAs(ctx, s, "alice", c, fmt.Sprint("early", i), "m"); err == nil {
				t.Error("got a turn kept while nobody can write")
			}
		})
	}
	all.Wait()
	release()
	say(t, s, c, "late")
	turns, err := s.Turns(t.Context(), "alice", c, 0)
	if err != nil || messages(turns) != "late" {
		t.Errorf("got %q and %v, want the turn that was acknowledged", messages(turns), err)
	}
}

func TestFaultE16_ReplicaKilled(t *testing.T) {
	t.Parallel()
	dsn := server.Database(t)
	s := openDatabase(t, dsn, store.Options{})
	for range rounds(5, 60) {
		expect(t, s, killed(t, actor(t, "append", "postgres:"+dsn), 1+rand.IntN(30), 20*time.Second))
	}
}

// endConnections ends those of everybody else to a database.
func endConnections(t *testing.T, dsn string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`); err != nil {
		t.Fatal(err)
	}
}

// Any number of runs of one workflow begin at the same time, and keep their definition while others of it are deleted.
func TestRunsOfOneWorkflow(t *testing.T) {
	t.Parallel()
	s := openDatabase(t, server.Database(t), store.Options{})
	definition := []byte(`{"id":"w"}`)
	start := func(id string) error {
		return s.StartRun(t.Context(), "alice", store.Run{ID: id, Workflow: "w", Head: []byte(`{}`)}, definition, []byte(`{}`))
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 10 {
				id := fmt.Sprintf("run-%d-%d", i, j)
				if err := start(id); err != nil {
					t.Errorf("run %s: %v", id, err)
				}
				if _, err := s.Definition(t.Context(), store.Digest(definition)); err != nil {
					t.Errorf("run %s: %v", id, err)
				}
				if err := s.DeleteRun(t.Context(), "alice", id); err != nil {
					t.Errorf("run %s: %v", id, err)
				}
			}
		})
	}
	all.Wait()
}

// The owner of the schema needs no right to create schemas.
func TestOwnerOfTheSchema(t *testing.T) {
	dsn := server.Database(t)
	owner := "owner_" + dsn[strings.LastIndex(dsn, "=")+1:]
	query(t, dsn, fmt.Sprintf(`CREATE ROLE %s LOGIN; CREATE SCHEMA workbench AUTHORIZATION %[1]s`, owner))
	s := openDatabase(t, strings.Replace(dsn, "user=workbench", "user="+owner, 1), store.Options{})
	say(t, s, begin(t, s).Conversation, "m")
}

// Of what a pooler may refuse at the beginning of a connection nothing is sent there (PgBouncer takes application_name).
func TestStartOfAConnection(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	begun := make(chan *pgproto3.StartupMessage, 1)
	go func() {
		defer close(begun)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		message, err := pgproto3.NewBackend(conn, conn).ReceiveStartupMessage()
		if said, ok := message.(*pgproto3.StartupMessage); ok && err == nil {
			begun <- said
		}
	}()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	if _, err := store.OpenPostgres(t.Context(), "sslmode=disable host=127.0.0.1 user=u dbname=d port="+port, deaf(t), store.Options{}); err == nil {
		t.Error("got a store of nobody")
	}
	said := <-begun
	if said == nil {
		t.Fatal("got no beginning")
	}
	for name := range said.Parameters {
		if !slices.Contains([]string{"user", "database", "application_name", "client_encoding"}, name) {
			t.Errorf("got the parameter %s", name)
		}
	}
}

// However often others are in the way of a change, it is made when they are done.
func TestOthersInTheWay(t *testing.T) {
	dsn := server.Database(t)
	s := openDatabase(t, dsn, store.Options{})
	begin(t, s) // has the row that a session of the same client writes anew
	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		return conn
	}
	look, now, next := connect(), connect(), connect()
	write := func(conn *pgx.Conn) error {
		// The server gives the lock to who waits for it before anybody else can ask.
		_, err := conn.Exec(t.Context(), `BEGIN; LOCK TABLE workbench.last_conversations IN SHARE ROW EXCLUSIVE MODE; UPDATE workbench.last_conversations SET conversation = conversation`)
		return err
	}
	waiting := func(want int) {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) { // The server does not tell.
			var got int
			if err := look.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&got); err != nil || time.Now().After(end) {
				t.Fatalf("got %d waiting and %v, want %d", got, err, want)
			}
			if got == want {
				return
			}
		}
	}
	if err := write(now); err != nil {
		t.Fatal(err)
	}
	begun := make(chan error, 1)
	go func() {
		_, err := s.Begin(t.Context(), "alice", "editor", "shop", "")
		begun <- err
	}()
	for range 15 {
		waiting(1)
		wrote := make(chan error, 1)
		go func() { wrote <- write(next) }()
		waiting(2)
		if _, err := now.Exec(t.Context(), `COMMIT`); err != nil {
			t.Fatal(err)
		}
		if err := <-wrote; err != nil {
			t.Fatal(err)
		}
		now, next = next, now
		select {
		case err := <-begun:
			t.Fatalf("got %v while others write", err)
		default:
		}
	}
	if _, err := now.Exec(t.Context(), `COMMIT`); err != nil {
		t.Fatal(err)
	}
	if err := <-begun; err != nil {
		t.Error(err)
	}
}

// A server that only reads for the moment, because another one has taken over or its disk is full, says so to writers as
// a file does, and is written again as soon as it can be, also by a store that has connections from before. What is there
// can be read meanwhile, also by a workbench that starts.
func TestPostgresOnlyReads(t *testing.T) {
	t.Parallel()
	dsn := server.Database(t)
	s := openDatabase(t, dsn, store.Options{})
	c := begin(t, s).Conversation
	say(t, s, c, "before")
	name := dsn[strings.LastIndexByte(dsn, '=')+1:]
	query(t, dsn, "ALTER DATABASE "+name+" SET default_transaction_read_only = on")
	endConnections(t, dsn)
	for _, store := range map[string]*store.Store{"from before": s, "started meanwhile": openDatabase(t, dsn, store.Options{})} {
		refused(t, store, c)
	}
	query(t, dsn+" default_transaction_read_only=off", "ALTER DATABASE "+name+" RESET default_transaction_read_only")
	if err := s.Try(t.Context()); err != nil {
		t.Errorf("got %v from a server that can be written again", err)
	}
	say(t, s, c, "after")
}

// refused holds a store to be read and not written.
func refused(t *testing.T, s *store.Store, conversation string) {
	t.Helper()
	var write *store.WriteError
	if _, err := s.Begin(t.Context(), "alice", "another", "shop", ""); !errors.As(err, &write) || !strings.Contains(err.Error(), "nothing was stored") {
		t.Errorf("got %v from a server that only reads, want that nothing was stored", err)
	}
	if turns, err := s.Turns(t.Context(), "alice", conversation, 0); err != nil || messages(turns) != "before" {
		t.Errorf("got %q and %v, want what is there", messages(turns), err)
	}
}
