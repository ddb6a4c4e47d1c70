//go:build linux

package chaos

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// reloads has the configuration changed again and again while servers are called that it leaves as they are, and others
// that come and go with it. The former answer each call and run on.
func reloads(t *testing.T, tab *table) {
	const steady, names = 4, 4
	n, faulty := times(20, 1000), 10 // and each tenth time with a fault
	with := func(changing string) map[string]map[string]string {
		servers := map[string]string{changing: "well"}
		for i := range steady {
			servers[fleetName(i)] = "well"
		}
		return map[string]map[string]string{"box": servers}
	}
	p := start(t, with("r0"))
	p.greet()
	p.open("box")
	pids := func() (all [steady]string) {
		for i := range all {
			all[i], _, _ = p.call("box", fleetName(i), "pid", "{}")
		}
		return all
	}
	// hangUp asks for the file to be read, and waits until the log says what became of it.
	hangUp := func(want string) {
		t.Helper()
		before := p.logged(want)
		_ = p.cmd.Process.Signal(syscall.SIGHUP)
		if !eventually(func() bool { return p.logged(want) > before }) {
			t.Fatalf("the log has no more of %q", want)
		}
	}
	before, strangers, delays := pids(), new(tally), durations{}
	reload := func(i int) {
		server, next := fmt.Sprint("r", (i-1)%names), fmt.Sprint("r", i%names)
		var calls sync.WaitGroup
		for c := range 4 { // some of them are under way when their server goes
			calls.Go(func() { strangers.one(p, server, fmt.Sprintf("n-%d-%d-", i, c)) })
		}
		if i%faulty == 0 {
			if err := os.WriteFile(p.config(), []byte(`{"toolboxes":{"box":`), 0o600); err != nil {
				t.Fatal(err)
			}
			hangUp("has a fault and was not reloaded")
			p.echo("box", server)
		}
		p.configure(with(next))
		began := time.Now()
		hangUp("configuration reloaded")
		delays = append(delays, time.Since(began))
		p.echo("box", next)
		calls.Wait()
	}
	for i := range names {
		reload(i + 1) // what is counted by name is made once
	}
	held := p.holds()

	var over atomic.Bool
	count := new(tally)
	var work sync.WaitGroup
	for c := range 8 {
		work.Go(func() {
			for i := 0; !over.Load(); i++ {
				count.one(p, fleetName(i%steady), fmt.Sprintf("n-%d-%d-", c, i))
				time.Sleep(4 * time.Millisecond) // 2,000 calls a second in all
			}
		})
	}
	for i := range n {
		reload(names + i + 1)
	}
	over.Store(true)
	work.Wait()

	all := count.answered.Load() + count.failed.Load() + count.lost.Load() + count.misrouted.Load()
	tab.must(t, fmt.Sprintf("calls of unchanged servers that failed, of %d during %d reloads", all, n), int(all-count.answered.Load()), 0)
	tab.must(t, "calls of servers that came and went that were lost or misrouted", int(strangers.lost.Load()+strangers.misrouted.Load()), 0)
	tab.show("calls of them that were told that their server is not there", "any", fmt.Sprint(strangers.failed.Load()))
	if after := pids(); after != before {
		t.Errorf("unchanged servers have the pids %v, before they had %v", after, before)
	}
	tab.must(t, "calls answered twice", p.strayed(), 0)
	tab.show("SIGHUP to the new configuration, p99", "any", ms(delays.percentile(99)))
	p.mustHold(t, tab, held)
}

// logged is how often the log has a text.
func (p *program) logged(text string) int {
	log, _ := os.ReadFile(filepath.Join(p.folder, "log"))
	return bytes.Count(log, []byte(text))
}
