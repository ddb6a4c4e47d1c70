package faults

import (
	"os"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

func TestFaultA7_CrashInCall(t *testing.T) {
	b := newBed(t, "crash", setup{})
	got := b.fault()
	b.fails(got, `"sick"`, "exit status 9", "last words", "unknown")
	if strings.ContainsRune(got.text, '\x1b') {
		t.Errorf("got %q, want no escapes of terminals", got.text)
	}
	b.works()
}

func TestFaultA8_Killed(t *testing.T) {
	b := newBed(t, "hang", setup{})
	id := b.begin("sick", "fault", "{}")
	kill(t, b.pid("sick"))
	b.fails(b.outcome(id), `"sick"`, "killed by signal 9")
	b.works()
}

// kill ends a process.
func kill(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestFaultA9_PartialLine(t *testing.T) {
	b := newBed(t, "partial", setup{})
	b.fails(b.fault(), `"sick"`, "exit status 9")
	b.works()
	if got := b.open().about("sick"); got != "" {
		t.Errorf("got %q, want no word of the line", got)
	}
}

// The end of a server is its own, whoever holds its output open.
func TestFaultA11_GrandchildHoldsOutput(t *testing.T) {
	b := newBed(t, "grandchild", setup{})
	b.fails(b.fault(), `"sick"`, "exit status 9")
	b.works()
}

func TestFaultA12_HangInCall(t *testing.T) {
	t.Parallel()
	t.Run("one call", func(t *testing.T) {
		b := newBed(t, "hang", setup{sick: entry{"timeouts": entry{"callIdle": "300ms"}}})
		before := b.pid("sick")
		b.fails(b.fault(), `"sick"`, "sent neither reply nor progress for 300ms")
		b.works()
		if got := b.pid("sick"); got != before {
			t.Errorf("the process is %d, want %d as before", got, before)
		}
		if got := b.call("sick", "heard", "{}").text; !strings.Contains(got, "notifications/cancelled") {
			t.Errorf("the server heard %q, want that the call was cancelled", got)
		}
	})
	t.Run("all calls", func(t *testing.T) {
		b := newBed(t, "deaf", setup{sick: entry{"timeouts": entry{"callIdle": "300ms"}}})
		before := b.pid("sick")
		b.fails(b.fault(), `"sick"`, "300ms")
		b.fails(b.call("sick", "echo", "{}"), `"sick"`, "300ms")
		b.recovers()
		if got := b.pid("sick"); got == before {
			t.Errorf("the process is %d as before, want another", got)
		}
	})
}

func TestFaultA13_ProgressWithoutEnd(t *testing.T) {
	b := newBed(t, "progress", setup{sick: entry{"timeouts": entry{"callIdle": "500ms", "callTotal": "1500ms"}}})
	b.fails(b.fault(), `"sick"`, "did not finish within 1.5s")
	b.works()
}

func TestFaultA14_LateAnswer(t *testing.T) {
	let := t.TempDir() + "/let"
	b := newBed(t, "late "+let, setup{sick: entry{"timeouts": entry{"callIdle": "300ms"}}})
	id := b.begin("sick", "fault", "{}")
	b.fails(b.outcome(id), `"sick"`, "300ms")
	cancelled := b.begin("sick", "fault", "{}")
	b.Notify("notifications/cancelled", `{"requestId":`+cancelled+`}`)
	b.wellAnswers() // so the cancellation was read before the server may answer
	if err := os.WriteFile(let, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.works()
	b.works()
	b.shows(`"late":2`)
	for _, entry := range b.Transcript(0) {
		if !entry.Sent && strings.Contains(string(entry.Message.Raw), "late") {
			t.Errorf("the client was told %s", entry.Message.Raw)
		}
	}
}

// What breaks the rules costs the call that it answers, or nothing.
func TestFaultA19A21A22A23A24A25A26A27G27_BadReplies(t *testing.T) {
	b := newBed(t, "any", setup{sick: entry{"timeouts": entry{"callIdle": "2s"}}})
	before := b.pid("sick")
	for _, tt := range []struct {
		fault string
		wants []string // of the error; none means that the call succeeds
		says  string   // what the result is then
	}{
		{"badutf8", []string{`"sick"`, "not a valid message"}, ""},
		{"dup", nil, "first"},
		{"unknownid", nil, "done"},
		{"stringid", []string{`"sick"`, "another id"}, ""},
		{"badver", []string{`"sick"`, "not a valid message"}, ""},
		{"nover", []string{`"sick"`, "not a valid message"}, ""},
		{"caseid", []string{`"sick"`, ""}, ""},
		{"onlyID", []string{`"sick"`, "not a valid message"}, ""},
		{"nobodys", []string{`"sick"`, "sent a reply to no request"}, ""},
		{"twice", []string{`"sick"`, "not a valid message"}, ""},
		{"both", []string{`"sick"`, "not a valid message"}, ""},
		{"neither", []string{`"sick"`, "not a valid message"}, ""},
		{"twoinone", []string{`"sick"`, "sent a reply to no request"}, ""},
		{"calls", []string{`"sick"`, "not a valid message"}, ""},
		{"nulls", nil, "done"},
		{"batch", []string{`"sick"`}, ""},
	} {
		t.Run(tt.fault, func(t *testing.T) {
			b := b.in(t)
			if got := b.call("sick", "fault", `{"fault":"`+tt.fault+`"}`); tt.wants == nil {
				b.answers(got, tt.says)
			} else {
				b.fails(got, tt.wants...)
			}
			b.works()
			if got := b.pid("sick"); got != before {
				t.Errorf("the process is %d, want %d as before", got, before)
			}
		})
	}
}

// A server of revision 2026-07-28 may not ask by requests of its own.
func TestFaultA28_RequestOfAModernServer(t *testing.T) {
	b := newBed(t, "srvreq", setup{opts: wiretest.Options{Answer: func(wiretest.Message) (string, *wiretest.Error) {
		return `{"role":"assistant","model":"m","content":{"type":"text","text":"no"}}`, nil
	}}})
	b.answers(b.fault(), "asked")
	b.works()
}

func TestFaultA31_ClosesOutput(t *testing.T) {
	b := newBed(t, "closeout", setup{})
	b.fails(b.fault(), `"sick"`, "closed its output")
	b.works()
}

func TestFaultA32_ClosesInput(t *testing.T) {
	// A call that is written before the pipe is closed is not told of that, and ends at its time-out.
	b := newBed(t, "closein", setup{sick: entry{"timeouts": entry{"callIdle": "1s"}}})
	b.answers(b.fault(), "done")
	b.recovers()
}

func TestFaultA34_Grandchildren(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"daemon", "family"} {
		t.Run(fault, func(t *testing.T) {
			b := newBed(t, fault, setup{})
			kill(t, b.pid("sick"))
			b.recovers() // and the epilogue counts the processes
		})
	}
}

// Memory that is bounded by the system is the server's own trouble.
func TestFaultA36_TooMuchMemory(t *testing.T) {
	b := newBed(t, "alloc", setup{sick: entry{"command": "/bin/sh", "args": []string{"-c", "ulimit -v 1500000; exec " + wiretest.Program("badchild") + " alloc"}}})
	b.fails(b.fault(), `"sick"`, "exit status 2")
	b.works()
}

func TestFaultA40_ToolIsGone(t *testing.T) {
	b := newBed(t, "rugpull", setup{})
	b.fails(b.call("sick", "gone", "{}"), "unknown tool gone")
	b.works()
}
