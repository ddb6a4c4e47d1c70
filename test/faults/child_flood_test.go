package faults

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// spare is how much more memory a fault may cost, in MiB.
const spare = 64

func TestFaultA16_Flood(t *testing.T) {
	b := newBed(t, "flood", setup{})
	b.withinMemory(spare, func() { b.answers(b.fault(), "done") })
	b.works()
}

func TestFaultA17_LineWithoutEnd(t *testing.T) {
	b := newBed(t, "endless", setup{sick: entry{"timeouts": entry{"callIdle": "700ms"}}})
	b.withinMemory(spare, func() { b.fails(b.fault(), `"sick"`, "700ms") })
	kill(t, fmt.Sprint(b.processOf("endless")))
	b.recovers()
}

func TestFaultA18_LongLine(t *testing.T) {
	b := newBed(t, "big", setup{})
	before := b.pid("sick")
	b.withinMemory(spare, func() { b.fails(b.fault(), `"sick"`, "over the limit of 16777216") })
	b.works()
	if got := b.pid("sick"); got != before {
		t.Errorf("the process is %s, want %s as before", got, before)
	}
}

// A server that does not read costs a bounded queue, and nobody else anything.
func TestFaultA29A30_ReadsNothing(t *testing.T) {
	for _, fault := range []string{"noread", "sip"} {
		t.Run(fault, func(t *testing.T) {
			b := newBed(t, fault, setup{sick: entry{"timeouts": entry{"callIdle": "3s"}}})
			b.answers(b.fault(), "done")
			long := fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 1<<20))
			var ids []string
			b.withinMemory(spare, func() {
				for range 30 {
					ids = append(ids, b.begin("sick", "echo", long))
				}
				b.wellAnswers()
			})
			refused := 0
			for _, id := range ids {
				got := b.outcome(id)
				b.fails(got, `"sick"`)
				if !strings.Contains(got.text, "3s") {
					refused++
				}
			}
			if refused == 0 {
				t.Error("30 MiB were taken for a server that reads nothing")
			}
			if p := b.processOf(fault); p != 0 {
				kill(t, fmt.Sprint(p))
			}
			b.recovers()
		})
	}
}

func TestFaultA33_IgnoresTheEnd(t *testing.T) {
	b := newBed(t, "ignoreterm", setup{})
	began := time.Now()
	b.CloseInput()
	if got := b.Exit(); got.ExitCode() != 0 {
		t.Errorf("got %v, want exit status 0", got)
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("the end took %v, want 5 s or so", took)
	}
	if left := wiretest.Marked(b.mark); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestFaultA35_FloodOfStderr(t *testing.T) {
	b := newBed(t, "stderr", setup{level: "info"})
	b.withinMemory(spare, func() { b.answers(b.fault(), "done") })
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
