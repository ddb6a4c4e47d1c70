package top

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/status"
)

// evil steers a terminal that obeys it: title, clear, colour, another direction, a wide and a hidden character, C1.
const evil = "\x1b]0;pwned\x07\x1b[2J\x1b[31mred\u202e\u200b中\u009b2J\r"

// shown is a model with what it had done.
type shown struct {
	*model
	commands []string
}

func newShown() *shown {
	s := new(shown)
	s.model = newModel(terminal.Paint{}, func(args ...string) *output {
		s.commands = append(s.commands, strings.Join(args, " "))
		return &output{title: "command", from: strings.NewReader(evil), end: func() { s.commands = append(s.commands, "ended") }}
	}, func(string) tea.Msg { return nil })
	return s
}

func (s *shown) hear(what ...tea.Msg) {
	for _, msg := range what {
		s.Update(msg)
	}
}

// press presses keys, and gives what the last of them leads to.
func (s *shown) press(keys ...string) (then tea.Cmd) {
	codes := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "down": tea.KeyDown, "tab": tea.KeyTab, "backspace": tea.KeyBackspace}
	for _, key := range keys {
		press := tea.KeyPressMsg{Code: codes[key]}
		switch {
		case key == "ctrl+c":
			press = tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
		case press.Code == 0:
			press = tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
		}
		_, then = s.Update(press)
	}
	return then
}

// world is what a feed tells of two workbenches, one of whose servers, clients and tools is hostile.
func world() []tea.Msg {
	now := time.Now()
	box := func(servers ...status.Server) []status.Toolbox {
		return []status.Toolbox{{Name: "dev", Servers: servers}}
	}
	front := func(client string, boxes []status.Toolbox) status.Front {
		return status.Front{Sessions: []status.Session{{Client: client, Toolboxes: boxes}}}
	}
	one := status.Workbench{PID: 10, Since: now, Front: front(evil, box(status.Server{Name: "git", State: "ready", Since: now, Tools: 9, Tokens: 700},
		status.Server{Name: "evil" + evil, State: "failed", Since: now, Cause: "it ended: " + evil, Advice: "mend it"}))}
	two := status.Workbench{PID: 11, Since: now.Add(time.Second), Front: front("other", box(status.Server{Name: "git", State: "backoff", Since: now, Advice: "wait"}))}
	foreign.CleanAll(&one) // as status.Peer does
	made := []calls.Call{{ID: "10-1", Time: calls.Time{Time: now}, Toolbox: "dev", Server: "git", Method: "tools/call", Tool: "log", Outcome: calls.OK},
		{ID: "10-2", Time: calls.Time{Time: now.Add(time.Second)}, Toolbox: "dev", Server: "git", Method: "tools/call", Tool: "crash" + evil, Outcome: calls.Lost, Error: "lost: " + evil, Client: evil},
		{ID: "11-1", Time: calls.Time{Time: now.Add(2 * time.Second)}, Toolbox: "dev", Server: "git", Method: "tools/call", Tool: "slow", Outcome: calls.Running}}
	waiting := []approval.Call{{ID: "10-1", Toolbox: "dev", Server: "git", Tool: "push" + evil, Arguments: evil, Until: now.Add(time.Hour)}}
	var offered tools
	quoted, _ := json.Marshal(evil) // a text can be
	definition := fmt.Sprintf(`[{"toolbox":"dev","server":"git","definition":{"name":"log","description":%[1]s,"inputSchema":{"properties":{"z":{"type":"string","description":%[1]s},`+
		`"a":{"enum":["x","y"],"default":[%[1]s]},%[1]s:{"type":"array"}},"required":["a"]}}},{"toolbox":"dev","server":"git","definition":{"name":%[1]s,"inputSchema":{"type":"object"}}}]`, quoted)
	if err := json.Unmarshal([]byte(definition), &offered.rows); err != nil {
		panic(err)
	}
	read := kept{rows: []keptRow{{"run", "r-1", evil, evil, now, []string{"runs", "show", "--", "r-1"}}}}
	set := settings{rows: []settingsRow{{"fault" + evil, evil, evil}, {"line 1", "\t" + evil, "c.json:1"}}, faults: 1}
	return []tea.Msg{costs{boxes: []boxCosts{{name: "dev", description: evil, servers: []serverCosts{{"git", 1, 50}}}}}, stands{pid: "10", says: one}, stands{pid: "11", says: two}, ended{made, 7}, waits{"10", waiting}, offered, read, set}
}

// What is shown fits the terminal, whatever its size, and has no character of others that steers it.
func TestFits(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 50}, {40, 10}, {20, 5}, {7, 3}, {1, 1}} {
		s := newShown()
		s.hear(world()[1:]...) // the costs need a configuration
		s.hear(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		for _, keys := range [][]string{nil, {"2"}, {"enter"}, {"esc", "3"}, {"4"}, {"5"}, {"enter"}, {"down", "x"}, {"enter"}, {"esc", "esc", "6"}, {"7"}, {"?"}, {"esc", "1", "/", "x"}} {
			if then := s.press(keys...); then != nil && s.open != nil {
				s.hear(then())
			}
			text := s.text()
			lines := strings.Split(text, "\n")
			if len(lines) != size[1] && size[1] > 1 {
				t.Errorf("%v after %q: got %d lines, want %d:\n%s", size, keys, len(lines), size[1], text)
			}
			for _, line := range lines {
				if ansi.StringWidth(line) > size[0] {
					t.Errorf("%v after %q: a line is wider: %q", size, keys, line)
				}
			}
			if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && foreign.Hidden(r) }); i >= 0 {
				t.Errorf("%v after %q: got a character that steers the terminal in %q", size, keys, text[i:min(i+40, len(text))])
			}
		}
	}
}

func TestKeys(t *testing.T) {
	for _, test := range []struct {
		keys     string
		commands []string
		want     []string // in what is shown
	}{
		{"", nil, []string{"[1 servers 3 (2!)]", "2 calls 3", "4 waiting 1", "> failed   dev/evilred中", "-> mend it", "workbench 10"}},
		{"enter", []string{"logs --follow dev/evilred中"}, []string{"command", "esc end"}},
		{"down r", []string{"restart --workbench 11 dev/git"}, nil},
		{"down e esc d", []string{"enable dev/git", "ended", "disable dev/git"}, nil},
		{"2", nil, []string{"> ", "running", "dev/git/slow", "7 calls came too fast"}},
		{"2 down enter", []string{"calls show 10-2"}, nil},
		{"2 j r", []string{"calls repeat 10-2"}, nil},
		{"2 G enter q", []string{"calls show 10-1", "ended"}, []string{"> "}},
		{"2 / f a i l e d enter r", []string{"calls repeat 10-2"}, nil},
		{"2 / z z", nil, []string{"nothing has these words", "/zz_"}},
		{"2 / z z backspace backspace l o g enter enter", []string{"calls show 10-1"}, nil},
		{"2 / z esc r", []string{"calls repeat 11-1"}, nil},
		{"tab tab", nil, []string{"[3 toolboxes 0]", "the configuration has no toolbox"}},
		{"4 n esc y", []string{"approve --refuse 10-1", "ended", "approve 10-1"}, nil},
		{"5 enter x enter", nil, []string{"call dev/git/log", "a*: _", "this argument is needed", "one of x, y; otherwise"}},
		{"5 enter down x enter esc tab [ 1 ] enter", []string{"call -- dev/git/log a=x", "ended", "call -- dev/git/log a=x " + evil + ":=[1]"}, nil},
		{"5 enter esc down enter { } enter", []string{"call -- dev/git/" + evil + " {}"}, nil},
		{"5 i", []string{"tools dev/git/log"}, nil},
		{"6 enter", []string{"runs show -- r-1"}, nil},
		{"7 enter", []string{"check"}, nil},
		{"?", nil, []string{"everywhere", "repeat"}},
	} {
		s := newShown()
		s.hear(world()[1:]...)
		s.press(strings.Fields(test.keys)...)
		if !slices.Equal(s.commands, test.commands) {
			t.Errorf("%q: got %q, want %q", test.keys, s.commands, test.commands)
		}
		for _, want := range test.want {
			if !strings.Contains(s.text(), want) {
				t.Errorf("%q: got\n%s\nwant %q in it", test.keys, s.text(), want)
			}
		}
	}
	for _, keys := range [][]string{{"q"}, {"ctrl+c"}, {"/", "ctrl+c"}, {"?", "ctrl+c"}} {
		if then := newShown().press(keys...); then == nil || then() != tea.Quit() {
			t.Errorf("%q did not end it", keys)
		}
	}
}

// The row that was chosen stays so while others come and go, and the first row is always the last call, until another
// is chosen.
func TestChosen(t *testing.T) {
	s := newShown()
	now := time.Now()
	made := func(number int, outcome string) calls.Call {
		return calls.Call{ID: fmt.Sprint("10-", number), Time: calls.Time{Time: now.Add(time.Duration(number) * time.Second)}, Method: "tools/call", Outcome: outcome}
	}
	at := func(want string) {
		t.Helper()
		if row, _ := s.lists[1].row(); s.tabs[1].id(row) != want {
			t.Errorf("got %s chosen, want %s", s.tabs[1].id(row), want)
		}
	}
	s.hear(ended{[]calls.Call{made(1, calls.OK), made(2, calls.Running)}, 0})
	s.press("2")
	at("10-2")
	s.hear(ended{[]calls.Call{made(3, calls.OK)}, 0})
	at("10-3")
	s.press("down")
	s.hear(ended{[]calls.Call{made(4, calls.OK)}, 0}, ended{[]calls.Call{made(2, calls.Lost), made(3, calls.Running)}, 0})
	at("10-2")
	if text := s.text(); !strings.Contains(text, "lost") || strings.Contains(text, "running") {
		t.Errorf("got\n%s\nwant what became of a call, and nothing older", text)
	}
	var many []calls.Call
	for i := range mostCalls {
		many = append(many, made(5+i, calls.OK))
	}
	s.hear(ended{many, 0})
	if n := s.tabs[1].len(); n != mostCalls {
		t.Errorf("got %d calls, want no more than %d", n, mostCalls)
	}
	s.hear(ended{[]calls.Call{made(9999, calls.Running)}, 0}, gone{"10"})
	if text := s.text(); strings.Contains(text, "running") {
		t.Errorf("got\n%s\nwant no call that runs, of a workbench that has ended", text)
	}
}

// What a command says is shown as it comes, the end of it if it goes on, and the last of it why it failed.
func TestOutput(t *testing.T) {
	s := newShown()
	s.hear(world()[1:]...)
	s.press("2", "enter")
	first, o := s.open, s.open
	for i := range 100 {
		o.take(said{of: o, text: fmt.Appendf(nil, "%sline %d\n", strings.Repeat("many words\n", 1000), i)})
	}
	s.press("G")
	if text := s.text(); !strings.Contains(text, "line 99\n") || len(o.text) > mostOutput {
		t.Errorf("got %d bytes and\n%s\nwant the last lines of a bounded text", len(o.text), text)
	}
	s.hear(said{of: o, err: cli.Hint(errors.New("it failed"), "mend it")})
	s.press("G")
	if text := s.text(); !strings.Contains(text, "workbench: error: it failed\nworkbench: hint: mend it\n") || !strings.Contains(text, "esc back") {
		t.Errorf("got\n%s\nwant the error, and that it has ended", text)
	}
	s.press("esc", "enter")
	s.hear(said{of: first, text: []byte("late")}, said{of: s.open, text: []byte("now\n")}, said{of: s.open, err: io.EOF})
	if text := s.text(); strings.Contains(text, "late") || !strings.Contains(text, "now\n") {
		t.Errorf("got\n%s\nwant what this command says alone", text)
	}
}

// The tools of a server that runs count as they are, and not as they were seen last.
func TestCosts(t *testing.T) {
	c := costs{live: make(map[string]serverCosts)}
	c.heard(world()[1])
	c.heard(world()[0])
	if got, want := c.cells(0)[:4], []string{"dev", "1", "9", "700"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
