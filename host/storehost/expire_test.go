package storehost

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	go func() { defer close(ended); expire(ctx, s, zerolog.New(log)) }()
	line := make([]byte, 4096)
	n, err := read.Read(line)
	if got := string(line[:n]); err != nil || !strings.Contains(got, `"conversations":2,"detail":"from `) || !strings.Contains(got, "will be deleted") {
		t.Errorf("got %s and %v, want that two will be deleted", got, err)
	}
	cancel()
	_ = read.Close()
	<-ended
}
