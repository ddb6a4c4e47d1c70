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
	more := stdio
	more.Env = clients.Pairs{{Key: "XDG_STATE_HOME", Value: "/state"}}
	more.Needs = []clients.Need{{Name: "GITHUB_TOKEN", Set: true}, {Name: "UNSET"}}
	remote := clients.Own{URL: "https://desk.example.com/mcp", Token: "t0ken"}
	var text strings.Builder
	for _, c := range clients.All() {
		fmt.Fprintf(&text, "== %s\n", c.Name)
		for _, own := range []clients.Own{stdio, more, remote} {
			entry := c.OwnEntry(own)
			if entry == nil {
				fmt.Fprintln(&text, "no address can be entered")
				continue
			}
			set, err := amend.Set(nil, place(c, nil), entry)
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			if len(own.Env) == 0 || c.Keeps != "" || c.Form.Env != "" {
				fmt.Fprintf(&text, "%s\n", strings.TrimSpace(string(set)))
			}
			entries, notes, err := clients.Read(clients.Source{Client: &c, Path: "file", Data: set, System: linux()})
			if err != nil || len(notes) > 0 || len(entries) != 1 || !entries[0].Workbench() || entries[0].Server.URL != own.URL || entries[0].Server.Command != own.Command {
				t.Errorf("%s: got %+v, %v, %v, want the entry of workbench", c.Name, entries, notes, err)
				continue
			}
			// What the client gives to workbench is read as it was written, in the ways of that client.
			if s := entries[0].Server; len(own.Env) > 0 && (len(s.Env) == 0 || s.Env[0] != own.Env[0]) || c.Name == "codex" && len(own.Needs) != len(s.InheritEnv) {
				t.Errorf("%s: got env %v and inheritEnv %v, want %v and the names of %v", c.Name, s.Env, s.InheritEnv, own.Env, own.Needs)
			}
		}
		entry := c.OwnEntry(stdio)
		other := strings.ReplaceAll(string(entry), "workbench", "other")
		at := place(c, nil)
		at.Keys = append(append([]string{}, at.Keys[:len(at.Keys)-1]...), "other")
		before, err := amend.Set(nil, at, []byte(other))
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		set, err := amend.Set(before, place(c, before), entry)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if after, err := amend.Remove(set, place(c, set)); err != nil || string(after) != string(before) {
			t.Errorf("%s: got %v\n%s\nwant\n%s", c.Name, err, after, before)
		}
	}
	golden(t, "own.txt", text.String())
}

func place(c clients.Client, data []byte) amend.Place {
	at, _ := c.OwnPlace("file", data)
	return at
}

// An entry is workbench's own by what it starts, whatever it is called.
func TestOwnPlace(t *testing.T) {
	c, _ := clients.Find("cursor")
	for text, want := range map[string]string{
		`{"wb": {"command": "/bin/workbench", "args": ["--config", "x", "serve"]}}`:                                 "wb true",
		`{"wb": {"command": "workbench"}, "workbench": {"command": "C:\\workbench.exe", "args": ["serve"]}}`:        "workbench true",
		`{"workbench": {"command": "npx", "args": ["other-workbench"]}, "wb": {"command": "workbench"}}`:            "wb true",
		`{"workbench": {"command": "npx", "args": ["other-workbench"]}}`:                                            "workbench false",
		`{"workbench": {"url": "http://127.0.0.1:7777/mcp"}}`:                                                       "workbench true",
		`{"w": {"command": "workbench", "args": ["workflow", "serve"]}}`:                                            "workbench false",
		`{"w": {"command": "workbench", "args": ["commands", "serve"]}}`:                                            "workbench false",
		`{"w": {"command": "workbench", "args": ["replay", "git.txtar"]}}`:                                          "workbench false",
		`{"w": {"command": "workbench", "args": ["record", "--out", "x", "dev/git"]}}`:                              "workbench false",
		`{"w": {"command": "workbench", "args": ["record", "--out", "x", "--"]}}`:                                   "workbench false",
		`{"w": {"command": "workbench", "args": ["record", "--out", "x", "--", "uvx", "mcp-server-git", "serve"]}}`: "workbench false",
		`{"w": {"command": "workbench", "args": ["record", "--out", "x", "--", "workbench", "serve"]}}`:             "w true",
		`{"workbench": 1}`: "workbench false",
	} {
		at, own := c.OwnPlace("mcp.json", []byte(`{"mcpServers": `+text+`}`))
		if got := fmt.Sprint(at.Keys[1], " ", own); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// opencode may have its servers one level deeper.
func TestOwnPlaceOfOpencode(t *testing.T) {
	c, _ := clients.Find("opencode")
	for text, want := range map[string]string{`{}`: "mcp/workbench", `{"mcp": {"a": {"command": []}}}`: "mcp/workbench",
		`{"mcp": {"servers": {}}}`: "mcp/servers/workbench", `{"mcp": {"servers": {"command": ["x"]}}}`: "mcp/workbench"} {
		if got := strings.Join(place(c, []byte(text)).Keys, "/"); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
