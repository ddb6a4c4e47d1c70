package faults

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// A server whose questions nobody answers has only so many bytes of them kept; it is refused the rest.
func TestFaultG19_QuestionsWithLongIDs(t *testing.T) {
	p := newPlain(t, "askids 12 8000000")
	withinMemory(t, p.pid, much, func() {
		p.say(wiretest.Request(`"asked"`, "tools/call", callOf("sick", "fault", "{}")))
		for !strings.Contains(p.hear(), `"id":"asked"`) {
		}
	})
	p.say(wiretest.Request(`"after"`, "tools/call", callOf("sick", "echo", "{}")))
	if got := p.hear(); !strings.Contains(got, `"id":"after","result"`) {
		t.Errorf("the next call: got %s", got)
	}
}

// Of lists without measure the beginning is taken, and that there is more is said.
func TestFaultG21_LongPages(t *testing.T) {
	b := newClosedBed(t, "pages 20 15000000", setup{})
	withinMemory(t, b.PID(), much, func() {
		if got := b.open().about("sick"); !strings.Contains(got, "of the lists of a server 4194304 bytes are kept") {
			t.Errorf("got %q, want it to say that tools were left out", got)
		}
	})
	b.works()
}

// What a server says of itself is kept, and so it must not be long.
func TestFaultG22_LongInstructions(t *testing.T) {
	b := newClosedBed(t, "boast 1 7000000", setup{})
	withinMemory(t, b.PID(), much, func() {
		if got := b.open().about("sick"); !strings.Contains(got, "at most 262144 are kept") {
			t.Errorf("got %q, want it to say what is too long", got)
		}
	})
}

// What a client that does not read can do without is not kept for it, whatever the method.
func TestFaultG20_NoticesNobodyReads(t *testing.T) {
	t.Parallel()
	for fault, spare := range map[string]int{"notices 12 8000000": much, "notices 120000 300": little} {
		t.Run(fault, func(t *testing.T) {
			p := newPlain(t, fault)
			withinMemory(t, p.pid, spare, func() {
				p.say(wiretest.Request(`"told"`, "tools/call", callOf("sick", "fault", "{}")))
				time.Sleep(2 * time.Second) // this is the fault
				for !strings.Contains(p.hear(), `"id":"told"`) {
				}
			})
			p.say(wiretest.Request(`"after"`, "tools/call", callOf("sick", "echo", "{}")))
			if got := p.hear(); !strings.Contains(got, `"id":"after","result"`) {
				t.Errorf("the next call: got %s", got)
			}
		})
	}
}

// Long replies wait at their servers for a client that does not read; none is lost, and nobody else's.
func TestFaultG20_RepliesNobodyReads(t *testing.T) {
	const calls = 12
	p := newPlain(t, "bulk 1 8000000")
	withinMemory(t, p.pid, much, func() {
		for i := range calls {
			p.say(wiretest.Request(fmt.Sprintf(`"sick%d"`, i), "tools/call", callOf("sick", "fault", "{}")))
			p.say(wiretest.Request(fmt.Sprintf(`"well%d"`, i), "tools/call", callOf("well", "echo", "{}")))
		}
		time.Sleep(2 * time.Second) // this is the fault
		missing := 2 * calls
		for ; missing > 0; missing-- {
			if got := p.hear(); !strings.Contains(got, `"result":{"content"`) {
				t.Fatalf("got %s", wiretest.Clip(got))
			}
		}
	})
}

// Of tasks with long ids those are remembered that there is room for.
func TestFaultG23_TasksWithLongIDs(t *testing.T) {
	p := newPlain(t, "tasks 1 8000000")
	withinMemory(t, p.pid, much, func() {
		for i := range 12 {
			id := fmt.Sprintf(`"t%d"`, i)
			p.say(wiretest.Request(id, "tools/call", `{"name":"box__sick__fault","arguments":{},"task":{"ttl":60000}}`))
			for !strings.Contains(p.hear(), `"id":`+id) {
			}
		}
	})
	p.say(wiretest.Request(`"after"`, "tools/call", callOf("sick", "echo", "{}")))
	if got := p.hear(); !strings.Contains(got, `"id":"after","result"`) {
		t.Errorf("the next call: got %s", got)
	}
}

// The end of the input is seen however much the client leaves unread.
func TestFaultG90_EndWhileMuchIsUnread(t *testing.T) {
	p := newPlain(t, "well")
	long := fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 1<<20))
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := range 60 {
			p.say(wiretest.Request(fmt.Sprintf(`"n%d"`, i), "tools/call", callOf("well", "echo", long)))
		}
	})
	time.Sleep(500 * time.Millisecond)
	_ = p.in.Close()
	began := time.Now()
	select {
	case <-p.exited:
	case <-time.After(2 * time.Minute):
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the end took %v, want 2 s or so on a quiet machine", took)
	}
	writing.Wait()
}
