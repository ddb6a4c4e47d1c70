//go:build linux

package chaos

import (
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
)

// holdings are what a program has.
type holdings struct {
	goroutines, processes, zombies, rss int
	descriptors                         []string
}

func (p *program) holds() holdings {
	// The goroutines come first: the socket that tells their number is made late, is one of the files, and the watch of
	// the configuration is made anew at that time. What comes and goes is there at both ends of a while.
	var files []string
	var goroutines int
	eventually(func() bool {
		goroutines = p.goroutines()
		files = p.files()
		time.Sleep(20 * time.Millisecond)
		return (files == nil || slices.Contains(files, "anon_inode:inotify")) && p.goroutines() == goroutines
	})
	below, zombies := p.below(), 0
	for _, one := range below {
		if one.zombie {
			zombies++
		}
	}
	return holdings{goroutines, len(below) - zombies, zombies, p.size("VmRSS"), files}
}

// mustHold wants the program to come to hold no more than before.
func (p *program) mustHold(t *testing.T, tab *table, before holdings) {
	t.Helper()
	var after holdings
	eventually(func() bool {
		after = p.holds()
		return after.goroutines <= before.goroutines && len(after.descriptors) <= len(before.descriptors) &&
			after.processes <= before.processes && after.zombies <= before.zombies &&
			after.rss <= before.rss*11/10 // the runtime returns memory after a while
	})
	tab.mustNotExceed(t, "goroutines afterwards", after.goroutines, before.goroutines)
	tab.mustNotExceed(t, "descriptors afterwards", len(after.descriptors), len(before.descriptors))
	tab.mustNotExceed(t, "processes afterwards", after.processes, before.processes)
	tab.mustNotExceed(t, "zombies afterwards", after.zombies, before.zombies)
	tab.show("memory afterwards", "at most 10 % more than "+mib(before.rss), mib(after.rss))
	if len(after.descriptors) > len(before.descriptors) {
		t.Logf("open are %q, before %q", after.descriptors, before.descriptors)
	}
}

// files names what it has open.
func (p *program) files() (names []string) {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.cmd.Process.Pid))
	for _, link := range links {
		name, _ := os.Readlink(link)
		names = append(names, name)
	}
	return names
}

// size is one of the sizes of its memory, in bytes.
func (p *program) size(key string) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(text), key+":")
	kb, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	return kb << 10
}

// goroutines is their number as the program's socket tells it.
func (p *program) goroutines() int {
	var text string
	eventually(func() bool { text = p.socket("/metrics"); return text != "" }) // it is made a moment after the start
	_, rest, _ := strings.Cut(text, "\ngo_goroutines ")
	n, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	return n
}

// circuitOpen reports whether the program says so of a server.
func (p *program) circuitOpen(server string) bool {
	var now status.Workbench
	if err := json.Unmarshal([]byte(p.socket("/status")), &now); err != nil {
		return false
	}
	for _, s := range now.Servers() {
		if s.Name == server {
			return s.State == "circuit-open"
		}
	}
	return false
}

// socket reads from the program's socket; "" if it cannot be read.
func (p *program) socket(resource string) string {
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(p.folder, "workbench", fmt.Sprint(p.cmd.Process.Pid, ".sock")))
	}}
	resp, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Get("http://workbench" + resource)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return string(text)
}

// process is what /proc says of a process.
type process struct {
	pid, parent int
	zombie      bool // it has ended, and nobody waited for it
}

// processes are all of this machine that can be seen.
func processes() (all []process) {
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		pid, _ := strconv.Atoi(filepath.Base(folder))
		if one, ok := look(pid); ok {
			all = append(all, one)
		}
	}
	return all
}

// look gives a process, unless it is gone.
func look(pid int) (one process, ok bool) {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		return process{}, false
	}
	parent, _ := strconv.Atoi(fields[1])
	return process{pid: pid, parent: parent, zombie: fields[0] == "Z"}, true
}

// below are the processes below the program: its guard, and the servers below that.
func (p *program) below() (found []process) {
	all := processes()
	parents := []int{p.cmd.Process.Pid}
	for i := 0; i < len(parents); i++ {
		for _, one := range all {
			if one.parent == parents[i] {
				found = append(found, one)
				parents = append(parents, one.pid)
			}
		}
	}
	return found
}

// anyRuns reports whether one of them has not ended.
func anyRuns(some []process) bool {
	return slices.ContainsFunc(some, func(one process) bool {
		now, ok := look(one.pid)
		return ok && !now.zombie
	})
}
