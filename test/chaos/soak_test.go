//go:build linux

package chaos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/calls"
)

// sample is what a program had at a moment.
type sample struct {
	at time.Time
	holdings
}

// maxRecord is how many bytes the files of the record of calls may have.
const maxRecord = 4 << 20

// TestSoak loads the program with calls while its servers fail in all ways and each call is recorded in full, for as
// long as WORKBENCH_SOAK says, and prints each minute what it holds, and how that grows by the hour.
func TestSoak(t *testing.T) {
	how := 2 * time.Second
	asked := os.Getenv("WORKBENCH_SOAK")
	if asked != "" {
		var err error
		if how, err = time.ParseDuration(asked); err != nil {
			t.Fatal(err)
		}
	} else {
		t.Parallel()
	}
	sick := []string{"crash", "partial", "grandchild", "junk", "dup", "unknownid", "badver", "flood", "storm", "stderr"}
	servers := map[string]string{"well": "well"}
	for _, fault := range sick {
		servers[fault] = fault
	}
	p := startWith(t, entry{"record": entry{"mode": "full", "dir": "calls", "maxSize": maxRecord}}, map[string]map[string]string{"box": servers})
	p.greet()
	p.open("box")
	end := time.Now().Add(how)
	var work sync.WaitGroup
	count := new(tally)
	for c := range 8 {
		work.Go(func() {
			for i := 0; time.Now().Before(end); i++ {
				count.one(p, "well", fmt.Sprintf("n-%d-%d-", c, i))
				if i%250 == 0 { // some are a good part of a file, or longer than one
					count.one(p, "well", strings.Repeat("long", 1<<(12+i/250%7)))
				}
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
	largest, told := 0, time.Now()
	for time.Now().Before(end) {
		now := p.holds()
		samples = append(samples, sample{time.Now(), now})
		size := p.recorded()
		largest = max(largest, size)
		if asked != "" && time.Since(told) > time.Minute {
			told = time.Now()
			fmt.Printf("%s  %8d calls, %6.1f MiB, %4d goroutines, %3d descriptors, %8d bytes of records\n", told.Format(time.TimeOnly),
				count.answered.Load(), float64(now.rss)/(1<<20), now.goroutines, len(now.descriptors), size)
		}
		time.Sleep(max(how/600, 50*time.Millisecond))
	}
	work.Wait()
	p.end()
	largest = max(largest, p.recorded())
	last, err := p.lastRecord()
	if largest > maxRecord || largest < 1000 || err != nil || last.Outcome == "" {
		t.Errorf("got %d bytes of records and the last is %+v, %v, want at most %d bytes", largest, last, err, maxRecord)
	}
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
	text += fmt.Sprintf("%-12s %8d bytes at most, %d may be\n", "records", largest, maxRecord)
	if asked != "" {
		fmt.Print(text) // of a short time the slopes say nothing
	}
	if n := count.lost.Load() + count.misrouted.Load() + count.failed.Load(); n > 0 {
		t.Errorf("%d calls of the well server were not answered", n)
	}
}

// recorded is how many bytes the files of the record have.
func (p *program) recorded() (size int) {
	files, _ := os.ReadDir(filepath.Join(p.folder, "calls"))
	for _, file := range files {
		if info, err := file.Info(); err == nil { // one may have been removed
			size += int(info.Size())
		}
	}
	return size
}

// lastRecord reads all that is recorded.
func (p *program) lastRecord() (last calls.Call, err error) {
	files, _ := filepath.Glob(filepath.Join(p.folder, "calls", "*"))
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return last, err
		}
		for line := range bytes.Lines(text) {
			if err := json.Unmarshal(line, &last); err != nil {
				return last, fmt.Errorf("%s: %w", line[:min(len(line), 200)], err)
			}
		}
	}
	return last, nil
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
