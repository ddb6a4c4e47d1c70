//go:build linux

package adversary

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// roleVariable makes of the test binary one of the servers of workbench.
const roleVariable = "WORKBENCH_ADVERSARY_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "honest":
		serveStdio(newHonest(os.Args[2] == "true", true).take)
	case "fiend":
		seed, err := strconv.ParseUint(os.Args[2], 10, 64)
		if err != nil {
			panic(err)
		}
		fiendMain(seed, os.Args[3])
	default:
		os.Exit(wiretest.Main(m, []string{"cmd/workbench"}))
	}
}

// What the program may need above what it needs by itself: with one hostile server, and with several or with hostile
// clients.
const (
	withOne  = 64 << 20
	withMany = 256 << 20
)

// How long the end may take: over HTTP calls have ten seconds to be answered, and what a fiend asks of a client that does
// not answer makes its calls take these.
const (
	endStdio = 2 * time.Second
	endHTTP  = 12 * time.Second
)

// endAll is by how much sooner the program gives up what hangs at its end.
const endAll = 250 * time.Millisecond

// judge adds what shows only at the end of a run; slack is what a machine that does other things too may add to times,
// beside what it was seen to pause for.
func (w *world) judge(base int, slack time.Duration) {
	allowed := withOne
	if w.fiends > 1 || w.loud {
		allowed = withMany
	}
	if above := w.peak - base; above > allowed {
		w.find("memory: %d MiB, %d above what it needs by itself; %d are allowed", w.peak>>20, above>>20, allowed>>20)
	}
	if w.end > w.limit()+slack+w.pause+w.starved {
		w.find("the end took %v, want at most %v; the machine paused for %v, and let the end wait %v", w.end.Round(time.Millisecond), w.limit(), w.pause.Round(time.Millisecond), w.starved.Round(time.Millisecond))
	}
	if w.good == 0 {
		w.find("no honest call was answered")
	}
}

// limit is how long the end may take.
func (w *world) limit() time.Duration {
	if w.plan.http {
		return endHTTP
	}
	return endStdio
}

func (w *world) report() string {
	return fmt.Sprintf("%s: %d honest calls right, the slowest %v; %d others answered; peak %d MiB; end %v; the machine paused for %v, and let the end wait %v", w.plan, w.good, w.slowest.Round(time.Millisecond), w.evil, w.peak>>20, w.end.Round(time.Millisecond), w.pause.Round(time.Millisecond), w.starved.Round(time.Millisecond))
}

// tell fails the test with what was found, and prints it at once in a run that is long.
func (w *world) tell(t *testing.T, long bool) {
	if long {
		fmt.Println(w.report())
	}
	for _, f := range w.findings {
		t.Errorf("%s: %s", w.plan, f)
		if long {
			fmt.Println("  FINDING:", f)
		}
	}
	if text, err := os.ReadFile(w.log); err == nil && long && len(w.findings) > 0 {
		fmt.Printf("%s\n", text[max(0, len(text)-16<<10):])
	}
}

// TestAdversary plays few seeds, or, with WORKBENCH_ADVERSARY a duration, others for that long;
// WORKBENCH_ADVERSARY_SEED plays one.
func TestAdversary(t *testing.T) {
	seeds := []uint64{1, 5}
	each, asked := time.Second, os.Getenv("WORKBENCH_ADVERSARY")
	end := time.Now()
	if asked != "" {
		length, err := time.ParseDuration(asked)
		if err != nil {
			t.Fatal(err)
		}
		end, each, seeds = time.Now().Add(length), 5*time.Second, nil
	}
	if text := os.Getenv("WORKBENCH_ADVERSARY_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seeds, each, end = []uint64{seed}, 5*time.Second, time.Now()
	}
	const slack = 3 * time.Second
	var mu sync.Mutex
	base := map[bool]int{} // what the program needs by itself, over HTTP and over stdio
	needed := func(t *testing.T, http bool) int {
		mu.Lock()
		defer mu.Unlock()
		if base[http] == 0 {
			calm := play(t, plan{http: http, calm: true}, 500*time.Millisecond)
			base[http] = calm.peak
			calm.tell(t, asked != "")
		}
		return base[http]
	}
	for i := 0; i < len(seeds) || time.Now().Before(end); i++ {
		seed := rand.Uint64N(1e9)
		if i < len(seeds) {
			seed = seeds[i]
		}
		p := newPlan(seed)
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			if asked == "" {
				t.Parallel()
			}
			alone := needed(t, p.http)
			w := play(t, p, each)
			w.judge(alone, slack)
			w.tell(t, asked != "")
		})
	}
}
