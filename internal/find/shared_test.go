package find_test

import (
	"iter"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/mcp-workbench/workbench/internal/find"
)

// Who sees the same shares an index, whoever sees other things has one of its own, and nothing is kept for nobody.
func TestShared(t *testing.T) {
	seen := func(change func(*find.Server)) iter.Seq[find.Server] {
		s := find.Server{Toolbox: "dev", Name: "files", Description: "Files", Entries: []find.Entry{
			{Name: "read", Description: "Reads a file", Schema: []byte(`{"type":"object"}`)}, {Name: "write", Said: []string{"save", "keep"}}}}
		if change != nil {
			change(&s)
		}
		return slices.Values([]find.Server{s})
	}
	var shared find.Shared
	got := make([]*find.Index, 8)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() { got[i] = shared.Of(seen(nil)) })
	}
	wg.Wait()
	for _, x := range got {
		if x != got[0] {
			t.Error("equal lists have several indexes")
		}
	}
	for name, change := range map[string]func(*find.Server){
		"toolbox":           func(s *find.Server) { s.Toolbox = "ops" },
		"name":              func(s *find.Server) { s.Name, s.Toolbox = "s", "devfile" }, // the same bytes, cut elsewhere
		"description":       func(s *find.Server) { s.Description = "" },
		"fewer entries":     func(s *find.Server) { s.Entries = s.Entries[:1] },
		"an entry's kind":   func(s *find.Server) { s.Entries[0].Kind = "prompt" },
		"an entry's schema": func(s *find.Server) { s.Entries[0].Schema = nil },
		"what it gives":     func(s *find.Server) { s.Entries[0].Output = []byte(`{"type":"object"}`) },
		"an entry's uri":    func(s *find.Server) { s.Entries[0].URI = "skill://read/SKILL.md" },
		"an entry's words":  func(s *find.Server) { s.Entries[1].Said = []string{"savekeep"} },
		"words elsewhere":   func(s *find.Server) { s.Entries[0].Said, s.Entries[1].Said = s.Entries[1].Said, nil },
	} {
		if shared.Of(seen(change)) == got[0] {
			t.Errorf("%s: another list has the same index", name)
		}
	}
	runtime.KeepAlive(got)
	first := got[0].Answer("read a file", find.Options{Detail: find.Names})
	clear(got)
	runtime.GC()
	if again := shared.Of(seen(nil)).Answer("read a file", find.Options{Detail: find.Names}); again.Text != first.Text {
		t.Errorf("got %q from an index made anew, want %q", again.Text, first.Text)
	}
}
