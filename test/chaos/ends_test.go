//go:build linux

package chaos

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// ends ends the program in four ways above four shapes of process trees. Nothing may be left.
func ends(t *testing.T, tab *table) {
	ways := map[string]func(*program){
		"end of input":       func(p *program) { _ = p.in.Close() },
		"SIGTERM":            func(p *program) { _ = p.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGKILL":            func(p *program) { _ = p.cmd.Process.Kill() },
		"SIGKILL of a group": func(p *program) { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) },
	}
	var mu sync.Mutex
	survivors, all := 0, 0
	var polite, stubborn time.Duration
	var group errgroup.Group
	group.SetLimit(6) // they spend their time waiting
	// The processes of each shape, with the guard.
	shapes := map[string]int{"well": 2, "ignoreterm": 2, "family": 3, "daemon": 3}
	for way, end := range ways {
		for shape, size := range shapes {
			for range times(1, 25) {
				p := start(t, map[string]map[string]string{"box": {"s": shape}})
				group.Go(func() error {
					p.greet()
					p.open("box")
					below := p.below()
					if len(below) != size {
						t.Errorf("%s: got %d processes before the end, want %d", shape, len(below), size)
					}
					began := time.Now()
					end(p)
					<-p.exited
					gone := eventually(func() bool { return len(wiretest.Marked(p.mark)) == 0 && !anyRuns(below) })
					took := time.Since(began)
					mu.Lock()
					defer mu.Unlock()
					all++
					if !gone {
						survivors++
						t.Errorf("%s, %s: left %v of %v", way, shape, wiretest.Marked(p.mark), below)
					}
					if shape == "well" {
						polite = max(polite, took)
					} else {
						stubborn = max(stubborn, took)
					}
					return nil
				})
			}
		}
	}
	_ = group.Wait()
	tab.must(t, fmt.Sprintf("processes left after %d ends", all), survivors, 0)
	tab.show("slowest end, of servers that end when asked", "2 s", ms(polite))
	tab.show("slowest end, of those that ignore it or leave others behind", "5 s", ms(stubborn))
}
