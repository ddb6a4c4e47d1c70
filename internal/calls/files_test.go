package calls_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/calls"
)

func record(log *calls.Log, tool string) {
	c := new(calls.Call)
	log.Note(c, func(c *calls.Call) { c.Tool = tool })
	log.End(c, func(c *calls.Call) { c.Outcome = calls.OK })
}

// kept are the lines of all files in a folder, and how many bytes they have.
func kept(t *testing.T, dir string) (lines []calls.Call, missed uint64, size int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "calls-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		info, _ := file.Stat()
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("got mode %v, want a file that nobody else can read", info.Mode())
		}
		size += int(info.Size())
		s := bufio.NewScanner(file)
		for s.Buffer(nil, 16<<20); s.Scan(); {
			var line struct {
				calls.Call
				Missed uint64 `json:"missed"`
			}
			if err := json.Unmarshal(s.Bytes(), &line); err != nil {
				t.Errorf("%s: %v", s.Text(), err)
			}
			missed += line.Missed
			if line.ID != "" {
				lines = append(lines, line.Call)
			}
		}
		_ = file.Close()
	}
	return lines, missed, size
}

// write has n calls written, and returns when they are.
func write(f calls.Files, log *calls.Log, n int) {
	last := log.Last()
	for range n {
		record(log, strings.Repeat("x", 100))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f.Write(ctx, log, last)
}

func TestFilesAreBounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	f := calls.Files{Dir: dir, MaxSize: 64 << 10, Failed: func(err error) { t.Error(err) }}
	log := calls.New(calls.Meta)
	write(f, log, 10)
	if lines, missed, _ := kept(t, dir); len(lines) != 10 || missed != 0 || lines[0].Tool == "" {
		t.Errorf("got %d lines, and %d missed, want all ten", len(lines), missed)
	}
	write(f, log, 2000) // of which the ring has the last 1,000
	write(f, log, 500)
	lines, missed, size := kept(t, dir)
	if size > f.MaxSize || size < f.MaxSize/2 {
		t.Errorf("got %d bytes, want up to %d", size, f.MaxSize)
	}
	if len(lines) == 0 || lines[len(lines)-1].ID != log.Calls(calls.Filter{Limit: 1})[0].ID || missed != 0 {
		t.Errorf("got %d lines, want the last calls", len(lines))
	}

	other := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	paths, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, path := range paths {
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	f.MaxAge = time.Minute
	write(f, log, 1)
	if lines, _, _ := kept(t, dir); len(lines) != 1 {
		t.Errorf("got %d lines, want that which is not too old", len(lines))
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("a file of somebody else: %v", err)
	}
}

// The files keep their bound also where one call is a good part of it; what is too long is left out, and said to be.
func TestFilesOfLongCalls(t *testing.T) {
	f := calls.Files{Dir: t.TempDir(), MaxSize: 1 << 20, Failed: func(err error) { t.Error(err) }}
	log := calls.New(calls.Full)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sizes := []int{60 << 10, calls.MaxValue - 2}
	for i := range 40 {
		last := log.Last()
		c := new(calls.Call)
		log.Note(c, func(c *calls.Call) { c.Tool = fmt.Sprint(i) })
		log.End(c, func(c *calls.Call) {
			c.Outcome, c.Result = calls.OK, json.RawMessage(`"`+strings.Repeat("<", sizes[i%2])+`"`)
		})
		f.Write(ctx, log, last)
	}
	lines, missed, size := kept(t, f.Dir)
	if size > f.MaxSize || missed > 0 || len(lines) < 16 {
		t.Fatalf("got %d bytes of %d calls, and %d missed, want at most %d", size, len(lines), missed, f.MaxSize)
	}
	for _, got := range lines {
		if odd := got.Tool[len(got.Tool)-1]&1 == 1; got.ResultLeft != odd || (got.Result == nil) != odd {
			t.Errorf("tool %s: got a result of %d bytes, left out %t", got.Tool, len(got.Result), got.ResultLeft)
		}
	}
}

// A disk that takes nothing costs the files alone, and is told of once.
func TestADiskThatRefuses(t *testing.T) {
	place := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(place, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	failed := 0
	log := calls.New(calls.Meta)
	write(calls.Files{Dir: place, MaxSize: 1 << 20, Failed: func(error) { failed++ }}, log, 50)
	if failed != 1 {
		t.Errorf("got %d words, want one", failed)
	}
	if n := len(log.Calls(calls.Filter{})); n != 50 {
		t.Errorf("got %d calls in memory, want them all", n)
	}
}

// How many calls are missing is said in the end too, if the disk has room again by then.
func TestADiskThatRefusesForAWhile(t *testing.T) {
	place := filepath.Join(t.TempDir(), "calls")
	if err := os.WriteFile(place, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	write(calls.Files{Dir: place, MaxSize: 1 << 20, Failed: func(error) {
		if err := os.Remove(place); err != nil {
			t.Error(err)
		}
	}}, calls.New(calls.Meta), 50)
	if lines, missed, _ := kept(t, place); len(lines)+int(missed) != 50 {
		t.Errorf("got %d calls, and %d missed, want 50 together", len(lines), missed)
	}
}
