//go:build linux

package chaos

import (
	"fmt"
	"sync"
	"testing"
)

// hanging measures what the well servers notice of 50 that hang at their start: some in a toolbox that is open from the
// beginning, some beside a well one, and none beside others.
func hanging(t *testing.T, tab *table) {
	boxes := map[string]map[string]string{"marked": {}, "mixed": {"a": "well"}, "good": {"a": "well", "b": "well"}}
	for i := range 50 {
		boxes[[]string{"marked", "mixed"}[i%2]][fmt.Sprintf("h%d", i)] = "hanginit"
	}
	greeted, opened, used := durations{}, durations{}, durations{}
	for range times(1, 20) {
		p := start(t, boxes)
		go p.receive()
		if _, err := p.ask("ping", ""); err != nil { // the program is there; how long it takes is the system's
			t.Fatal(err)
		}
		greeted = append(greeted, took(p.initialize))
		var waiting sync.WaitGroup
		waiting.Go(func() { _, _ = p.ask("tools/list", "") }) // waits for the marked
		waiting.Go(func() {
			_, _ = p.ask("tools/call", `{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"mixed"}}`)
		})
		opened = append(opened, took(func() { p.open("good") }))
		used = append(used, p.echo("mixed", "a"))
		_ = p.in.Close()
		<-p.exited
		waiting.Wait()
	}
	tab.show("initialize with 50 servers that hang, p99", "20 ms", ms(greeted.percentile(99)))
	tab.show("open of the well servers meanwhile, p99", "1 s", ms(opened.percentile(99)))
	tab.show("call of a well server in the toolbox of 25 that hang, p99", "1 s", ms(used.percentile(99)))
}
