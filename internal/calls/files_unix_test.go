//go:build unix

package calls_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/workbench/internal/calls"
)

// A disk on which files can be made and not filled, as when it is full, has whole lines only in its files, and no file
// more for each time that it is tried again.
func TestADiskThatStaysFull(t *testing.T) {
	for _, room := range []uint64{0, 100, 1000} { // bytes in a file: not one line, half a line, some lines and a half
		synctest.Test(t, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "calls")
			log := calls.New(calls.Meta)
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan uint64)
			go func() { done <- (&calls.Files{Dir: dir, MaxSize: 1 << 20}).Write(ctx, log, 0) }()

			free := limitFiles(t, room)
			for range 20 {
				record(log, "tool")
				synctest.Wait()
				time.Sleep(time.Minute)
			}
			free()
			lines, missed, _ := kept(t, dir)
			for _, path := range paths(t, dir) {
				if info, err := os.Stat(path); err != nil || info.Size() == 0 {
					t.Errorf("in files of %d bytes, a file has nothing in it (%v)", room, err)
				}
			}
			if room < 1000 && len(lines) > 0 {
				t.Errorf("in files of %d bytes, got %d calls, want none", room, len(lines))
			}
			before := len(lines) + int(missed)

			record(log, "tool")
			synctest.Wait()
			stop()
			<-done
			if lines, missed, _ := kept(t, dir); len(lines)+int(missed) != 21 {
				t.Errorf("once there was room again, got %d calls and %d missed after %d, want 21", len(lines), missed, before)
			}
		})
	}
}

// paths are the files of calls in a folder.
func paths(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// limitFiles has every file end at some bytes, until the function that it returns is called.
func limitFiles(t *testing.T, room uint64) func() {
	t.Helper()
	var all unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &all); err != nil {
		t.Fatal(err)
	}
	few := all
	few.Cur = room
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &few); err != nil {
		t.Fatal(err)
	}
	free := func() {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &all); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(free) // where the test ends before
	return free
}
