//go:build linux

package chaos

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// tally counts what became of calls.
type tally struct{ answered, failed, lost, misrouted atomic.Int64 }

// one makes a call with a nonce of its own to a server.
func (n *tally) one(p *program, server, nonce string) {
	got, failed, err := p.call("box", server, "echo", fmt.Sprintf(`{"nonce":%q}`, nonce))
	switch {
	case err != nil:
		n.lost.Add(1)
	case strings.Contains(got, nonce) && !failed:
		n.answered.Add(1)
	case failed && strings.Contains(got, fmt.Sprintf("server %q", server)):
		n.failed.Add(1)
	default:
		n.misrouted.Add(1)
	}
}

// fleet is how many servers crash in turn.
const fleet = 8

// crashes has servers crash again and again while they are called. Each call has one outcome, its own, no server is
// called twice for it, and in the end the program holds what it held before.
func crashes(t *testing.T, tab *table) {
	calls, restarts, crashed := times(2000, 100_000), times(24, 1000), 0
	ledger := filepath.Join(t.TempDir(), "ledger")
	servers := map[string]string{}
	for i := range fleet {
		servers[fleetName(i)] = "ledger " + ledger
	}
	p := start(t, map[string]map[string]string{"box": servers})
	p.greet()
	p.open("box")

	warm := load(p, calls/4, func() {})
	tab.must(t, "calls that fail without a crash", int(warm.failed.Load()), 0)
	crash := func(n int) {
		began, starts := time.Now(), lengthOf(ledger+".starts")
		for crashed = 0; crashed < n && time.Since(began) < 10*patience; crashed = lengthOf(ledger+".starts") - starts {
			_, _, _ = p.call("box", fleetName(rand.IntN(fleet)), "fault", "{}")
			p.open("box") // has those that rest tried at once
		}
	}
	load(p, calls/4, func() { crash(restarts / 4) }) // what is made once is made by then
	revive(p)
	before := p.holds()
	count := load(p, calls, func() { crash(restarts) })
	if crashed < restarts {
		t.Errorf("got %d crashes, want %d", crashed, restarts)
	}
	all := count.answered.Load() + count.failed.Load() + count.lost.Load() + count.misrouted.Load()
	tab.must(t, fmt.Sprintf("calls lost of %d under %d crashes", all, crashed), int(count.lost.Load()), 0)
	tab.must(t, "calls misrouted", int(count.misrouted.Load()), 0)
	tab.must(t, "calls answered twice", p.strayed(), 0)
	tab.must(t, "calls that reached a server twice", repeated(t, ledger), 0)
	tab.show("calls that met a crash and were told", "any", fmt.Sprint(count.failed.Load()))

	revive(p)
	p.mustHold(t, tab, before)
}

// revive has the whole fleet run.
func revive(p *program) {
	p.t.Helper()
	for i := range fleet {
		if !eventually(func() bool {
			p.open("box")
			_, failed, _ := p.call("box", fleetName(i), "echo", "{}")
			return !failed
		}) {
			p.t.Errorf("%s does not come back", fleetName(i))
		}
	}
}

func fleetName(i int) string { return fmt.Sprint("s", i) }

// load makes n calls of the fleet, and more until meanwhile is done.
func load(p *program, n int, meanwhile func()) *tally {
	id := rand.Uint64() // of the nonces, which no other load has
	var begun atomic.Int64
	var over atomic.Bool
	count := new(tally)
	var work sync.WaitGroup
	for range 32 {
		work.Go(func() {
			for i := begun.Add(1); i <= int64(n) || !over.Load(); i = begun.Add(1) {
				count.one(p, fleetName(int(i)%fleet), fmt.Sprintf("n-%d-%d-", id, i))
			}
		})
	}
	meanwhile()
	over.Store(true)
	work.Wait()
	return count
}

// lengthOf is that of a file in bytes; 0 if there is none.
func lengthOf(name string) int {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return int(info.Size())
}

// repeated counts the nonces that are in a ledger more than once.
func repeated(t *testing.T, ledger string) (n int) {
	t.Helper()
	text, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		if seen[line] && strings.Contains(line, "nonce") {
			n++
		}
		seen[line] = true
	}
	return n
}

// restart measures how soon a server can be used after a crash, and how soon one that crashes always is refused.
func restart(t *testing.T, tab *table) {
	servers := map[string]string{"bad": "crashstart"}
	n := times(3, 20)
	for i := range n {
		servers[fleetName(i)] = "crash"
	}
	p := start(t, map[string]map[string]string{"box": servers})
	p.greet()
	p.open("box")
	var own, usable, told, refused durations
	for i := range n { // each crashes once: the next restart of the same would be delayed
		server := fleetName(i)
		own = append(own, ownStart(t))
		told = append(told, took(func() { _, _, _ = p.call("box", server, "fault", "{}") }))
		usable = append(usable, p.echo("box", server))
	}
	tab.show("crash to the caller's error, p99", "100 ms", ms(told.percentile(99)))
	tab.show("crash to the next call's answer, p99, beyond the server's own start", "250 ms", ms(usable.percentile(99)-own.percentile(50)))

	call := func() (text string) {
		var failed bool
		var err error
		refused = append(refused, took(func() { text, failed, err = p.call("box", "bad", "echo", "{}") }))
		if !failed || err != nil {
			t.Errorf("a server that cannot start: got %q, %v", text, err)
		}
		return text
	}
	for began, open := time.Now(), false; !open; open = p.circuitOpen("bad") {
		if time.Since(began) > patience {
			t.Fatal("the circuit does not open")
		}
		call()
	}
	refused = nil
	for range times(50, 1000) {
		call()
	}
	if !p.circuitOpen("bad") {
		t.Error("the circuit did not stay open")
	}
	tab.show("answer while the circuit is open, p99", "10 ms", ms(refused.percentile(99)))
}

// ownStart is how long a badchild takes to answer initialize.
func ownStart(t *testing.T) time.Duration {
	t.Helper()
	var c *wiretest.Process
	start := took(func() {
		c = wiretest.Start(t, exec.Command(wiretest.Program("badchild"), "well"), wiretest.Options{})
		c.Initialize(wiretest.Legacy, "{}")
	})
	c.CloseInput()
	c.Exit()
	return start
}
