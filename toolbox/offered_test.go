package toolbox_test

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/reshape"
	"github.com/mcp-workbench/workbench/toolbox"
)

// A server that runs goes on when its tools are offered in another way, and is asked in that way at once. Filters go by its own
// names.
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
