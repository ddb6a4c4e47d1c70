package slots_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/workbench/internal/slots"
)

// asHolder makes the test binary a process that takes a place and says so.
const asHolder = "WORKBENCH_TEST_HOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asHolder); dir != "" {
		hold(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// hold takes a place, tells of it on stdout, and gives it back when it is told to by a line on stdin.
func hold(dir string) {
	release, err := slots.New(dir, 2).Take(context.Background(), "server")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("taken")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err == nil {
		release()
		fmt.Println("released")
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// patience bounds waits that end at once in a program that works.
const patience = 2 * time.Minute

// holder is such a process.
type holder struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
}

func startHolder(t *testing.T, dir string) *holder {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := &holder{cmd: exec.Command(self), lines: make(chan string, 10)}
	h.cmd.Env = append(os.Environ(), asHolder+"="+dir)
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var read sync.WaitGroup
	read.Go(func() {
		defer close(h.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			h.lines <- s.Text()
		}
	})
	t.Cleanup(func() {
		_ = h.in.Close()
		_ = h.cmd.Process.Kill()
		read.Wait()
		_ = h.cmd.Wait()
	})
	return h
}

func (h *holder) want(t *testing.T, line string) {
	t.Helper()
	select {
	case got := <-h.lines:
		if got != line {
			t.Fatalf("got %q, want %q", got, line)
		}
	case <-time.After(patience):
		t.Fatalf("a process did not say %q", line)
	}
}

// taken reports whether all places are taken at this moment.
func taken(t *testing.T, s *slots.Slots) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	release, err := s.Take(ctx, "server")
	if err == nil {
		release()
		return false
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	return true
}

// A place is free again when its process gives it back, and when it is killed.
func TestOtherProcesses(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, h *holder){
		"released": func(t *testing.T, h *holder) {
			if _, err := io.WriteString(h.in, "go\n"); err != nil {
				t.Fatal(err)
			}
			h.want(t, "released")
		},
		"killed": func(t *testing.T, h *holder) {
			if err := h.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_, _ = h.cmd.Process.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "not", "there")
			s := slots.New(dir, 2)
			first, second := startHolder(t, dir), startHolder(t, dir)
			first.want(t, "taken")
			second.want(t, "taken")
			if !taken(t, s) {
				t.Fatal("there was a third place")
			}
			end(t, first)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			release, err := s.Take(ctx, "server")
			if err != nil {
				t.Fatalf("after the end of one: %v", err)
			}
			if !taken(t, s) {
				t.Error("one place became two")
			}
			release()
			release() // once more is nothing more
			if taken(t, s) {
				t.Error("a place that was given back is taken")
			}
		})
	}
}

// In one process as between many there are never more than n under a name, all get a place, names do not hinder each
// other, and no file is left.
func TestCrowd(t *testing.T) {
	dir := t.TempDir()
	const places = 2
	var several []*slots.Slots // as many processes have
	for range 10 {
		several = append(several, slots.New(dir, places))
	}
	names := []string{"a", "b"}
	var inside [2]atomic.Int64
	var most [2]atomic.Int64
	var all sync.WaitGroup
	for i := range 400 {
		all.Go(func() {
			which := i % 2
			release, err := several[i/2%len(several)].Take(t.Context(), names[which])
			if err != nil {
				t.Error(err)
				return
			}
			n := inside[which].Add(1)
			for m := most[which].Load(); n > m && !most[which].CompareAndSwap(m, n); m = most[which].Load() {
			}
			runtime.Gosched()
			inside[which].Add(-1)
			release()
		})
	}
	all.Wait()
	for i := range most {
		if got := most[i].Load(); got > places {
			t.Errorf("%s: got %d at a time, want %d at most", names[i], got, places)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 && runtime.GOOS != "windows" { // where an open file stays
		t.Errorf("got files %v, %v; want none left", left, err)
	}
}

// One name does not wait for another, and who waits can be called off.
func TestNamesAndContexts(t *testing.T) {
	s := slots.New(t.TempDir(), 1)
	release, err := s.Take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	other, err := s.Take(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	other()
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := s.Take(ctx, "a"); !errors.Is(err, cause) {
		t.Errorf("got %v, want the cause of the context", err)
	}
}

// Where no file can be locked that is said, not waited for.
func TestNoDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := slots.New(filepath.Join(file, "below"), 1).Take(t.Context(), "a")
	if err == nil || !slices.ContainsFunc([]string{"not a directory", "cannot find", "not found"}, func(s string) bool { return strings.Contains(err.Error(), s) }) {
		t.Errorf("got %v, want that it is not a directory", err)
	}
}

// Who clears the folder takes the places away from those who have them; these then take none from anybody when they give
// theirs back.
func TestClearedFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open is not removed there")
	}
	dir := filepath.Join(t.TempDir(), "locks")
	one, two, three := slots.New(dir, 1), slots.New(dir, 1), slots.New(dir, 1)
	before, err := one.Take(t.Context(), "server")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	release, err := two.Take(t.Context(), "server")
	if err != nil {
		t.Fatal(err)
	}
	before()
	if !taken(t, three) {
		t.Error("the place was given to two at a time")
	}
	release()
	if taken(t, three) {
		t.Error("the place is taken although nobody has it")
	}
}
