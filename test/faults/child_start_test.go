package faults

import (
	"os"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

func TestFaultA1_CommandIsMissing(t *testing.T) {
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	unready{
		"not there":      {entry{"command": "/no/such/program"}, []string{"/no/such/program", "no such file"}},
		"not in PATH":    {entry{"command": "no-such-program"}, []string{"no-such-program", "PATH"}},
		"not executable": {entry{"command": file}, []string{file, "chmod +x"}},
	}.at(t, setup{})
}

func TestFaultA2_CrashAtStart(t *testing.T) {
	b := newBed(t, "crashstart", setup{unready: true})
	o := b.open()
	got := o.about("sick")
	for _, want := range []string{"exit status 7", "line 29", "cannot read the licence file", "tried again in"} {
		if !strings.Contains(got, want) && (want != "tried again in" || o.state("sick") != "starting") {
			t.Errorf("got %q, want it to have %q", got, want)
		}
	}
	if strings.ContainsRune(got, '\x1b') || strings.Contains(got, "line 5 ") {
		t.Errorf("got %q, want the last lines alone, without escapes of terminals", got)
	}
	b.shows("exit status 7")
}

func TestFaultA3_ExitAtStart(t *testing.T) {
	b := newBed(t, "exit0", setup{unready: true})
	if got := b.open().about("sick"); !strings.Contains(got, "exit status 0") {
		t.Errorf("got %q, want it to say how the process ended", got)
	}
	b.shows("exit status 0")
}

func TestFaultA4_SlowStart(t *testing.T) {
	let := t.TempDir() + "/let"
	b := newBed(t, "slowstart "+let, setup{top: entry{"openTimeout": "100ms"}, unready: true})
	if got := b.open().state("sick"); got != "starting" {
		t.Errorf("got %s, want it starting", got)
	}
	patient, err := os.ReadFile(b.path("workbench-config.json")) // a call waits for as long as an open
	if err != nil {
		t.Fatal(err)
	}
	b.configure(strings.Replace(string(patient), `"openTimeout":"100ms"`, `"openTimeout":"2m"`, 1))
	b.logs(1, "configuration reloaded")
	waiting := b.Request("tools/call", `{"name":"workbench_use_tool","arguments":{"tool":{"toolbox":"box","server":"sick","name":"echo"},"arguments":{"n":1}}}`)
	b.wellAnswers()
	if err := os.WriteFile(let, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.answers(b.outcome(waiting), `{"n":1}`)
	b.open()
}

func TestFaultA5_HangInInitialize(t *testing.T) {
	b := newBed(t, "hanginit", setup{top: entry{"openTimeout": "100ms"}, sick: entry{"timeouts": entry{"start": "1s"}}, unready: true})
	first := b.processOf("hanginit")
	if !eventually(func() bool { return strings.Contains(b.open().about("sick"), "did not finish starting within 1s") }) {
		t.Errorf("got %q, want it to say why it is not there", b.open().about("sick"))
	}
	if !eventually(func() bool { return b.processOf("hanginit") != first }) {
		t.Error("the process that hung is still there")
	}
}

// processOf is the process of this case that has a word in its command line, or 0.
func (b *bed) processOf(word string) int {
	for _, p := range wiretest.Marked(b.mark) {
		if len(p.Args) > 1 && p.Args[1] == word {
			return p.PID
		}
	}
	return 0
}

func TestFaultA6_ListNeverComes(t *testing.T) {
	b := newBed(t, "mute prompts/list", setup{})
	b.works()
}

func TestFaultA15_LinesThatAreNoMessages(t *testing.T) {
	t.Parallel()
	t.Run("at the start", func(t *testing.T) {
		b := newBed(t, "banner", setup{})
		b.works()
		b.shows("Welcome!", `"noise":2`)
		if got := b.open().about("sick"); !strings.Contains(got, "Welcome!") {
			t.Errorf("got %q, want it to tell of the line", got)
		}
	})
	t.Run("in a call", func(t *testing.T) {
		b := newBed(t, "junk", setup{})
		b.answers(b.fault(), "done")
		b.works()
		if got := b.open().about("sick"); !strings.Contains(got, "DEBUG") {
			t.Errorf("got %q, want it to tell of the line", got)
		}
	})
}

func TestFaultA20_LineEnds(t *testing.T) {
	b := newBed(t, "crlf", setup{})
	b.works()
	b.answers(b.fault(), "done")
}

func TestFaultA37_CursorWithoutEnd(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]string{"new cursors": "cursor new", "the same cursor": "cursor same"} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, args, setup{})
			b.works()
			if args == "cursor new" && !strings.Contains(b.open().about("sick"), "has more") {
				t.Error("nothing is said of the tools that were not read")
			}
		})
	}
}

func TestFaultA38_ManyTools(t *testing.T) {
	b := newBed(t, "manytools", setup{})
	o := b.open()
	tools := 0
	for _, srv := range o.Servers {
		if srv.Name == "sick" {
			tools = srv.Tools
		}
	}
	if tools < 1000 || tools > 10_000 {
		t.Errorf("got %d tools, want at most 10,000", tools)
	}
	if got := o.about("sick"); !strings.Contains(got, "left out") && !strings.Contains(got, "has more") {
		t.Errorf("got %q, want it to say that there are more", wiretest.Clip(got))
	}
	b.works()
}

// A server of the legacy era is asked for its era in words that it does not know.
func TestFaultA41_EraProbe(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"legacysilent", "legacyodd", "legacycrash"} {
		t.Run(fault, func(t *testing.T) {
			b := newClosedBed(t, fault, setup{modern: true})
			for range 2 { // it is not asked twice
				got := b.Result("tools/call", wiretest.Modern(`{"name":"workbench_use_tool","arguments":{"tool":{"toolbox":"box","server":"sick","name":"echo"},"arguments":{"n":1}}}`, "{}"))
				if !strings.Contains(string(got), `{\"n\":1}`) {
					t.Errorf("got %s", got)
				}
			}
		})
	}
}

func TestFaultG28_IDsOfItsOwn(t *testing.T) {
	t.Parallel()
	t.Run("equal", func(t *testing.T) { newBed(t, "ids .0", setup{}).works() })
	t.Run("others", func(t *testing.T) {
		b := newBed(t, "ids 5", setup{unready: true})
		if got := b.open().about("sick"); !strings.Contains(got, "sent a reply to no request: ") {
			t.Errorf("got %q, want what came", got)
		}
	})
}
