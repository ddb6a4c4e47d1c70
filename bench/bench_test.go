package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/calls"
)

// compiled is what the first test that needs it has built for all; TestMain removes it.
var compiled struct {
	sync.Once
	programs
	clean func()
	err   error
}

// built compiles workbench for the tests. What else is started is the program of the tests, see TestMain.
func built(t testing.TB) programs {
	t.Helper()
	if testing.Short() {
		t.Skip("builds workbench")
	}
	c := &compiled
	c.Do(func() { c.programs, c.clean, c.err = build(context.Background()) })
	if c.err != nil {
		t.Fatal(c.err)
	}
	return c.programs
}

// bounded ends what a test starts if it does not end by itself, so that the driver waits for no answer for ever.
func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// small is a run that shows that everything is measured, not what comes out.
func small(p programs, only string) *bench {
	return &bench{
		programs: p,
		plan: plan{rounds: 2, kindRounds: 1, alike: 1, sequence: effort{calls: 1}, kindSequence: effort{calls: 1}, openings: 1, weighed: 1, crowd: effort{calls: 1}, width: 2, series: 1, starts: 1, counted: 8, active: 3, resting: 5, turns: 3, conversations: 5, tools: 50, found: 60, largest: 10_000,
			servers: []int{1, 150}, growTools: []int{5, 20}, growSessions: []int{2, 5}},
		only: regexp.MustCompile(only),
		say:  func(string) {},
	}
}

// TestRun measures everything with few calls and checks that each row has all of its figures.
func TestRun(t *testing.T) {
	t.Parallel()
	p := built(t)
	b := small(p, "")
	const n = 1 // more say the same
	b.rounds = n
	b.peers = []string{`"` + p.self + `" relay -- $BENCH_CHILD`}
	if err := b.run(bounded(t)); err != nil {
		t.Fatal(err)
	}
	type figures [columns]int
	perRound := figures{p50: n, p99: n}
	call := figures{p50: n, p99: n, rate: n}
	counted := figures{p50: n, p99: n, rate: n, allocs: 1}
	weighed, crowded := figures{}, figures{}
	if runtime.GOOS == "linux" {
		call[cpu], counted[cpu], weighed[memory], crowded[memory] = n, n, n, 1
	}
	peer := filepath.Base(p.self)
	want := make(map[string]figures)
	for _, a := range answers() {
		want[a.label+"/"+directFront] = call
		want[a.label+"/"+peer] = call
		want[a.label+"/"+typedHTTPFront], want[a.label+"/"+httpFront] = call, call
		for _, front := range []string{relayFront, typedFront, nameFront, useFront} {
			want[a.label+"/"+front] = counted
		}
	}
	for _, mode := range []calls.Mode{calls.Off, calls.Meta, calls.Full} {
		for _, a := range []string{"200 B", "100 KB"} {
			want[recordWhat(a)+"/"+recordFront(mode)] = counted
		}
	}
	passed := figures{p50: n, p99: n, rate: n}
	for _, front := range []string{directFront, goFront, httpFront} {
		want[throughWhat+"/"+front] = passed
	}
	if b.report.find(throughWhat, nginxFront) != nil { // where it is installed
		want[throughWhat+"/"+nginxFront] = passed
	}
	kind := figures{p50: n, p99: n}
	kind[cpu] = call[cpu]
	for _, k := range kinds() {
		for _, s := range kindSizes() {
			if s.size > b.largest {
				continue
			}
			_, what := kindCall(k.name, s.label)
			want[what+"/"+relayFront], want[what+"/"+nameFront], want[what+"/"+useFront] = kind, kind, kind
		}
	}
	for _, d := range b.dimensions() {
		for _, n := range d.ns {
			for _, step := range steps() {
				want[growthWhat(d, n, step)+"/"+nameFront] = figures{p50: 1}
			}
			called := figures{p50: 1, p99: 1}
			called[memory] = crowded[memory]
			want[growthWhat(d, n, "call")+"/"+nameFront] = called
		}
	}
	for _, front := range []string{directFront, relayFront, typedFront, nameFront, markedFront, typedHTTPFront, httpFront, peer} {
		want[listWhat+"/"+front] = perRound
	}
	want[firstFindWhat+"/"+nameFront] = figures{p50: 1, p99: 1}
	searched, told := figures{p50: 1, p99: 1, tokens: 1}, figures{p50: n, p99: n, tokens: n}
	if runtime.GOOS == "linux" {
		searched[memory] = 1
		want[findWhat+"/"+unsearched] = figures{memory: 1}
	}
	want[findWhat+"/"+nameFront] = searched
	want[pageWhat+"/"+linesFront], want[pageWhat+"/"+grepFront], want[pageWhat+"/"+pathFront] = told, told, told
	for _, front := range []string{trivialFront, nameFront, workflowFront} {
		want[startWhat+"/"+front] = figures{p50: 1, p99: 1}
	}
	want[checkWhat+"/"+nameFront] = figures{p50: 1, p99: 1}
	want[pinsWhat+"/"+nameFront], want[pinsWhat+"/"+holdFront] = perRound, figures{p50: n, p99: n, allocs: 1}
	if runtime.GOOS == "linux" {
		want[openedWhat+"/"+nameFront], want[openedWhat+"/"+sandboxFront] = figures{p50: 1, p99: 1}, figures{p50: 1, p99: 1}
	}
	want[idleWhat+"/"+nameFront], want[idleWhat+"/"+workflowFront] = weighed, weighed
	want[openWhat+"/"+nameFront], want[openWhat+"/"+guardProcess] = weighed, weighed
	want[activeWhat(3)+"/"+httpFront], want[restingWhat(5)+"/"+httpFront] = crowded, crowded
	want[turnWhat+"/"+syncName] = figures{p50: 1, p99: 1}
	want[turnWhat+"/"+sqliteName], want[listedWhat(5)+"/"+sqliteName] = figures{p50: 1, p99: 1}, figures{p50: 1, p99: 1}
	want[nextWhat+"/"+memoryName], want[nextWhat+"/"+sqliteName] = figures{p50: 1, p99: 1}, figures{p50: 1, p99: 1}
	for _, r := range b.report.rows {
		name := r.what + "/" + r.front
		var got figures
		for c, values := range r.figures {
			got[c] = len(values)
			for _, v := range values {
				if v < 0 || v == 0 && column(c) != allocs {
					t.Errorf("%s: got %s %v, want more", name, headings()[c], values)
				}
			}
		}
		wanted, ok := want[name]
		delete(want, name)
		switch {
		case r.what == everythingWhat: // where it is installed
		case !ok:
			t.Errorf("%s: got a row that is not expected", name)
		case got != wanted:
			t.Errorf("%s: got %v figures in the columns, want %v", name, got, wanted)
		}
	}
	for name := range want {
		t.Errorf("%s: got no row", name)
	}
	if runtime.GOOS == "linux" {
		// The driver does the same for both; what differs is the front's.
		direct, typed := median(b.report.find("1 MB", directFront).figures[cpu]), median(b.report.find("1 MB", typedFront).figures[cpu])
		if typed < 5*direct {
			t.Errorf("got %v µs of processor time in the typed front and %v in the server alone, want a multiple", typed, direct)
		}
	}
	relayed, typed := b.report.find("200 B", relayFront).figures[allocs][0], b.report.find("200 B", typedFront).figures[allocs][0]
	if relayed > 10 || typed < 100 {
		t.Errorf("got %v allocations in the relay and %v in the typed front, want next to none, and those of all the decoding", relayed, typed)
	}
}

func TestOnly(t *testing.T) {
	t.Parallel()
	b := small(built(t), "^1 MB/(direct|relay)$")
	if err := b.run(bounded(t)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range b.report.rows {
		got = append(got, r.what+"/"+r.front)
	}
	if want := "1 MB/direct 1 MB/relay"; strings.Join(got, " ") != want {
		t.Errorf("got rows %q, want %q", got, want)
	}
}

// TestProofOfStarts checks that the proof that nothing is started too soon can fail, in both of its parts.
func TestProofOfStarts(t *testing.T) {
	t.Parallel()
	b := small(built(t), "")
	marks := t.TempDir()
	path, err := b.crowdedConfig(t.TempDir()) // whose servers leave their marks somewhere else
	if err != nil {
		t.Fatal(err)
	}
	fronts := []front{{name: nameFront, argv: []string{b.workbench, "serve", "--config", path, "--log-level", "error"}}}
	if err := proveLazy(bounded(t), fronts, marks, 0); err == nil || !strings.Contains(err.Error(), "left 0 marks") {
		t.Errorf("got error %v, want one for the marks that are missing", err)
	}
	if err := os.WriteFile(filepath.Join(marks, "started-1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := proveLazy(bounded(t), fronts, marks, 0); err == nil || !strings.Contains(err.Error(), "1 servers were started before") {
		t.Errorf("got error %v, want one for the mark that is too many", err)
	}
}

// TestFaultNamesTheFront checks that what a front says on standard error is part of the error.
func TestFaultNamesTheFront(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := front{name: "some front", argv: []string{self, "relay"}}
	_, err = f.begin(bounded(t))
	for _, want := range []string{"some front: ", "relay needs the command of a server"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q in it", err, want)
		}
	}
}

// What a front says at its end, such as why it ends, is told with the fault of a request to it.
func TestFaultHasTheLastWords(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := small(programs{}, "")
	fronts := []front{{name: "some front", argv: []string{self, "parting"}}}
	refused := errors.New("no such tool")
	for name, ask := range map[string]func(*conversation, string) (*request, error){
		"refused when asked":    func(*conversation, string) (*request, error) { return nil, refused },
		"refused when measured": func(*conversation, string) (*request, error) { return &request{}, nil },
	} {
		err := b.inTurns(bounded(t), 1, fronts, []string{"what"}, ask, func(cell, *row) error { return refused })
		for _, want := range []string{"some front: ", "no such tool", "the last words of a front"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got error %v, want %q in it", name, err, want)
			}
		}
	}
}

func TestChild(t *testing.T) {
	ask := func(o childOptions, lines ...string) []string {
		t.Helper()
		var out bytes.Buffer
		c, err := newChild(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.serve(strings.NewReader(strings.Join(lines, "\n")+"\n"), &out); err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	}
	for _, a := range answers() {
		t.Run(a.tool, func(t *testing.T) {
			got := ask(childOptions{}, fmt.Sprintf(`{"jsonrpc":"2.0","id":"x7","method":"tools/call","params":{"name":%q,"arguments":{}}}`, a.tool))
			if len(got) != 1 || !json.Valid([]byte(got[0])) || !strings.HasPrefix(got[0], `{"jsonrpc":"2.0","id":"x7","result":`) {
				t.Fatalf("got %d lines, the first %s", len(got), clip([]byte(got[0])))
			}
			_, text, _ := strings.Cut(got[0], `"text":"`)
			if text, _ = strings.CutSuffix(text, `"}]}}`); len(text) != a.size {
				t.Errorf("got a text of %d bytes, want %d", len(text), a.size)
			}
		})
	}
	t.Run("list", func(t *testing.T) {
		got := ask(childOptions{tools: 17}, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		var r struct{ Tools []json.RawMessage }
		if err := decode([]byte(got[0]), &r); err != nil || len(r.Tools) != 20 {
			t.Errorf("got %d tools and error %v, want 20", len(r.Tools), err)
		}
	})
	t.Run("others", func(t *testing.T) {
		got := ask(childOptions{},
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"other"}}`,
			`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		want := []string{
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found"}}`,
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"there is no tool other"}}`,
			`{"jsonrpc":"2.0","id":3,"result":{}}`,
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
	t.Run("mute", func(t *testing.T) {
		if got := ask(childOptions{mute: true}, `{"jsonrpc":"2.0","id":3,"method":"ping"}`); strings.Join(got, "") != "" {
			t.Errorf("got %q, want nothing", got)
		}
	})
}

// TestRelay has a server answer in the opposite order, under the relay's ids.
func TestRelay(t *testing.T) {
	serverSide, relaySide, err := pipePairs() // the server writes to in and reads from out
	if err != nil {
		t.Fatal(err)
	}
	clientSide, front, err := pipePairs()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- new(relay).run(front.in, front.out, pipes{in: relaySide.out, out: relaySide.in})
		front.close()
	}()
	lines := bufio.NewScanner(serverSide.out)
	read := func() string { lines.Scan(); return lines.Text() }
	send := func(f *os.File, line string) {
		if _, err := io.WriteString(f, line+"\n"); err != nil {
			t.Error(err)
		}
	}
	replies := bufio.NewScanner(clientSide.out)
	for _, round := range []string{"numbers given", "numbers given again"} {
		send(clientSide.in, `{"jsonrpc":"2.0","id":"a","method":"first"}`)
		send(clientSide.in, `{"jsonrpc":"2.0","id":99999999999,"method":"second"}`)
		send(clientSide.in, `{"jsonrpc":"2.0","method":"notifications/some"}`)
		for _, want := range []string{`{"jsonrpc":"2.0","id":0,"method":"first"}`, `{"jsonrpc":"2.0","id":1,"method":"second"}`, `{"jsonrpc":"2.0","method":"notifications/some"}`} {
			if got := read(); got != want {
				t.Errorf("%s: the server got %s, want %s", round, got, want)
			}
		}
		// In this order the numbers are free again as they were.
		send(serverSide.in, `{"jsonrpc":"2.0","id":1,"result":{"id":5}}`)
		send(serverSide.in, `{"jsonrpc":"2.0","id":0,"result":{}}`)
		for _, want := range []string{`{"jsonrpc":"2.0","id":99999999999,"result":{"id":5}}`, `{"jsonrpc":"2.0","id":"a","result":{}}`} {
			if replies.Scan(); replies.Text() != want {
				t.Errorf("%s: the client got %s, want %s", round, replies.Text(), want)
			}
		}
	}
	_ = clientSide.in.Close()
	_ = serverSide.in.Close()
	if err := <-ended; err != nil {
		t.Errorf("got error %v at the end", err)
	}
	_, _, _ = clientSide.out.Close(), serverSide.out.Close(), relaySide.in.Close()
}

// BenchmarkInProcess is for profiles: go test ./bench -run '^$' -bench 'InProcess/workbench$/1_MB' -cpuprofile cpu.prof
func BenchmarkInProcess(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	p := programs{self: self, dir: b.TempDir()}
	for _, run := range []struct {
		name   string
		record calls.Mode
	}{{nameFront, calls.Off}, {nameFront, calls.Meta}, {nameFront, calls.Full}, {useFront, calls.Off}, {useFront, calls.Meta}, {useFront, calls.Full}} {
		name, p := run.name, p
		p.record = run.record
		for _, a := range answers() {
			b.Run(name+"/"+a.label+"/record="+string(run.record), func(b *testing.B) {
				c, f, err := p.beginHere(b.Context(), name, p.child())
				if err != nil {
					b.Fatal(err)
				}
				defer c.close() // what comes after the calls is of no interest
				q, err := answerOf(c, f.way, a.label)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				b.ResetTimer()
				if _, _, err := c.Crowd(q, 1, effort{calls: b.N}); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
			})
		}
	}
}
