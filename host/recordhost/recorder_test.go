package recordhost_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/host/recordhost"
	"github.com/mcp-workbench/workbench/internal/calls"
)

// A call that ends while one writer follows another, as after a change of the configuration, is written once.
func TestNoCallIsLostBetweenWriters(t *testing.T) {
	const all = calls.MaxCalls // none is missed because a disk is slow
	dir, log := t.TempDir(), calls.New(calls.Meta)
	cfg := &config.Config{Record: config.Record{Mode: string(calls.Meta), Dir: dir, MaxSize: 64 << 20}}
	r := recordhost.New(log, cfg, zerolog.Nop())
	var calling sync.WaitGroup
	calling.Go(func() {
		for range all {
			c := new(calls.Call)
			log.Note(c, func(c *calls.Call) { c.Tool = "x" })
			log.End(c, func(c *calls.Call) { c.Outcome = calls.OK })
		}
	})
	for i := range 20 {
		next := *cfg
		next.Record.MaxAge = time.Hour + time.Duration(i)
		r.Reload(&next)
	}
	calling.Wait()
	recordhost.Settle(r)
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			_, after, _ := strings.Cut(line, `"id":"`)
			id, _, _ := strings.Cut(after, `"`)
			if lines[id]++; lines[id] > 1 {
				t.Errorf("call %s was written twice", id)
			}
		}
	}
	if len(lines) != all {
		t.Errorf("%d calls were written, want %d", len(lines), all)
	}
}
