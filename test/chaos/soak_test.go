//go:build linux

package chaos

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"
)

// sample is what a program had at a moment.
type sample struct {
	at time.Time
	holdings
}

// TestSoak loads the program with calls while its servers fail in all ways, for as long as WORKBENCH_SOAK says, and prints
// how what it holds grows by the hour.
func TestSoak(t *testing.T) {
	how := 2 * time.Second
	asked := os.Getenv("WORKBENCH_SOAK")
	if asked != "" {
		var err error
		if how, err = time.ParseDuration(asked); err != nil {
			t.Fatal(err)
		}
	}
	sick := []string{"crash", "partial", "grandchild", "junk", "dup", "unknownid", "badver", "flood", "storm", "stderr"}
	servers := map[string]string{"well": "well"}
	for _, fault := range sick {
		servers[fault] = fault
	}
	p := start(t, map[string]map[string]string{"box": servers})
	p.greet()
	p.open("box")
	end := time.Now().Add(how)
	var work sync.WaitGroup
	count := new(tally)
	for c := range 8 {
		work.Go(func() {
			for i := 0; time.Now().Before(end); i++ {
				count.one(p, "well", fmt.Sprintf("n-%d-%d-", c, i))
				time.Sleep(4 * time.Millisecond) // 2,000 calls a second in all
			}
		})
	}
	work.Go(func() {
		for time.Now().Before(end) {
			_, _, _ = p.call("box", sick[rand.IntN(len(sick))], "fault", "{}")
			p.open("box")
			time.Sleep(min(5*time.Second, how/10))
		}
	})
	var samples []sample
	for time.Now().Before(end) {
		samples = append(samples, sample{time.Now(), p.holds()})
		time.Sleep(max(how/600, 50*time.Millisecond))
	}
	work.Wait()
	warm := samples[len(samples)/5:] // what is made once is made by then
	text := fmt.Sprintf("%d calls of the well server in %s, %d of them failed, %d lost, %d misrouted\n", count.answered.Load()+count.failed.Load(), how, count.failed.Load(), count.lost.Load(), count.misrouted.Load())
	for _, figure := range []struct {
		name  string
		scale float64
		of    func(holdings) int
	}{
		{"memory, MiB", 1 << 20, func(h holdings) int { return h.rss }},
		{"goroutines", 1, func(h holdings) int { return h.goroutines }},
		{"descriptors", 1, func(h holdings) int { return len(h.descriptors) }},
		{"zombies", 1, func(h holdings) int { return h.zombies }},
	} {
		last := warm[len(warm)-1]
		text += fmt.Sprintf("%-12s %8.1f at the end, %+.2f an hour\n", figure.name, float64(figure.of(last.holdings))/figure.scale, slope(warm, figure.of)/figure.scale)
	}
	if asked != "" {
		fmt.Print(text) // of a short time the slopes say nothing
	}
	if n := count.lost.Load() + count.misrouted.Load() + count.failed.Load(); n > 0 {
		t.Errorf("%d calls of the well server were not answered", n)
	}
}

// slope is by how much a figure grows in an hour, by the line of least squares.
func slope(samples []sample, of func(holdings) int) float64 {
	var n, x, y, xx, xy float64
	for _, s := range samples {
		hours, value := s.at.Sub(samples[0].at).Hours(), float64(of(s.holdings))
		n, x, y, xx, xy = n+1, x+hours, y+value, xx+hours*hours, xy+hours*value
	}
	if d := n*xx - x*x; d != 0 {
		return (n*xy - x*y) / d
	}
	return 0
}
