//go:build unix

package store_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/store"
)

// disk is what files are after a loss of power: what was synced is there; of what was written since, none, the first
// part, or any of it, the last write torn between sectors. Deletion is taken to last at once.
type disk map[string]*diskFile

type diskFile struct {
	durable []byte
	pending []event
}

// step has the disk see an event.
func (d disk) step(e event) {
	if e.op == opAck {
		return
	}
	f := d[e.file]
	if f == nil {
		f = &diskFile{}
		d[e.file] = f
	}
	switch e.op {
	case opWrite, opTruncate:
		f.pending = append(f.pending, e)
	case opSync:
		for _, e := range f.pending {
			f.durable = change(f.durable, e)
		}
		f.pending = nil
	case opSyncFailed:
		f.pending = nil
	case opDelete:
		delete(d, e.file)
	}
}

func change(image []byte, e event) []byte {
	end := e.offset + int64(len(e.data))
	if e.op == opTruncate {
		end = e.offset
		image = image[:min(int64(len(image)), end)]
	}
	if grow := end - int64(len(image)); grow > 0 {
		image = append(image, make([]byte, grow)...)
	}
	copy(image[e.offset:], e.data) // nothing, of a truncation
	return image
}

// sector is what a disk writes whole.
const sector = 512

// cut writes the files as a loss of power leaves them. How is 0 for none of what was not synced, 1 for a first part of
// it, 2 for any of it, 3 for all.
func (d disk) cut(t *testing.T, dir string, how int, random *rand.Rand) {
	t.Helper()
	for name, f := range d {
		if strings.HasSuffix(name, "-shm") {
			continue // It is memory.
		}
		image := bytes.Clone(f.durable)
		survivors := slices.Clone(f.pending)
		switch how {
		case 0:
			survivors = nil
		case 1:
			survivors = survivors[:random.IntN(len(survivors)+1)]
		case 2:
			survivors = slices.DeleteFunc(survivors, func(event) bool { return random.IntN(2) == 0 })
		}
		if n := len(survivors); n > 0 && survivors[n-1].op == opWrite {
			last := survivors[n-1]
			last.data = last.data[:random.IntN(len(last.data)/sector+1)*sector]
			survivors[n-1] = last
		}
		for _, e := range survivors {
			image = change(image, e)
		}
		if err := os.WriteFile(filepath.Join(dir, name), image, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// record makes turns and steps of runs of a store on a traced disk, four conversations at once, and returns what
// happened.
func record(t *testing.T, knobs store.Knobs, turns int) []event {
	t.Helper()
	tr := trace(t)
	knobs.VFS = tr.name
	s := openFile(t, filepath.Join(t.TempDir(), "store.db"), store.Options{}.Turned(knobs))
	done := make(chan error)
	for range 4 {
		go func() { done <- recordOne(t, s, tr, turns/4) }()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	events := tr.taken() // before the end, which is clean
	return events
}

func recordOne(t *testing.T, s *store.Store, tr *tracer, turns int) error {
	session, err := s.Begin(t.Context(), "alice", store.NewID(), "shop", "")
	if err != nil {
		return err
	}
	tr.ack(session.Conversation)
	run := runPrefix + session.Conversation
	if err := s.StartRun(t.Context(), "alice", store.Run{ID: run, Workflow: "shop", Head: js(`{}`)}, []byte(`{}`), js(`"start"`)); err != nil {
		return err
	}
	tr.ack(run)
	for i := range turns {
		message := fmt.Sprintf("%s %d %s", session.Conversation, i, strings.Repeat("x", 1000))
		if _, err := sayAs(t.Context(), s, "alice", session.Conversation, store.NewID(), message); err != nil {
			return err
		}
		tr.ack(message)
		event := fmt.Sprintf("%q", strings.Repeat("y", 1000))
		if err := s.ChangeRun(t.Context(), "alice", run, store.RunChange{After: i + 1, Head: js(`{}`), Events: []json.RawMessage{js(event)}}); err != nil {
			return err
		}
		tr.ack(fmt.Sprintf("%s %d", run, i))
	}
	return nil
}

// runPrefix begins the ids of runs, to tell them from conversations.
const runPrefix = "run-"

// losses cuts the power at random moments and returns how often something acknowledged was gone afterwards.
func losses(t *testing.T, events []event, cuts int, knobs store.Knobs) (lost []string) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	at := make([]int, cuts)
	for i := range at {
		at[i] = random.IntN(len(events) + 1)
	}
	slices.Sort(at)
	d, seen := make(disk), 0
	acked := make(map[string]int) // turns by conversation
	for i, cut := range at {
		for ; seen < cut; seen++ {
			if e := events[seen]; e.op == opAck {
				conversation, _, turn := strings.Cut(e.ack, " ")
				acked[conversation] += 0
				if turn {
					acked[conversation]++
				}
			} else {
				d.step(e)
			}
		}
		dir := t.TempDir()
		d.cut(t, dir, i%3, random)
		if fault := missing(t, filepath.Join(dir, "store.db"), acked, knobs); fault != "" {
			lost = append(lost, fmt.Sprintf("after event %d of %d, way %d: %s", cut, len(events), i%3, fault))
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	return lost
}

// missing opens a store and says what of that which was acknowledged is not in it as it was, or "".
func missing(t *testing.T, path string, acked map[string]int, knobs store.Knobs) string {
	t.Helper()
	var warning error
	s, err := store.OpenSQLite(t.Context(), path, func(err error) { warning = err }, store.Options{}.Turned(knobs))
	if err != nil {
		return err.Error()
	}
	defer closeStore(t, s)
	if warning != nil {
		return warning.Error()
	}
	for conversation, n := range acked {
		if strings.HasPrefix(conversation, runPrefix) {
			if _, events, err := s.Run(t.Context(), "alice", conversation, 0); err != nil || len(events) < n+1 {
				return fmt.Sprintf("%d of %d events of a run, and %v", len(events), n+1, err)
			}
			continue
		}
		turns, err := s.Turns(t.Context(), "alice", conversation, 0)
		if err != nil {
			return err.Error()
		}
		if len(turns) < n {
			return fmt.Sprintf("%d of %d turns", len(turns), n)
		}
		for i, turn := range turns {
			if !strings.HasPrefix(turn.Message, fmt.Sprintf("%s %d x", conversation, i)) {
				return fmt.Sprintf("turn %d is %.60q", i, turn.Message)
			}
		}
	}
	return ""
}

func TestFaultE5_PowerLoss(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		knobs store.Knobs
		turns int
	}{
		{"log", store.Knobs{}, 60},
		{"rollback journal", store.Knobs{Rollback: true}, 40},
	} {
		t.Run(tt.name, func(t *testing.T) {
			events := record(t, tt.knobs, tt.turns)
			cuts := rounds(9, 1000)
			if lost := losses(t, events, cuts, tt.knobs); lost != nil {
				t.Errorf("lost something in %d of %d cuts, such as %s", len(lost), cuts, lost[0])
			}
		})
	}
}

// Where the first transaction was cut off without the file's first page, the store is empty and not damaged.
func TestPowerLossInFirstTransaction(t *testing.T) {
	knobs := store.Knobs{Rollback: true}
	d := make(disk)
	for _, e := range record(t, knobs, 4) {
		if e.file == "store.db" && e.op == opSync {
			break
		}
		if e.file != "store.db" || e.offset != 0 {
			d.step(e)
		}
	}
	if n := len(d["store.db"].pending); n < 5 {
		t.Fatalf("got %d writes before the first sync, want the pages of the schema", n)
	}
	dir := t.TempDir()
	d.cut(t, dir, 3, rand.New(rand.NewPCG(1, 2)))
	if fault := missing(t, filepath.Join(dir, "store.db"), nil, knobs); fault != "" {
		t.Error(fault)
	}
}

// The tests above would notice a store that promises what it has not synced.
func TestPowerLossIsNoticed(t *testing.T) {
	t.Parallel()
	events := record(t, store.Knobs{Synchronous: "NORMAL"}, 40)
	if lost := losses(t, events, 20, store.Knobs{}); len(lost) == 0 {
		t.Error("got no loss with synchronous=NORMAL, want some")
	}
}
