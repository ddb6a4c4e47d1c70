package clients_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/amend"
	"github.com/mcp-workbench/workbench/internal/clients"
)

// The entry of workbench in an empty file of each client is that of a golden file, is read again as what it is, and is
// taken out of a file that has others, byte for byte.
func TestOwnEntry(t *testing.T) {
	stdio := clients.Own{Command: "/usr/local/bin/workbench", Args: []string{"serve"}}
	remote := clients.Own{URL: "https://desk.example.com/mcp", Token: "t0ken"}
	var text strings.Builder
	for _, c := range clients.All() {
		fmt.Fprintf(&text, "== %s\n", c.Name)
		for _, own := range []clients.Own{stdio, remote} {
			entry := c.OwnEntry(own)
			if entry == nil {
				fmt.Fprintln(&text, "no address can be entered")
				continue
			}
			set, err := amend.Set(nil, c.OwnPlace(nil), entry)
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			fmt.Fprintf(&text, "%s\n", strings.TrimSpace(string(set)))
			entries, notes, err := clients.Read(clients.Source{Client: &c, Path: "file", Data: set, System: linux()})
			if err != nil || len(notes) > 0 || len(entries) != 1 || !entries[0].Workbench() || entries[0].Server.URL != own.URL || entries[0].Server.Command != own.Command {
				t.Errorf("%s: got %+v, %v, %v, want the entry of workbench", c.Name, entries, notes, err)
			}
		}
		entry := c.OwnEntry(stdio)
		other := strings.ReplaceAll(string(entry), "workbench", "other")
		at := c.OwnPlace(nil)
		at.Keys = append(append([]string{}, at.Keys[:len(at.Keys)-1]...), "other")
		before, err := amend.Set(nil, at, []byte(other))
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		set, err := amend.Set(before, c.OwnPlace(before), entry)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if after, err := amend.Remove(set, c.OwnPlace(set)); err != nil || string(after) != string(before) {
			t.Errorf("%s: got %v\n%s\nwant\n%s", c.Name, err, after, before)
		}
	}
	golden(t, "own.txt", text.String())
}

// opencode may have its servers one level deeper.
func TestOwnPlaceOfOpencode(t *testing.T) {
	c, _ := clients.Find("opencode")
	for text, want := range map[string]string{`{}`: "mcp/workbench", `{"mcp": {"a": {"command": []}}}`: "mcp/workbench",
		`{"mcp": {"servers": {}}}`: "mcp/servers/workbench", `{"mcp": {"servers": {"command": ["x"]}}}`: "mcp/workbench"} {
		if got := strings.Join(c.OwnPlace([]byte(text)).Keys, "/"); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
