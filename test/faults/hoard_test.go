package faults

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// A server whose questions nobody answers has only so many bytes of them kept; it is refused the rest.
func TestFaultG19_QuestionsWithLongIDs(t *testing.T) {
	p := newPlain(t, "askids 40 8000000")
	withinMemory(t, p.pid, func() {
		p.say(wiretest.Request(`"asked"`, "tools/call", callOf("sick", "fault", "{}")))
		for !strings.Contains(p.hear(), `"id":"asked"`) {
		}
	})
	p.say(wiretest.Request(`"after"`, "tools/call", callOf("sick", "echo", "{}")))
	if got := p.hear(); !strings.Contains(got, `"id":"after","result"`) {
		t.Errorf("the next call: got %s", got)
	}
}

// What a server says of itself is kept, and so it must not be long.
func TestFaultG22_LongInstructions(t *testing.T) {
	b := newClosedBed(t, "boast 1 7000000", setup{})
	withinMemory(t, b.PID(), func() {
		if got := b.open().about("sick"); !strings.Contains(got, "at most 262144 are kept") {
			t.Errorf("got %q, want it to say what is too long", got)
		}
	})
}
