package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/status"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

// held is what the program holds at a moment, the processes below it, and how long the well server takes.
type held struct {
	descriptors, goroutines, processes int
	typical                            time.Duration
}

func (b *bed) holds() held {
	// Whatever is made later than the first answer is made by the time that the program can be asked.
	if !eventually(func() bool { return b.goroutines() > 0 }) {
		b.t.Error("the program has no socket to ask it by")
	}
	var h held
	// The watch of the files is made anew a moment after the start. What else is closed and opened anew is there at both
	// ends of a while.
	if !eventually(func() bool {
		before := b.files()
		if before != nil && !slices.Contains(before, "anon_inode:inotify") {
			return false
		}
		h = held{len(before), b.usualGoroutines(), len(wiretest.Marked(b.mark)), b.typical()}
		return b.descriptors() == len(before)
	}) {
		b.t.Error("the program opens and closes files all the time, or watches none")
	}
	return h
}

// goroutines is what the program says of their number; 0 where it cannot be asked.
func (b *bed) goroutines() int {
	_, after, _ := strings.Cut(b.ask("/metrics"), "\ngo_goroutines ")
	n, _ := strconv.Atoi(strings.Fields(after + " 0")[0])
	return n
}

// usualGoroutines is the median of several of their numbers: one that answers this question, or collects the answer, may
// not have begun or be gone already.
func (b *bed) usualGoroutines() int {
	var n [9]int
	for i := range n {
		n[i] = b.goroutines()
	}
	slices.Sort(n[:])
	return n[len(n)/2]
}

// ask reads from the program's socket.
func (b *bed) ask(resource string) string {
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(b.runtime, "workbench", fmt.Sprint(b.PID(), ".sock")))
	}}
	client := http.Client{Transport: transport, Timeout: 2 * time.Minute}
	resp, err := client.Get("http://workbench" + resource)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return string(text)
}

// status is what the program says of itself; nothing as long as it does not answer, as in its first moments.
func (b *bed) status() (w status.Workbench) {
	_ = json.Unmarshal([]byte(b.ask("/status")), &w)
	return w
}

// shows wants the status of the sick server to come to have these pieces.
func (b *bed) shows(pieces ...string) {
	b.t.Helper()
	b.showsOf("sick", pieces...)
}

// showsOf wants the same of any server.
func (b *bed) showsOf(name string, pieces ...string) {
	b.t.Helper()
	text := "the status has no server " + name
	missing := func() string {
		w := b.status()
		for _, server := range w.Servers() {
			if server.Name != name {
				continue
			}
			text = wiretest.JSON(server)
			for _, piece := range pieces {
				if !strings.Contains(text, piece) {
					return piece
				}
			}
			if server.State != "ready" && server.State != "starting" && server.Cause == "" {
				return "a cause"
			}
			return ""
		}
		return "the server " + name
	}
	if !eventually(func() bool { return missing() == "" }) {
		b.t.Errorf("the status is %s, want %q in it", wiretest.Clip(text), missing())
	}
}

// descriptors counts those of the program; 0 where it cannot be told.
func (b *bed) descriptors() int {
	all, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", b.PID()))
	return len(all)
}

// typical is how long the well server takes to answer.
func (b *bed) typical() time.Duration {
	b.t.Helper()
	took := make([]time.Duration, 7)
	for i := range took {
		began := time.Now()
		b.wellAnswers()
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took[len(took)/2]
}

func (b *bed) wellAnswers() {
	b.t.Helper()
	b.answers(b.call("well", "echo", `{"text":"hi"}`), `{"text":"hi"}`)
}

// epilogue is how each case ends. Whether anything outlives the program is for wiretest to say.
func (b *bed) epilogue() {
	b.t.Helper()
	if b.t.Failed() || b.baseline == (held{}) || b.ended() {
		b.secrets()
		return
	}
	b.wellAnswers()
	// Machines are noisy: one round of several in good time is enough, and no server that waits for another has one.
	slow := 20*b.baseline.typical + 500*time.Millisecond
	if !eventually(func() bool { return b.typical() <= slow }) {
		b.t.Errorf("the well server took %v to answer, before it took %v", b.typical(), b.baseline.typical)
	}
	if !eventually(func() bool { return b.descriptors() <= b.baseline.descriptors+b.kept }) {
		b.t.Errorf("the program has %d descriptors, before it had %d: %v", b.descriptors(), b.baseline.descriptors, b.files())
	}
	if !eventually(func() bool { return b.goroutines() <= b.baseline.goroutines }) {
		b.t.Errorf("the program has %d goroutines, before it had %d", b.goroutines(), b.baseline.goroutines)
	}
	b.shows()
	if !eventually(func() bool { return len(wiretest.Marked(b.mark)) <= b.baseline.processes }) {
		b.t.Errorf("there are the processes %v, before there were %d", wiretest.Marked(b.mark), b.baseline.processes)
	}
	b.secrets()
}

// secrets wants none in what was logged and sent.
func (b *bed) secrets() {
	b.t.Helper()
	logged, _ := os.ReadFile(b.path("log"))
	shown := b.ask("/status") + b.ask("/metrics")
	for what, text := range map[string]string{"the log": string(logged), "standard error": b.Stderr(), "the status": shown} {
		if at := strings.Index(text, b.canary); at >= 0 {
			b.t.Errorf("%s has a secret: %s", what, wiretest.Clip(text[max(0, at-200):]))
		}
	}
	for _, entry := range b.Transcript(0) {
		if !entry.Sent && bytes.Contains(entry.Message.Raw, []byte(b.canary)) {
			b.t.Errorf("the client was sent a secret: %s", wiretest.Clip(string(entry.Message.Raw)))
		}
	}
}

// files names what the program has open.
func (b *bed) files() (names []string) {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", b.PID()))
	for _, link := range links {
		name, _ := os.Readlink(link)
		names = append(names, name)
	}
	return names
}

// ended reports whether the program has ended.
func (b *bed) ended() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", b.PID()))
	return err != nil || bytes.Contains(stat, []byte(") Z "))
}

// memory is what a process has of it, or had at most, in bytes; key is VmRSS or VmHWM. It is 0 where it cannot be told.
func memory(pid int, key string) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(text), key+":")
	kb, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	return kb << 10
}

// How much more memory a process may have: where messages are long, and where they are short. The floods of both kinds
// would be more than that, if they were kept.
const (
	much   = 64 << 20
	little = 32 << 20
)

// withinMemory wants a process to have at no time more memory than now and spare, while something is done.
func withinMemory(t *testing.T, pid, spare int, something func()) {
	t.Helper()
	before := memory(pid, "VmRSS")
	something()
	if peak := memory(pid, "VmHWM"); peak > before+spare {
		t.Errorf("the program had %d MiB, before it had %d; want at most %d more", peak>>20, before>>20, spare>>20)
	}
}

// eventually asks until something is so, since processes end and files close without telling, and reports whether it
// became so. It asks less often the longer that takes: asking is work for the program, too.
func eventually(so func() bool) bool {
	pause := 10 * time.Millisecond
	for deadline := time.Now().Add(2 * time.Minute); !so(); pause = min(pause*5/4, 200*time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}
