package storehost

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/store"
)

// Before old conversations are deleted the log says how many, and from when on.
func TestExpire(t *testing.T) {
	s, err := store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "s.db"), func(error) {}, store.Options{KeepFor: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	backup, err := os.ReadFile("../../cmd/workbench/testdata/script/conversations.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, lines, _ := strings.Cut(string(backup), "-- backup.jsonl --\n")
	lines, _, _ = strings.Cut(lines, "\n-- ")
	if _, err := s.Import(t.Context(), strings.NewReader(lines), ""); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	read, log := io.Pipe()
	ended := make(chan struct{})
	go func() { defer close(ended); expire(ctx, s, zerolog.New(log), system()) }()
	line := make([]byte, 4096)
	n, err := read.Read(line)
	if got := string(line[:n]); err != nil || !strings.Contains(got, `"conversations":2,"detail":"from `) || !strings.Contains(got, "will be deleted") {
		t.Errorf("got %s and %v, want that two will be deleted", got, err)
	}
	cancel()
	_ = read.Close()
	<-ended
}

// asked is a store that notes when it was asked to delete what is old.
type asked struct {
	clock func() (time.Time, time.Duration)
	at    []time.Duration
}

func (a *asked) Expire(_ context.Context, certain bool) (store.Expiry, error) {
	if _, running := a.clock(); certain {
		a.at = append(a.at, running)
	}
	return store.Expiry{From: time.Unix(1, 0)}, nil
}

// Nothing is deleted by a clock that is wrong when the machine starts and then set right, nor by one that was just set,
// forward or back.
func TestFaultG57_WrongClockDeletesNothing(t *testing.T) {
	for name, wrong := range map[string]time.Duration{"ahead": 365 * 24 * time.Hour, "behind": -365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				clock := func() (now time.Time, running time.Duration) {
					now, running = time.Now(), time.Since(began)
					if running < 5*time.Minute || running >= 5*time.Hour {
						now = now.Add(wrong)
					}
					return now.Round(0), running
				}
				s := &asked{clock: clock}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() { defer close(ended); expire(ctx, s, zerolog.Nop(), clock) }()
				time.Sleep(6 * time.Hour)
				cancel()
				<-ended
				if len(s.at) == 0 {
					t.Error("nothing was deleted by a clock that is right")
				}
				for _, at := range s.at {
					if at < 15*time.Minute || at > 5*time.Hour && at < 5*time.Hour+settleTime {
						t.Errorf("something was deleted %v after the start", at)
					}
				}
			})
		})
	}
}
