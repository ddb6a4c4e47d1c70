package habits_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/habits"
	"github.com/mcp-workbench/workbench/internal/slots"
)

// asWriter makes the test binary a process that writes to the file in it.
const asWriter = "HABITS_TEST_WRITER"

// perProcess is how many clients each process of the test notes.
const perProcess = 20

func TestMain(m *testing.M) {
	if path := os.Getenv(asWriter); path != "" {
		memory := habits.New(path, zerolog.New(os.Stdout))
		memory.Patient() // the machine may be busy
		for i := range perProcess {
			memory.Remember(context.Background(), habits.Client{Name: os.Args[1], Version: strconv.Itoa(i)}, habits.Habit{Calls: true})
		}
		return
	}
	os.Exit(m.Run())
}

func TestMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "clients.json")
	who := habits.Client{Name: "c", Version: "1"}
	memory := func() *habits.Memory { return habits.New(path, zerolog.Nop()) }
	if got := memory().Recall(who); got != (habits.Habit{}) {
		t.Errorf("with no file: got %+v, want nothing", got)
	}
	for _, want := range []habits.Habit{{Relists: true}, {Ignores: true, Calls: true}, {}} {
		memory().Remember(t.Context(), who, want)
		if got := memory().Recall(who); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	memory().Remember(t.Context(), who, habits.Habit{Calls: true})
	for _, other := range []habits.Client{{Name: "c", Version: "2"}, {Name: "C", Version: "1"}, {Name: "c"}} {
		if got := memory().Recall(other); got != (habits.Habit{}) {
			t.Errorf("%+v: got %+v, want nothing", other, got)
		}
	}
	if runtime.GOOS == "windows" {
		return // which keeps rights elsewhere
	}
	for place, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(place); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: got %v, %v, want mode %04o", place, info, err, want)
		}
	}
}

func TestTheOldestIsForgotten(t *testing.T) {
	memory := habits.New(filepath.Join(t.TempDir(), "clients.json"), zerolog.Nop())
	client := func(i int) habits.Client { return habits.Client{Name: "c", Version: strconv.Itoa(i)} }
	for i := range 100 {
		memory.Remember(t.Context(), client(i), habits.Habit{Relists: true})
	}
	memory.Remember(t.Context(), client(0), habits.Habit{Ignores: true}) // so that 1 is the oldest
	memory.Remember(t.Context(), client(100), habits.Habit{Relists: true})
	for i, want := range map[int]habits.Habit{0: {Ignores: true}, 1: {}, 2: {Relists: true}, 100: {Relists: true}} {
		if got := memory.Recall(client(i)); got != want {
			t.Errorf("client %d: got %+v, want %+v", i, got, want)
		}
	}
}

// Clients that are nobody, or try to fill the disk, are not remembered.
func TestWhoIsNotRemembered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clients.json")
	long := strings.Repeat("x", 201)
	for _, c := range []habits.Client{{}, {Version: "1"}, {Name: long}, {Name: "c", Version: long}} {
		habits.New(path, zerolog.Nop()).Remember(t.Context(), c, habits.Habit{Calls: true})
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want no file", err)
	}
}

// A file that cannot be read is as good as none, is said so, and is replaced.
func TestBadFiles(t *testing.T) {
	who := habits.Client{Name: "c", Version: "1"}
	for name, text := range map[string]string{
		"empty": "", "torn": `{"version":1,"clients":[{"na`, "foreign": `[]`, "newer": `{"version":2,"clients":[]}`,
		"too long": `{"version":1,"clients":[` + strings.Repeat(" ", 1<<20) + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "clients.json")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			memory := habits.New(path, zerolog.New(&log))
			if got := memory.Recall(who); got != (habits.Habit{}) || !strings.Contains(log.String(), `"level":"debug"`) {
				t.Errorf("got %+v and log %q, want nothing and a debug line", got, log.String())
			}
			memory.Remember(t.Context(), who, habits.Habit{Calls: true})
			if got := memory.Recall(who); !got.Calls {
				t.Errorf("got %+v, want what was remembered anew", got)
			}
		})
	}
}

// Of processes that note clients at once none takes from another.
func TestProcessesAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clients.json")
	var all sync.WaitGroup
	for p := range 3 {
		all.Go(func() {
			cmd := exec.Command(os.Args[0], fmt.Sprint("process ", p))
			cmd.Env = append(os.Environ(), asWriter+"="+path, "GORACE=atexit_sleep_ms=0")
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	memory := habits.New(path, zerolog.Nop())
	for p := range 3 {
		for i := range perProcess {
			if c := (habits.Client{Name: fmt.Sprint("process ", p), Version: strconv.Itoa(i)}); !memory.Recall(c).Calls {
				t.Errorf("%+v was lost", c)
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 && runtime.GOOS != "windows" { // where an open lock stays
		t.Errorf("got files %q, want one", left)
	}
}

// Nobody waits for other processes longer than ctx lasts.
func TestBusy(t *testing.T) {
	dir := t.TempDir()
	release, err := slots.New(dir, 1).Take(t.Context(), "clients")
	if err != nil {
		t.Fatal(err)
	}
	memory := habits.New(filepath.Join(dir, "clients.json"), zerolog.Nop())
	who := habits.Client{Name: "c"}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	memory.Remember(over, who, habits.Habit{Calls: true})
	if memory.Recall(who).Calls {
		t.Error("it was changed while another process did so")
	}
	release()
	memory.Remember(t.Context(), who, habits.Habit{Calls: true})
	if !memory.Recall(who).Calls {
		t.Error("it was not remembered, although nobody else was at it")
	}
}
