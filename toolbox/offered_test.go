package toolbox_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/catalogue"
	"github.com/mcp-workbench/workbench/internal/lock"
	"github.com/mcp-workbench/workbench/internal/reshape"
	"github.com/mcp-workbench/workbench/toolbox"
)

// A server that runs goes on when its tools are offered in another way, and is asked in that way at once. Filters go by
// its own names.
func TestToolsOfferedOtherwise(t *testing.T) {
	cfg := inside("s", "tools=echo,secret")
	b := open(t, insideOptions(), cfg)
	s := server(t, b, "s")
	cfg.ToolFilters = []string{"!secret"}
	cfg.Tools = []config.Tool{{Name: "echo", Rename: "say", Defaults: []reshape.Argument{{Name: "to", Value: []byte(`"all"`)}}, Hide: []string{"to"}}}
	update(b, cfg)
	if got := server(t, b, "s"); got != s {
		t.Fatal("the server was made anew")
	}
	items := s.Items(toolbox.Tools)
	if len(items) != 1 || items[0].Key.Verbatim() != "say" || string(items[0].Token()) != `"echo"` {
		t.Fatalf("got the tools %+v, want say alone, which is the server's echo", items)
	}
	result, err := s.CallTool(t.Context(), "say", []byte(`{"to":"one","what":1}`))
	if want := `{\"what\":1,\"to\":\"all\"}`; err != nil || !strings.Contains(string(result), want) {
		t.Errorf("got %s, %v, want the call to have had %s", result, err, want)
	}
	cfg.ToolFilters, cfg.Tools = nil, nil
	update(b, cfg)
	if got := s.Items(toolbox.Tools); len(got) != 2 || got[0].Key.Verbatim() != "echo" {
		t.Errorf("got the tools %+v, want those of the server", got)
	}
	if changes := s.Changes(); changes != nil {
		t.Errorf("got the changes %q, want none: the server's own tools are the same", changes)
	}
}

// What is not offered is not called for workbench itself either, by commands and workflows.
func TestNotOfferedNotCalled(t *testing.T) {
	for want, tune := range map[string]func(*config.Server){
		"toolFilters leave it out":                 func(s *config.Server) { s.ToolFilters = []string{"!echo"} },
		`"readOnly": true in the configuration`:    func(s *config.Server) { s.ReadOnly = true },
		"it is held back: nothing can be compared": func(s *config.Server) { s.Pins = lock.Pins{Mode: lock.Hold} },
		"none is offered under that name":          func(s *config.Server) { s.Tools = []config.Tool{{Name: "echo", Rename: "say"}} },
	} {
		cfg := inside("s", "tools=echo")
		tune(&cfg)
		s := server(t, open(t, insideOptions(), cfg), "s")
		result, err := s.CallTool(t.Context(), "echo", []byte(`{}`))
		if refused := new(toolbox.RefusedError); !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %s, %v, want it refused: %s", result, err, want)
		}
	}
}

// The note about a server that offers nothing names the settings that leave its tools out.
func TestNoteNamesWhatLeavesOut(t *testing.T) {
	for want, tune := range map[string]func(*config.Server){
		"its toolFilters leave out all of its tools (2)":                func(s *config.Server) { s.ToolFilters = []string{"!*"} },
		`its "readOnly" leaves out all of its tools (2)`:                func(s *config.Server) { s.ReadOnly = true },
		`its toolFilters and "readOnly" leave out all of its tools (2)`: func(s *config.Server) { s.ToolFilters, s.ReadOnly = []string{"!echo"}, true },
	} {
		cfg := inside("s", "tools=echo,fail")
		tune(&cfg)
		if got := server(t, open(t, insideOptions(), cfg), "s").Notes(); len(got) != 1 || got[0] != want {
			t.Errorf("got the notes %q, want %q", got, want)
		}
	}
}

// A tool that said that it writes when it was agreed to is asked about although it says now that it only reads.
func TestDisputedHintIsNotBelieved(t *testing.T) {
	const agreed, now = `tool={"name":"drop"}`, `tool={"name":"drop","annotations":{"readOnlyHint":true}}`
	path := filepath.Join(t.TempDir(), lock.Name)
	pins := lock.Pins{Mode: lock.Warn, ID: lock.ID{Toolbox: "box", Server: "s"}, Path: path}
	asks := func(spec string) bool {
		cfg := inside("s", spec)
		cfg.Approve, cfg.Pins = config.Approve{{Tools: "*", When: config.ApproveWrites}}, pins
		s := server(t, open(t, insideOptions(), cfg), "s")
		if items, err := s.Lockable(t.Context()); err != nil {
			t.Fatal(err)
		} else if pins.Source == nil {
			file := lock.New()
			file.Replace(pins.ID, items)
			if err := file.Write(path); err != nil {
				t.Fatal(err)
			}
		}
		return s.Asks([]byte(`"drop"`))
	}
	if !asks(agreed) {
		t.Error("a tool that writes is not asked about")
	}
	pins.Source = lock.Open(path)
	if !asks(now) {
		t.Error("a tool whose hint nobody has agreed to is not asked about")
	}
	pins.Source = nil
	asks(now) // locks it as it is now
	pins.Source = lock.Open(path)
	if asks(now) {
		t.Error("a tool that only reads, as was agreed to, is asked about")
	}
}

// A rule that names a tool by the name that the configuration gives it, which is the one that people see, holds for it.
func TestAsksByTheGivenName(t *testing.T) {
	for _, name := range []string{"echo", "say", "s*"} {
		cfg := inside("s", "tools=echo,fail")
		cfg.Tools, cfg.Approve = []config.Tool{{Name: "echo", Rename: "say"}}, config.Approve{{Tools: name, When: config.ApproveAlways}}
		s := server(t, open(t, insideOptions(), cfg), "s")
		if !s.Asks([]byte(`"echo"`)) || s.Asks([]byte(`"fail"`)) {
			t.Errorf("%q: got %t for the tool and %t for another, want true and false", name, s.Asks([]byte(`"echo"`)), s.Asks([]byte(`"fail"`)))
		}
	}
}

// excluded gives why the server's tool is not offered.
func excluded(s *toolbox.Server, tool string) (why string) {
	for x := range toolbox.Excluded([]*toolbox.Server{s}, "another", tool) {
		why = x.Why
	}
	return why
}

// A tool that is not offered says why, also one of a server that is disabled now.
func TestExcluded(t *testing.T) {
	opts := insideOptions()
	opts.Catalogue = catalogue.New(filepath.Join(t.TempDir(), "catalogue"), zerolog.Nop())
	cfg := inside("s", "tools=echo,secret")
	b := open(t, opts, cfg)
	if got := excluded(server(t, b, "s"), "secret"); got != "" {
		t.Errorf("got %q of a tool that is offered", got)
	}
	cfg.ToolFilters = []string{"!secret"}
	update(b, cfg)
	if got := excluded(server(t, b, "s"), "secret"); !strings.Contains(got, "toolFilters") {
		t.Errorf("got %q, want that the filters leave it out", got)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	seen := toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{cfg}}, opts)
	toolbox.Recall(seen)
	whole := len(seen.Servers()[0].Items(toolbox.Tools))
	seen.Forget()
	if left := len(seen.Servers()[0].Items(toolbox.Tools)); whole != 1 || left != 0 {
		t.Errorf("got %d tools that were seen, and %d when they were forgotten, want 1 and 0", whole, left)
	}
	if got := excluded(seen.Servers()[0], "secret"); !strings.Contains(got, "toolFilters") {
		t.Errorf("got %q of a tool that was forgotten, want that the filters leave it out", got)
	}
	cfg.Disabled = true
	s := toolbox.New(config.Toolbox{Name: "box", Servers: []config.Server{cfg}}, opts).Servers()[0]
	if got := excluded(s, "echo"); !strings.Contains(got, "disabled") {
		t.Errorf("got %q, want that the server is disabled", got)
	}
	if got := excluded(s, "none"); got != "" {
		t.Errorf("got %q of a tool that never was", got)
	}
}
