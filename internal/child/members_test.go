//go:build unix

package child

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func TestPick(t *testing.T) {
	const mark = 1 << 40
	root := process{pid: 100, ppid: 1, pgid: 100, sid: 100, start: 7}
	stranger := process{pid: 900, ppid: 1, pgid: 900, sid: 900, start: 5}
	tests := []struct {
		name string
		all  []process
		held bool
		pid  int
		want []int
	}{
		{"alone", []process{root, stranger}, true, 100, []int{100}},
		{"dead but not reaped", []process{{pid: 100, sid: 100, start: 7, dead: true}}, true, 100, []int{100}},
		{"descendants", []process{root, {pid: 60, ppid: 200, start: 9}, {pid: 200, ppid: 100, start: 8}, stranger}, true, 100, []int{100, 60, 200}},
		{"orphan in the group", []process{{pid: 200, ppid: 1, pgid: 100, start: 8}}, false, 100, []int{200}},
		{"orphan in the session", []process{{pid: 200, ppid: 1, pgid: 200, sid: 100, start: 8}}, false, 100, []int{200}},
		{"dead orphan", []process{{pid: 200, ppid: 1, pgid: 100, start: 8, dead: true}}, false, 100, nil},
		{"orphan seen before", []process{{pid: 300, ppid: 1, sid: 300, start: 8}}, false, 100, []int{300}},
		{"another with the number of one seen before", []process{{pid: 300, ppid: 1, sid: 300, start: 9}}, false, 100, nil},
		{"orphan with the mark", []process{{pid: 200, ppid: 1, sid: 200, start: 8, mark: mark}}, false, 100, []int{200}},
		{"orphan with another mark", []process{{pid: 200, ppid: 1, sid: 200, start: 8, mark: mark + 1}}, false, 100, nil},
		{"another with our number, its group and child", []process{{pid: 100, ppid: 1, pgid: 100, sid: 100, start: 8}, {pid: 200, ppid: 100, pgid: 100, sid: 100, start: 9}}, false, 100, nil},
		{"not our child any more but alive", []process{root}, false, 100, []int{100}},
		{"never started", []process{{pid: 0}, {pid: 1}, {pid: 2, sid: 0, pgid: 0}, stranger}, false, 0, nil},
		{"never started, marked", []process{{pid: 1}, {pid: 200, ppid: 1, mark: mark}}, false, 0, []int{200}},
		{"ourselves", []process{root, {pid: os.Getpid(), ppid: 100, start: 8}}, true, 100, []int{100}},
		{"being reaped while the others were listed", []process{stranger}, true, 100, []int{100}},
		{"in no list that can be made", nil, true, 100, []int{100}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tree := newTree(&lister{}, mark)
			tree.pid, tree.start, tree.held = test.pid, 7, test.held
			tree.seen[300] = 8
			var got []int
			for _, p := range tree.pick(test.all, test.held) {
				got = append(got, p.pid)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// A process that was reaped while the others were listed is gone.
func TestPickReaped(t *testing.T) {
	tree := newTree(&lister{}, 0)
	tree.pid = 100
	if got := tree.pick(nil, true); got != nil {
		t.Errorf("got %v, want nothing", got)
	}
}

// A process that has the number of another is not sent what was meant for that.
func TestFaultA42_SignalIsNotMisdirected(t *testing.T) {
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p, err := lookupProcess(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	before := p
	before.start--
	before.signal(unix.SIGKILL)
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the other process: got %v, want it to end by itself", err)
	}
}

func TestListIsBegunAfterTheCall(t *testing.T) {
	var list lister
	done := make(chan struct{})
	go func() { // keeps a list in the making most of the time
		defer close(done)
		for range 200 {
			list.processes()
		}
	}()
	for running := true; running; {
		cmd := exec.Command("cat")
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all, err := list.processes()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(all, func(p process) bool { return p.pid == cmd.Process.Pid }) {
			t.Errorf("process %d, started before the call, is not listed", cmd.Process.Pid)
		}
		stdin.Close()
		cmd.Wait()
		select {
		case <-done:
			running = false
		default:
		}
	}
}

func TestSurvivorError(t *testing.T) {
	err := &SurvivorError{PIDs: []int{12, 34}}
	if got, want := err.Error(), "still running after SIGKILL: pid 12, 34"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
