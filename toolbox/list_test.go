package toolbox_test

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

func TestFaultG12_ListedTwice(t *testing.T) {
	specs := []string{`tool={"name":"x","description":"first"}`, `tool={"name":"\u0078","description":"second"}`, `tool={"name":"y"}`}
	opts := toolbox.Options{Builtins: map[string]toolbox.Builtin{
		"inside": func(principal.Principal, config.Server) (wire.Endpoint, error) { return mcptest.New(specs...) },
	}}
	server := childServer("a", "")
	server.Transport, server.Builtin = config.TransportBuiltin, "inside"
	b := open(t, opts, server)
	srv := b.Servers()[0]
	items := srv.Items(toolbox.Tools)
	if len(items) != 2 || items[0].Key.Verbatim() != "x" || !strings.Contains(string(items[0].Raw), "first") || items[1].Key.Verbatim() != "y" {
		t.Errorf("got the tools %+v, want the first x, and y", items)
	}
	if notes := strings.Join(srv.Notes(), "\n"); !strings.Contains(notes, "entries of tools that have no name or a repeated one, and were left out: 1") {
		t.Errorf("got the notes %q, want that one entry was left out", notes)
	}
}
