package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/catalogue"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/toolbox"
)

// find asks the finder, and gives its whole reply.
func (l *line) find(id int, arguments string) string {
	l.t.Helper()
	l.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"workbench_find_tools","arguments":%s}}`, id, arguments))
	reply := l.reply(fmt.Sprint(id))
	l.forget(reply)
	return reply
}

// Who may not use a toolbox finds nothing of it, whatever they ask for and although others have it open and have
// searched it: no name of its tools and servers, no word of its description, not that it is there.
func TestFindsNothingOfOthersToolboxes(t *testing.T) {
	const cfg = `{"pin": ["vault/ledger/zq_transfer"], "toolboxes": {
		"desk": {"description": "Notes for everybody", "mcpServers": {"notes": {"command": "inside", "args": ["tools=read_note,write_note,send_mail", "skills=knitting"]}}},
		"vault": {"description": "Xylograph payments", "mcpServers": {
			"ledger": {"command": "inside", "args": ["tools=zq_transfer,zq_balance", "skills=zq_ritual"], "toolFilters": ["!zq_balance"]},
			"quuxbank": {"command": "inside", "args": ["tools=zq_audit,read_note"], "shared": true}}}}}`
	root := newFrontWith(t, readConfig(t, cfg), proxy.Options{Toolbox: toolbox.Options{
		Catalogue: catalogue.New(filepath.Join(t.TempDir(), "catalogue"), zerolog.Nop()),
	}})
	all := connect(t, root)
	all.initialize("2025-11-25", "{}")
	all.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"vault","tool_name":"ledger/zq_transfer"}}}`)
	all.reply("1")
	if got := all.find(2, `{"query":"zq transfer"}`); !strings.Contains(got, "zq_transfer") {
		t.Fatalf("who may use the toolbox: got %s, want zq_transfer", got)
	}
	if got := all.find(3, `{"query":"zq ritual"}`); !strings.Contains(got, "zq_ritual (skill)") {
		t.Fatalf("who may use the toolbox: got %s, want the skill zq_ritual", got)
	}

	some := connect(t, root.For(&principal.Principal{Toolboxes: []string{"desk"}}, ""))
	some.initialize("2025-11-25", "{}")
	secrets := []string{"vault", "xylograph", "ledger", "zq_transfer", "zq_balance", "quuxbank", "zq_audit", "zq_ritual"}
	words := append([]string{"read", "note", "payment", "transfer", "balance", "audit", "mail", "zq", "ritual", "skill", "skill://zq_ritual/SKILL.md", "knitting", "xylo", "tool", "*", "/", "vault/ledger", "ledger/zq_transfer"}, secrets...)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 10_000 {
		var asked []string
		for range 1 + r.IntN(4) {
			w := []byte(words[r.IntN(len(words))])
			if r.IntN(4) == 0 {
				w[r.IntN(len(w))] = byte('a' + r.IntN(26))
			}
			asked = append(asked, string(w))
		}
		query := strings.Join(asked, " ")
		arguments := fmt.Sprintf(`{"query":%q,"detail":%q`, query, []string{"names", "signatures", "schemas"}[r.IntN(3)])
		if r.IntN(10) == 0 {
			arguments += `,"toolbox":"desk"`
		}
		got := strings.ToLower(some.find(10+i, arguments+"}"))
		// What was asked for may be said again, between quotation marks.
		got = strings.ReplaceAll(got, strings.ToLower(fmt.Sprintf(`\"%s\"`, query)), "")
		for _, s := range secrets {
			if strings.Contains(got, s) {
				t.Fatalf("query %d, %q: got %s, want nothing of %s", i, query, got, s)
			}
		}
	}
	if got := some.find(5, `{"query":"x","toolbox":"vault"}`); !strings.Contains(got, `toolbox \"vault\" not found`) {
		t.Errorf("got %s, want that there is no such toolbox", got)
	}
	if got := some.listed("6", ""); got != nil {
		t.Errorf("got the tools %q listed, want no pinned one of another's toolbox", got)
	}
	some.close()
	all.close()
	if err := root.Close(); err != nil {
		t.Error(err)
	}
}

// voter votes for the last text, or for none.
type voter struct{ err error }

func (v voter) Votes(_ context.Context, texts []string, _ string) ([]float32, error) {
	if v.err != nil {
		return nil, v.err
	}
	votes := make([]float32, len(texts))
	votes[len(texts)-1] = 1
	return votes, nil
}

// Others have a vote in what is found; where they do not come to one, the words find as ever and the answer says so.
func TestFindVotes(t *testing.T) {
	const cfg = `{"toolboxes": {"dev": {"open": true, "mcpServers": {"a": {"command": "inside", "args": ["tools=read_file,echo,frob"]}}}}}`
	for _, tt := range []struct {
		meanings     proxy.Meanings
		query        string
		want, absent string
	}{
		{voter{}, "zzzz", "dev/a (ready)\\n  frob()", "words alone"},
		{voter{}, "echo", "  echo()", "words alone"}, // a vote is less than a name
		{voter{errors.New("it\x1b[31m is gone")}, "echo", "Found by words alone, without the embeddings of models: it is gone", "\x1b"},
		{voter{errors.New("it is gone")}, "zzzz", "No known tool fits", "frob"},
		{nil, "echo", "  echo()", "words alone"},
	} {
		l := connect(t, newFrontWith(t, readConfig(t, cfg), proxy.Options{Meanings: tt.meanings}))
		l.initialize("2025-11-25", "{}")
		l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		l.reply("1")
		if got := l.find(2, fmt.Sprintf(`{"query":%q}`, tt.query)); !strings.Contains(got, tt.want) || strings.Contains(got, tt.absent) {
			t.Errorf("%v, %q: got %s, want %q and not %q", tt.meanings, tt.query, got, tt.want, tt.absent)
		}
		l.close()
	}
}

// FuzzFind: whatever the arguments of a search are, it is answered with a message that can be read, of a bounded
// length.
func FuzzFind(f *testing.F) {
	for _, seed := range []string{
		`{"query":"read files"}`, `{"query":"\u0000\ud800","limit":1}`, `{"query":"x","limit":1e0}`, `{"query":"x","limit":99999999999999999999}`,
		`{"query":["x"],"toolbox":{}}`, `{"query":"x","detail":"schemas","toolbox":"dev"}`, `{"query":"算八字 ok","limit":-1}`, `[]`, `"x"`, `null`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		var m wire.Message
		request := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workbench_find_tools","arguments":` + arguments + `}}`
		if strings.ContainsAny(arguments, "\n\r") || wire.Scan([]byte(request), &m) != nil {
			return
		}
		l := connect(t, newFront(t, readConfig(t, `{"toolboxes": {"dev": {"mcpServers": {"a": {"command": "inside", "args": ["tools=read_file"]}}}}}`), ""))
		l.send(request)
		reply := l.reply("1")
		l.close()
		if !json.Valid([]byte(reply)) || len(reply) > 16<<10 {
			t.Errorf("%s: got a reply of %d bytes: %.300s", arguments, len(reply), reply)
		}
	})
}

// Who finds nothing hears of which servers nothing is known: their tools are not found by other words either.
func TestFindNothingKnown(t *testing.T) {
	l := connect(t, newFront(t, readConfig(t, `{"toolboxes":{"new":{"mcpServers":{"a":{"command":"inside"},"off":{"command":"inside","disabled":true}}},
		"dev":{"open":true,"mcpServers":{"b":{"command":"inside","args":["tools=echo"]}}}}}`), ""))
	l.initialize("2025-11-25", "{}")
	l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	l.reply("1")
	const want = "The tools of these servers are not known until their toolbox has been opened once: new/a. "
	if got := l.find(2, `{"query":"zzz"}`); !strings.Contains(got, want) || !strings.Contains(got, `"unseen":["new/a"]`) {
		t.Errorf("got %s, want in it %q", got, want)
	}
	for i, arguments := range []string{`{"query":"zzz","toolbox":"dev"}`, `{"query":"echo"}`} {
		if got := l.find(3+i, arguments); strings.Contains(got, "not known until") {
			t.Errorf("%s: got %s", arguments, got)
		}
	}
}

// What a search is told and cannot take is named, and not read as something else.
func TestFindMistakes(t *testing.T) {
	l := connect(t, newFront(t, readConfig(t, `{"toolboxes":{"box":{"mcpServers":{"a":{"command":"inside"}}}}}`), ""))
	l.initialize("2025-11-25", "{}")
	for i, c := range [][2]string{
		{`"toolbox":["box"]`, "toolbox is the name of one toolbox"},
		{`"toolbox":7`, "toolbox is the name of one toolbox"},
		{`"limit":3.5`, "a whole number from 1"},
		{`"limit":1e-3`, "a whole number from 1"},
		{`"limit":[3]`, "a whole number from 1"},
		{`"limit":0`, "a whole number from 1"},
		{`"limit":"nan"`, "a whole number from 1"},
		{`"limit":"3"`, "No known tool fits"},
		{`"limit":99999999999999999999`, "No known tool fits"},
		{`"toolbox":" box\n"`, "No known tool fits"},
		{`"toolbox_name":"nobody"`, `toolbox \"nobody\" not found`},
		{`"limit":3.0`, "No known tool fits"},
		{`"limit":1e2`, "No known tool fits"},
	} {
		id := fmt.Sprint(i + 1)
		l.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"workbench_find_tools","arguments":{"query":"zzz",` + c[0] + `}}}`)
		if got := l.reply(id); !strings.Contains(got, c[1]) {
			t.Errorf("%s: got %s, want in it %q", c[0], got, c[1])
		}
	}
}
