package definition_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// workflow gives the text of a sound workflow.
func workflow(id, name string) string {
	return fmt.Sprintf(`{"id":%q,"name":%q,"description":"d","version":"1.0.0","steps":[{"id":"one","title":"t","prompt":"p"}]}`, id, name)
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func faultsOf(err error) []definition.Fault {
	var bad *definition.Error
	if errors.As(err, &bad) {
		return bad.Faults
	}
	return nil
}

// summary gives a catalogue as lines, with file names without directories.
func summary(c *definition.Catalogue) string {
	var b strings.Builder
	for _, e := range c.Entries {
		fmt.Fprintf(&b, "%s %q %s %s", e.ID, e.Name, e.Origin, filepath.Base(e.File))
		for _, p := range e.Shadows {
			fmt.Fprintf(&b, " over %s %s", p.Origin, filepath.Base(p.File))
		}
		b.WriteByte('\n')
	}
	for _, f := range c.Invalid {
		fmt.Fprintf(&b, "invalid %s %s %q %s: %s\n", f.Origin, filepath.Base(f.File), f.ID, f.Cause, f.Faults[0].Message)
	}
	for _, s := range c.Sources {
		if s.Err != "" {
			fmt.Fprintf(&b, "unreadable %s: %s\n", s.Origin, s.Err)
		}
	}
	return b.String()
}

func TestCatalogue(t *testing.T) {
	top := t.TempDir()
	a, b := filepath.Join(top, "a"), filepath.Join(top, "b")
	embedded := fstest.MapFS{
		"one.json":   {Data: []byte(workflow("one", "embedded one"))},
		"two.json":   {Data: []byte(workflow("two", "embedded two"))},
		"three.json": {Data: []byte(workflow("three", "embedded three"))},
	}
	write(t, a, "one.json", workflow("one", "a's one"))
	write(t, a, "two.json", `{"id":"two","name":"broken","steps":[]}`)
	write(t, a, "x.yaml", "id: four\nname: YAML\ndescription: d\nversion: 1.0.0\nsteps: [{id: one, title: t, prompt: p}]\n")
	write(t, a, "y.yml", workflow("four", "the same id again"))
	write(t, a, "z.json", strings.Replace(workflow("five", "n"), `"name"`, `"name":"twice","name"`, 1))
	write(t, a, "notes.txt", "no workflow")
	write(t, a, ".hidden.json", "no workflow")
	write(t, filepath.Join(a, "deeper"), "five.json", workflow("five", "too deep"))
	write(t, b, "one.json", workflow("one", "b's one"))

	layers := definition.Layers{Embedded: embedded, Path: a, Dirs: []string{b, filepath.Join(top, "absent")}}
	store := definition.NewStore(layers.Sources())
	got := summary(store.Catalogue())
	want := `four "YAML" path x.yaml
one "b's one" config one.json over path one.json over embedded one.json
three "embedded three" embedded three.json
two "embedded two" embedded two.json
invalid path two.json "two" malformed: "description" is missing
invalid path y.yml "four" malformed: the id four is taken by ` + filepath.Join(a, "x.yaml") + `
invalid path z.json "five" malformed: key "name" occurs twice in the same object
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	c := store.Catalogue()
	if e := c.Entry("one"); e == nil || e.Name != "b's one" {
		t.Errorf("Entry(one): got %v, want b's", e)
	}
	if e := c.Entry("five"); e != nil {
		t.Errorf("Entry(five): got %v, want none", e)
	}
	for i, want := range []definition.SourceState{
		{Present: true, Workflows: 3},
		{Present: true, Workflows: 2, Invalid: 3},
		{Present: true, Workflows: 1},
		{},
	} {
		s := c.Sources[i]
		if s.Present != want.Present || s.Workflows != want.Workflows || s.Invalid != want.Invalid {
			t.Errorf("source %d: got %+v, want %+v", i, s, want)
		}
	}
}

func TestUnreadableDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, filepath.Dir(file), "file", "")
	got := summary(definition.NewStore(definition.Layers{Dirs: []string{file}}.Sources()).Catalogue())
	if !strings.HasPrefix(got, "unreadable config: ") {
		t.Errorf("got %q, want an unreadable directory", got)
	}
}

// TestChanges changes files under a store that nobody watches: what is read is never older than a second.
func TestChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		top := t.TempDir()
		dir := filepath.Join(top, "later")
		store := definition.NewStore(definition.Layers{Dirs: []string{dir}}.Sources())
		for _, c := range []struct {
			name   string
			change func()
			want   string
		}{
			{"absent", func() {}, ""},
			{"appears", func() { write(t, dir, "a.json", workflow("aaa", "1")) }, `aaa "1" config a.json` + "\n"},
			{"same size", func() { write(t, dir, "a.json", workflow("aaa", "2")) }, `aaa "2" config a.json` + "\n"},
			{
				"half written", func() { write(t, dir, "a.json", workflow("aaa", "2")[:40]) },
				`invalid config a.json "a" malformed: not valid JSON: the file ends within it; is a bracket, a quote or a comment left open?` + "\n",
			},
			{"another file", func() { write(t, dir, "b.json", workflow("aaa", "3")) }, `aaa "3" config b.json` + "\n" +
				`invalid config a.json "a" malformed: not valid JSON: the file ends within it; is a bracket, a quote or a comment left open?` + "\n"},
			{"removed", func() { os.Remove(filepath.Join(dir, "a.json")) }, `aaa "3" config b.json` + "\n"},
			{"vanishes", func() { os.RemoveAll(dir) }, ""},
			{"appears again", func() { write(t, dir, "b.json", workflow("aaa", "4")) }, `aaa "4" config b.json` + "\n"},
		} {
			before := store.Catalogue()
			c.change()
			time.Sleep(time.Second)
			after := store.Catalogue()
			if got := summary(after); got != c.want {
				t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
			}
			time.Sleep(time.Second)
			if store.Catalogue() != after {
				t.Errorf("%s: got another catalogue without a change", c.name)
			}
			if before == after && c.name != "absent" {
				t.Errorf("%s: got the catalogue of before", c.name)
			}
		}
	})
}

// TestWatch makes sure that a watched change is seen without the wait.
// A file is read again if anything of it is other than it was: its length, its time or the file itself; and if its time
// stamp is too new to be trusted.
func TestEachChangeIsSeen(t *testing.T) {
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	fresh := old.Add(2 * time.Hour)
	for _, tt := range []struct {
		name, text string // of the workflow after the change
		at         time.Time
		stamp      time.Time // of the file before
		replaced   bool
	}{
		{name: "its length", text: workflow("www", "a longer name"), at: old, stamp: old},
		{name: "its time", text: workflow("www", "two"), at: old.Add(time.Second), stamp: old},
		{name: "the file", text: workflow("www", "two"), at: old, stamp: old, replaced: true},
		{name: "a new stamp", text: workflow("www", "two"), at: fresh, stamp: fresh},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "w.json")
		put := func(path, text string, at time.Time) {
			write(t, dir, filepath.Base(path), text)
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
		put(path, workflow("www", "one"), tt.stamp)
		store := definition.NewStore([]definition.Source{{Origin: definition.Project, Dir: dir}})
		before := store.Catalogue()
		definition.MarkDirty(store)
		if again := store.Catalogue(); again != before {
			t.Errorf("%s: another catalogue though nothing has changed", tt.name)
		}
		if tt.replaced {
			beside := filepath.Join(dir, "beside.txt")
			put(beside, tt.text, tt.at)
			if err := os.Rename(beside, path); err != nil {
				t.Fatal(err)
			}
		} else {
			put(path, tt.text, tt.at)
		}
		definition.MarkDirty(store)
		if e := store.Catalogue().Entry("www"); e == nil || e.Name == "one" {
			t.Errorf("%s: the change was not seen", tt.name)
		}
	}
}

// Of a folder a thousand files are read, and it says so.
func TestManyFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range 1001 {
		write(t, dir, fmt.Sprintf("%04d.json", i), "{}")
	}
	c := definition.NewStore([]definition.Source{{Origin: definition.Project, Dir: dir}}).Catalogue()
	if got := c.Sources[0].Err; len(c.Invalid) != 1000 || got != "only the first 1000 files are read" {
		t.Errorf("got %d files and %q", len(c.Invalid), got)
	}
}

func TestWatch(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.json", workflow("aaa", "1"))
	store := definition.NewStore(definition.Layers{Dirs: []string{dir}}.Sources())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- store.Watch(ctx, func() {}) }()
	deadline := time.Now().Add(2 * time.Minute)
	for i := 0; ; i++ {
		name := fmt.Sprint(i)
		write(t, dir, "a.json", workflow("aaa", name))
		// Before the watch has begun nothing marks the change, so try again.
		if definition.Dirty(store) && store.Catalogue().Entry("aaa").Name == name {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("got no report of any change")
		}
		runtime.Gosched()
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Watch: got %v, want nil", err)
	}
}

func TestConcurrentReaders(t *testing.T) {
	dir := t.TempDir()
	store := definition.NewStore(definition.Layers{Dirs: []string{dir}}.Sources())
	done := make(chan struct{})
	for range 8 {
		go func() {
			for range 200 {
				definition.MarkDirty(store)
				c := store.Catalogue()
				if ids := c.IDs(); !slices.IsSorted(ids) {
					t.Errorf("got ids %v, want them sorted", ids)
				}
			}
			done <- struct{}{}
		}()
	}
	for i := range 50 {
		write(t, dir, fmt.Sprintf("w%d.json", i), workflow(fmt.Sprintf("id-%d", i), "n"))
	}
	for range 8 {
		<-done
	}
}
