//go:build linux

package page

import (
	"bufio"
	"flag"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var measured = flag.Bool("measure", false, "measure the page: its first paint, the delay of calls at 1,000 a second, and frames while 10,000 calls scroll")

// figures print the median and the worst of some times in milliseconds.
func figures(t *testing.T, what string, all []float64, goal float64) {
	t.Helper()
	slices.Sort(all)
	t.Logf("%-52s median %.0f ms, worst %.0f ms of %d (goal %.0f ms)", what, all[len(all)/2], all[len(all)-1], len(all), goal)
}

// TestMeasure prints figures and fails for none: they are the machine's as much as the page's.
func TestMeasure(t *testing.T) {
	if !*measured {
		t.Skip("go test ./test/page -run TestMeasure -v -args -measure")
	}
	const perSecond, calls = 1000, 10000
	w := newWorld(t, "")
	w.write(configOf(map[string]any{"one": server("tools=echo", `tool={"name":"probe","inputSchema":{"type":"object"}}`)}))
	cmd := exec.Command(program, "serve", "--log-level", "off")
	cmd.Env, cmd.Dir = w.environ(), w.dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	say := func(id, method, params string) {
		if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0"%s,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
			t.Error(err)
		}
	}
	use := func(id, tool string) {
		say(`,"id":`+id, "tools/call", `{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"`+tool+`","arguments":{}}}`)
	}
	answered := make(chan time.Time, 100) // of probes
	opened := make(chan bool, 1)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			switch line := lines.Text(); {
			case strings.Contains(line, `"id":"probe`):
				answered <- time.Now()
			case strings.Contains(line, `"id":"open"`):
				opened <- true
			}
		}
	}()
	say(`,"id":0`, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1"}}`)
	say("", "notifications/initialized", "{}")
	say(`,"id":"open"`, "tools/call", `{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"box"}}`)
	<-opened

	tb := w.visit(w.ui())
	tb.sees("main h1", "Servers")
	var paints []float64
	for range 10 {
		tb.do(chromedp.Reload())
		tb.wait("it is painted", `performance.getEntriesByName("first-contentful-paint").length > 0 && document.querySelector("main h1")`)
		paints = append(paints, eval[float64](tb, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
	}
	figures(t, "first paint", paints, 200)

	tb.show("calls")
	eval[any](tb, `(() => { const f = document.querySelector("main input[type=search]"); f.value = "probe"; f.oninput();
		window.shown = []; let n = 0; const look = () => { const now = document.querySelectorAll(".rows .call").length; for (; n < now; n++) shown.push(Date.now()); requestAnimationFrame(look); }; look(); return 1 })()`)
	var probes []time.Time
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	began := time.Now()
	for i := 0; i < calls; <-tick.C {
		if len(probes) < i/500 {
			probes = append(probes, time.Time{})
			use(fmt.Sprintf(`"probe%d"`, len(probes)), "probe")
		}
		for n := 0; n < perSecond/100 && i < calls; n++ {
			i++
			use(fmt.Sprint(i), "echo")
		}
	}
	rate := float64(calls) / time.Since(began).Seconds()
	for i := range probes {
		probes[i] = <-answered
	}
	tb.wait("all probes are shown", fmt.Sprintf("shown.length >= %d", len(probes)))
	var delays []float64
	for i, at := range eval[[]int64](tb, "shown") {
		delays = append(delays, float64(at-probes[i].UnixMilli()))
	}
	figures(t, fmt.Sprintf("from the answer to the page at %.0f calls a second", rate), delays, 300)

	eval[any](tb, `(() => { const f = document.querySelector("main input[type=search]"); f.value = ""; f.oninput(); return 1 })()`)
	tb.wait("there are all calls", fmt.Sprintf(`Number(document.querySelector(".scroller").getAttribute("aria-rowcount")) >= %d`, calls))
	t.Log(eval[string](tb, `document.querySelector(".sub").textContent`))
	figures(t, fmt.Sprintf("a frame while %d calls scroll", calls), eval[[]float64](tb, `new Promise((done) => {
		const s = document.querySelector(".scroller"), all = []; let last = performance.now();
		const step = (now) => { all.push(now - last); last = now; s.scrollTop += 1200; all.length < 300 ? requestAnimationFrame(step) : done(all); };
		requestAnimationFrame(step); })`), 17)
}
