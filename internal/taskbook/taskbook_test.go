package taskbook_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/taskbook"
)

func TestBook(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "tasks")
	book := taskbook.New(dir, zerolog.Nop())
	if _, ok := book.Get("ada", "t1"); ok {
		t.Error("an empty book has a task")
	}
	later := time.Now().Add(time.Hour)
	one, two := taskbook.Server{Toolbox: "dev", Name: "one"}, taskbook.Server{Toolbox: "dev", Name: "two\n{"}
	book.Put("ada", "t1", one, later)
	book.Put("ada", "t2", two, later)
	book.Put("ada", "old", one, time.Now().Add(-time.Second))
	book.Put("bob", "t3", one, later)
	for _, test := range []struct {
		user, id string
		want     taskbook.Server
	}{
		{"ada", "t1", one}, {"ada", "t2", two}, {"bob", "t3", one}, {"ada", "old", taskbook.Server{}}, {"ada", "t3", taskbook.Server{}},
		{"bob", "t1", taskbook.Server{}}, {"ada", "", taskbook.Server{}},
	} {
		// Another process has a book of its own.
		if got, _ := taskbook.New(dir, zerolog.Nop()).Get(test.user, test.id); got != test.want {
			t.Errorf("task %q of %s: got %v, want %v", test.id, test.user, got, test.want)
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if info, serr := os.Stat(f); err != nil || serr != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 || strings.Contains(string(text), "t1") {
			t.Errorf("%s: %v, mode %v, holds %q: want a file of this user alone without ids", f, err, info.Mode(), text)
		}
	}
	// A file that says nothing, a folder and a link to nowhere are as good as none.
	for _, f := range files {
		if err := os.WriteFile(f, []byte("{torn"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "x.tasks"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, ok := book.Get("ada", "t1"); ok {
		t.Error("a torn file has a task")
	}
	var none *taskbook.Book
	none.Put("ada", "t1", one, later)
	if _, ok := none.Get("ada", "t1"); ok {
		t.Error("no book has a task")
	}
}

// A server that makes tasks without end loses its oldest, and costs no other server a task.
func TestBookIsBounded(t *testing.T) {
	dir := t.TempDir()
	book := taskbook.New(dir, zerolog.Nop())
	later := time.Now().Add(time.Hour)
	one, evil := taskbook.Server{Toolbox: "dev", Name: "one"}, taskbook.Server{Toolbox: "dev", Name: "evil"}
	book.Put("ada", "mine", one, later)
	var all sync.WaitGroup
	for range 2 { // two processes
		all.Go(func() {
			other := taskbook.New(dir, zerolog.Nop())
			for i := range 4000 {
				other.Put("ada", fmt.Sprint(i), evil, later)
			}
		})
	}
	all.Wait()
	if got, ok := book.Get("ada", "mine"); !ok || got != one {
		t.Errorf("got %v, %v, want the task of the other server", got, ok)
	}
	if got, ok := book.Get("ada", "3999"); !ok || got != evil {
		t.Errorf("got %v, %v, want the newest task", got, ok)
	}
	if got, ok := book.Get("ada", "0"); ok {
		t.Errorf("got %v, want the oldest task forgotten", got)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Size() > 150<<10 {
			t.Errorf("%s: %v, %d bytes", f, err, info.Size())
		}
	}
}
