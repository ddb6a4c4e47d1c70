package proxy_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mcp-workbench/workbench/internal/wire"
)

var update = flag.Bool("update", false, "rewrite the transcripts and golden files from what comes")

// TestTranscripts plays the conversations in testdata/*.txtar. Each has prose that says what it guards, and files:
//
//	config.json  the configuration, its servers as readConfig has them
//	options      optional lines: direct TOOLBOX, drop METHOD
//	client       what the client sends
//	want         what must come back, byte for byte, after canonical
//
// A line of the client is sent as it is, with $META standing for the metadata of revision 2026-07-28; then, if it is a
// request, its reply is waited for, unless "& " is before it. Lines that begin with # are for the test:
//
//	# hello VERSION CAPABILITIES  makes the handshake
//	# open TOOLBOX                opens it as a client does that lists again
//	# wait id TOKEN               waits for a reply
//	# wait method METHOD          waits for a notification or request
//	# hear METHOD                 waits for one whose place is not certain, and leaves it out
//	# sleep DURATION              lets time pass
//	# long N                      sends a ping of N bytes with the id "long"
//
// What comes back on hello and open is left out; so is what drop names, for changes of several lists at once, which
// come in any order.
//
// Unless a server is a child process, all happens in a bubble of its own time: after each line the front works on until
// it has nothing more to do.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(bytes.TrimSpace(archive.Comment)) == 0 {
				t.Error("the transcript does not say what it guards")
			}
			var got string
			if strings.Contains(member(archive, "config.json"), `"child"`) {
				got = play(t, archive, func() {})
			} else {
				synctest.Test(t, func(t *testing.T) { got = play(t, archive, synctest.Wait) })
			}
			want := member(archive, "want")
			if t.Failed() || got == want {
				return
			}
			if !*update {
				t.Errorf("%s", diff.Diff("want", []byte(want), "got", []byte(got)))
				return
			}
			setMember(archive, "want", got)
			if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
				t.Error(err)
			}
		})
	}
}

func member(a *txtar.Archive, name string) string {
	i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		return ""
	}
	return string(a.Files[i].Data)
}

func setMember(a *txtar.Archive, name, text string) {
	a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == name })
	a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(text)})
}

// play has the conversation and returns what came back. settle waits until the front has done all that it can do.
func play(t *testing.T, a *txtar.Archive, settle func()) string {
	t.Helper()
	direct := ""
	var drop []string
	for option := range strings.Lines(member(a, "options")) {
		key, value, _ := strings.Cut(strings.TrimSpace(option), " ")
		switch key {
		case "direct":
			direct = value
		case "drop":
			drop = append(drop, value)
		default:
			t.Fatalf("unknown option %q", option)
		}
	}
	l := connect(t, newFront(t, readConfig(t, member(a, "config.json")), direct))
	for text := range strings.Lines(member(a, "client")) {
		if text = strings.TrimSuffix(text, "\n"); text != "" {
			l.act(text)
			settle()
		}
	}
	var out strings.Builder
	for _, text := range l.close() {
		var m wire.Message
		if err := wire.Scan([]byte(text), &m); err != nil {
			t.Errorf("the front sent what is not a message: %v: %s", err, text)
		} else if !slices.ContainsFunc(drop, m.IsMethod) {
			out.WriteString(canonical(t, text) + "\n")
		}
	}
	return out.String()
}

// act carries out one line of a client.
func (l *line) act(text string) {
	l.t.Helper()
	if text[0] == '#' {
		verb, object, _ := strings.Cut(strings.TrimSpace(text[1:]), " ")
		l.direct(verb, object)
		return
	}
	text, silent := strings.CutPrefix(strings.ReplaceAll(text, "$META", modernMembers), "& ")
	l.send(text)
	var m wire.Message
	if wire.Scan([]byte(text), &m) == nil && m.Kind == wire.Request && !silent {
		l.reply(string(m.Bytes(m.ID)))
	}
}

// modernMembers is what requests of revision 2026-07-28 carry in params.
const modernMembers = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}`

// direct carries out a directive.
func (l *line) direct(verb, object string) {
	l.t.Helper()
	first, rest, _ := strings.Cut(object, " ")
	switch verb {
	case "hello":
		l.initialize(first, rest)
	case "open":
		l.send(`{"jsonrpc":"2.0","id":"open","method":"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"` + object + `"}}}`)
		l.forget(l.method("notifications/tools/list_changed"))
		l.send(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`)
		l.forget(l.reply(`"list"`))
		l.forget(l.reply(`"open"`))
	case "wait":
		if first == "id" {
			l.reply(rest)
		} else {
			l.method(rest)
		}
	case "hear":
		l.forget(l.method(object))
	case "sleep":
		d, err := time.ParseDuration(object)
		if err != nil {
			l.t.Fatal(err)
		}
		time.Sleep(d)
	case "long":
		n, err := strconv.Atoi(object)
		if err != nil {
			l.t.Fatal(err)
		}
		const head, tail = `{"jsonrpc":"2.0","id":"long","method":"ping","params":{"x":"`, `"}}`
		l.send(head + strings.Repeat("x", n-len(head)-len(tail)) + tail)
		l.reply(`"long"`)
	default:
		l.t.Fatalf("unknown directive %q", verb)
	}
}

// canonical makes one text of what is another in each run, or too long to read: times, the path of the test binary, the
// definitions of the meta tools (they have a golden file) and a text that is the structured content beside it, to the
// letter.
func canonical(t *testing.T, text string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Result struct {
			Tools      []json.RawMessage
			Structured json.RawMessage `json:"structuredContent"`
		}
	}
	if json.Unmarshal([]byte(text), &m) == nil {
		for _, def := range m.Result.Tools {
			var tool struct{ Name string }
			if json.Unmarshal(def, &tool) == nil && strings.HasPrefix(tool.Name, "workbench_") {
				text = strings.Replace(text, string(def), `{"name":"`+tool.Name+`",…}`, 1)
			}
		}
		if s := m.Result.Structured; s != nil {
			text = strings.Replace(text, `"text":`+string(wire.AppendQuote(nil, string(s))), `"text":"=structuredContent"`, 1)
		}
	}
	text = strings.ReplaceAll(text, self, "SELF")
	return times.ReplaceAllString(text, "$1 TIME")
}

var times = regexp.MustCompile(`\b(again in|since) [0-9.]+[mµ]?s`)
