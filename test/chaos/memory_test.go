//go:build linux

package chaos

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// spare is how much memory a fault may cost at most.
const spare = 64 << 20

// memory measures what floods cost, and what the neighbour of a server that floods notices.
func memory(t *testing.T, tab *table) {
	floods := []struct{ name, fault string }{
		{"200,000 notifications", "flood"}, {"a line of 100 MB", "big"}, {"a line without end", "endless"}, {"100 MB on stderr", "stderr"},
	}
	for _, flood := range floods[:times(1, len(floods))] { // the bounds of each are in test/faults, and here the figures
		t.Run(flood.name, func(t *testing.T) {
			p := start(t, map[string]map[string]string{"box": {"sick": flood.fault, "well": "well"}})
			p.greet()
			p.open("box")
			calm := neighbour(p, times(50, 500), nil)
			base := p.weigh()
			var long time.Duration
			busy := neighbour(p, times(50, 500), meanwhile(func() {
				long = took(func() { _, _, _ = p.call("box", "sick", "fault", "{}") })
			}))
			grown(t, tab, flood.name, p, base)
			// What the processors are busy with costs the neighbour something too, whoever reads it.
			control := neighbour(p, 1, meanwhile(func() { elsewhere(t, flood.fault, min(long, time.Second)) }))
			tab.show("neighbour's p99 meanwhile; beside a flood that is not ours", "at most 2 × "+ms(calm.percentile(99)),
				ms(busy.percentile(99))+"; "+ms(control.percentile(99)))
		})
	}
	t.Run("a client that reads 1 KB/s", func(t *testing.T) { slowClient(t, tab) })
	t.Run("clients over HTTP that read 1 KB/s", func(t *testing.T) { slowClients(t, tab) })
}

// weigh is the memory of the program, whose peak is counted from now on.
func (p *program) weigh() int {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0) // else from its start, which is more
	return p.size("VmRSS")
}

// grown says by how much the program has grown at most.
func grown(t *testing.T, tab *table, name string, p *program, base int) {
	t.Helper()
	more := p.size("VmHWM") - base
	tab.show("memory for "+name, "at most "+mib(spare), mib(more))
	if more > spare {
		t.Errorf("%s: the program has grown by %s, want at most %s", name, mib(more), mib(spare))
	}
}

// neighbour calls the well server n times, or more until over is closed.
func neighbour(p *program, n int, over <-chan struct{}) (all durations) {
	for {
		all = append(all, p.echo("box", "well"))
		if len(all) < n {
			continue
		}
		select {
		case <-over:
			return all
		default:
			if over == nil {
				return all
			}
		}
	}
}

// meanwhile does something on a goroutine, and closes the channel at its end.
func meanwhile(something func()) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		defer close(over)
		something()
	}()
	return over
}

// elsewhere has badchilds flood this process for a while.
func elsewhere(t *testing.T, fault string, long time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	for ctx.Err() == nil {
		cmd := exec.CommandContext(ctx, wiretest.Program("badchild"), fault)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Error(err)
			return
		}
		cmd.Stdout = &reply{in: in}
		cmd.Stderr = struct{ io.Writer }{io.Discard} // not a file, so that it is read
		if err := cmd.Start(); err != nil {
			return // it is over
		}
		_, _ = io.WriteString(in, wiretest.Request("1", "tools/call", `{"name":"fault"}`)+"\n")
		_ = cmd.Wait() // it ends with its input, or is killed
	}
}

// reply takes what a badchild writes, and ends its input at the end of its reply.
type reply struct{ in io.Closer }

func (r *reply) Write(p []byte) (int, error) {
	if bytes.HasSuffix(p, []byte("}]}}\n")) {
		_ = r.in.Close()
	}
	return len(p), nil
}

// slowClient asks for 100 MB and reads a kilobyte a second. Writing to the program may wait, so nobody waits for it.
func slowClient(t *testing.T, tab *table) {
	p := start(t, map[string]map[string]string{"box": {"well": "well"}})
	p.out = bufio.NewReaderSize(p.out, 1<<10)
	hear := func() {
		if _, err := p.out.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	p.say(wiretest.Request("1", "initialize", hello))
	hear()
	p.say(wiretest.Request("2", "tools/call", `{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"box"}}`))
	hear()
	base := p.weigh()
	asking := meanwhile(func() {
		long := fmt.Sprintf(`{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"echo","arguments":{"x":%q}}}`, strings.Repeat("x", 1<<20))
		for i := range 100 {
			p.say(wiretest.Request(fmt.Sprint(i+10), "tools/call", long))
		}
	})
	piece := make([]byte, 1<<10)
	for range times(2, 20) {
		if _, err := p.out.Read(piece); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
	}
	grown(t, tab, "a client that reads 1 KB/s", p, base)
	_ = p.cmd.Process.Kill()
	<-asking
	go p.receive()
}
