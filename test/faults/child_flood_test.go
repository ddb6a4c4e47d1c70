package faults

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

func TestFaultA16_Flood(t *testing.T) {
	p := newPlain(t, "flood")
	withinMemory(t, p.pid, little, func() {
		p.say(wiretest.Request(`"flooded"`, "tools/call", callOf("sick", "fault", "{}")))
		p.say(wiretest.Request(`"well"`, "tools/call", callOf("well", "echo", "{}")))
		for replies := 0; replies < 2; {
			if line := p.hear(); strings.Contains(line, `"id":"`) {
				replies++
			}
		}
	})
	p.say(wiretest.Request(`"after"`, "tools/call", callOf("sick", "echo", "{}")))
	if got := p.hear(); !strings.Contains(got, `"id":"after","result"`) {
		t.Errorf("the next call: got %s", got)
	}
}

func TestFaultA17_LineWithoutEnd(t *testing.T) {
	b := newBed(t, "endless", setup{sick: entry{"timeouts": entry{"callIdle": "400ms"}}})
	withinMemory(t, b.PID(), much, func() { b.fails(b.fault(), `"sick"`, "400ms") })
	kill(t, b.processOf("endless"))
	b.recovers()
}

func TestFaultA18_LongLine(t *testing.T) {
	b := newBed(t, "big", setup{})
	before := b.pid("sick")
	withinMemory(t, b.PID(), much, func() { b.fails(b.fault(), `"sick"`, "over the limit of 16777216") })
	b.works()
	if got := b.pid("sick"); got != before {
		t.Errorf("the process is %d, want %d as before", got, before)
	}
}

// A server that does not read costs a bounded queue, and nobody else anything.
func TestFaultA29A30_ReadsNothing(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"noread", "sip"} {
		t.Run(fault, func(t *testing.T) {
			b := newBed(t, fault, setup{sick: entry{"timeouts": entry{"callIdle": "1s"}}})
			b.answers(b.fault(), "done")
			long := fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 256<<10)) // more than a pipe holds
			var ids []string
			withinMemory(t, b.PID(), little, func() {
				for range 30 {
					ids = append(ids, b.begin("sick", "echo", long))
				}
				b.wellAnswers()
				b.fails(b.outcome(ids[0]), `"sick"`, "1s")
			})
			if p := b.processOf(fault); p != 0 {
				kill(t, p)
			}
			// What was not sent to it yet may be answered by its successor.
			for _, id := range ids[1:] {
				if got := b.outcome(id); got.failed {
					b.fails(got, `"sick"`)
				} else {
					b.answers(got, long)
				}
			}
			b.recovers()
		})
	}
}

func TestFaultA33_IgnoresTheEnd(t *testing.T) {
	inTime(t, func(again bool) *bed {
		b := newBed(t, "ignoreterm", setup{again: again})
		b.CloseInput()
		return b
	})
}

func TestFaultA35_FloodOfStderr(t *testing.T) {
	b := newBed(t, "stderr 40", setup{level: "info"}) // more than is allowed
	withinMemory(t, b.PID(), little, func() { b.answers(b.fault(), "done") })
	if info, err := os.Stat(b.path("log")); err != nil || info.Size() > 1<<20 {
		t.Errorf("the log: got %v, %v, want less than 1 MiB", info.Size(), err)
	}
	b.works()
}

func TestFaultA39_StormOfChanges(t *testing.T) {
	b := newBed(t, "storm", setup{})
	from := b.Mark()
	b.answers(b.fault(), "done")
	b.works()
	told := 0
	for _, entry := range b.Transcript(from) {
		if entry.Message.IsNotification("notifications/tools/list_changed") {
			told++
		}
	}
	if told > 5 {
		t.Errorf("the client was told %d times that nothing changed", told)
	}
}
