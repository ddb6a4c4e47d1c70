package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
)

// Rows of the store of conversations, in a file on the disk of temporary files.
const (
	turnWhat   = "turn kept @100/s"
	sqliteName = "SQLite"
	syncName   = "write and sync"
	principal  = "bench"
	workflow   = "bench"
)

// listedWhat is the row of a list beside so many conversations.
func listedWhat(conversations int) string {
	return fmt.Sprintf("list beside %d conversations", conversations)
}

// store measures how long a turn takes from when it was due until it is on stable storage, and a list of conversations,
// where there are many. Turns come at a steady rate whether those before have ended or not.
func (b *bench) store(ctx context.Context) error {
	listed := listedWhat(b.conversations)
	if !b.wanted(turnWhat, syncName) && !b.wanted(turnWhat, sqliteName) && !b.wanted(listed, sqliteName) {
		return nil
	}
	b.say("store")
	s, err := store.OpenSQLite(ctx, filepath.Join(b.dir, "conversations.db"), func(error) {}, store.Options{})
	if err != nil {
		return err
	}
	err = fillStore(ctx, s, b.conversations)
	for range b.series {
		if err == nil && b.wanted(turnWhat, syncName) {
			err = b.synced()
		}
		if err == nil && b.wanted(turnWhat, sqliteName) {
			err = b.turnsKept(ctx, s)
		}
		if err == nil && b.wanted(listed, sqliteName) {
			err = b.listed(ctx, s)
		}
	}
	return errors.Join(err, s.Close())
}

// fillStore makes conversations.
func fillStore(ctx context.Context, s *store.Store, n int) error {
	var file strings.Builder
	file.WriteString("{\"workbench\":{\"version\":1}}\n")
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		at := began.Add(time.Duration(i) * time.Minute).Format(time.RFC3339)
		fmt.Fprintf(&file, `{"conversation":{"principal":%q,"conversation_id":"%08x","client":"bench","workflow":%q,"topic":"Orders of customer %d","summary":%q,"turns":0,"created_at":%q,"updated_at":%q}}`+"\n",
			principal, i, workflow, i, strings.Repeat("What was said. ", 10), at, at)
	}
	fmt.Fprintf(&file, "{\"end\":{\"conversations\":%d,\"turns\":0,\"corrections\":0}}\n", n)
	_, err := s.Import(ctx, strings.NewReader(file.String()), "")
	return err
}

// turnsKept measures turns of many conversations.
func (b *bench) turnsKept(ctx context.Context, s *store.Store) error {
	const among = 500 // a conversation has one turn at a time: none is to be due before its last has ended
	var conversations []string
	for i := range among {
		session, err := s.Begin(ctx, principal, fmt.Sprint("client ", i), workflow, "")
		if err != nil {
			return err
		}
		conversations = append(conversations, session.Conversation)
	}
	return b.steadily(sqliteName, func(i int) error { return keepTurn(ctx, s, conversations[i%among]) })
}

// synced measures what the disk makes of as many bytes at the same rate.
func (b *bench) synced() error {
	f, err := os.Create(filepath.Join(b.dir, "synced"))
	if err != nil {
		return err
	}
	var mu sync.Mutex
	err = b.steadily(syncName, func(int) error {
		mu.Lock()
		defer mu.Unlock()
		_, err := f.Write(make([]byte, 8<<10))
		return errors.Join(err, f.Sync())
	})
	return errors.Join(err, f.Close())
}

// steadily does something a hundred times a second.
func (b *bench) steadily(front string, do func(i int) error) error {
	took, faults := make([]time.Duration, b.turns), make([]error, b.turns)
	var all sync.WaitGroup
	began := time.Now()
	for i := range b.turns {
		due := began.Add(time.Duration(i) * 10 * time.Millisecond)
		time.Sleep(time.Until(due))
		all.Go(func() {
			faults[i] = do(i)
			took[i] = time.Since(due)
		})
	}
	all.Wait()
	if err := errors.Join(faults...); err != nil {
		return err
	}
	b.report.row(turnWhat, front).addTimes(took)
	return nil
}

func keepTurn(ctx context.Context, s *store.Store, conversation string) error {
	f, err := s.Start(ctx, principal, conversation, store.Request{Key: store.NewID(), Kind: "command", Message: strings.Repeat("m", 200)})
	if err != nil {
		return err
	}
	_, err = f.Finish(ctx, store.Turn{Status: "completed", Output: []byte(`"` + strings.Repeat("o", 2000) + `"`)})
	return err
}

// listed measures lists, one at a time.
func (b *bench) listed(ctx context.Context, s *store.Store) error {
	took := make([]time.Duration, b.turns)
	for i := range took {
		began := time.Now()
		if _, err := s.Conversations(ctx, principal, workflow, 100); err != nil {
			return err
		}
		took[i] = time.Since(began)
	}
	b.report.row(listedWhat(b.conversations), sqliteName).addTimes(took)
	return nil
}
