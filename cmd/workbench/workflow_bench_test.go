package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkWorkflowServe measures the program as clients meet it: from the start of "workbench workflow serve" to its
// first reply, and the memory it holds after it has listed the workflows (rss-kB, Linux only).
func BenchmarkWorkflowServe(b *testing.B) {
	program := filepath.Join(b.TempDir(), "workbench")
	build := exec.Command("go", "build", "-trimpath", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n"
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workflow_list","arguments":{}}}` + "\n"
	for _, door := range []struct {
		name string
		args []string
		list string
	}{
		{"mcp", []string{"workflow", "serve"}, list},
		{"bare", []string{"workflow", "serve", "--bare"}, `{"jsonrpc":"2.0","id":2,"method":"workflow_list"}` + "\n"},
	} {
		b.Run(door.name, func(b *testing.B) {
			var times []time.Duration
			rss := 0
			for b.Loop() {
				start := time.Now()
				cmd := exec.Command(program, door.args...)
				cmd.Dir = b.TempDir()
				in, out := pipes(b, cmd)
				if err := cmd.Start(); err != nil {
					b.Fatal(err)
				}
				ask(b, in, out, begin)
				times = append(times, time.Since(start))
				ask(b, in, out, door.list)
				rss = max(rss, residentKB(cmd.Process.Pid))
				if err := in.Close(); err != nil {
					b.Fatal(err)
				}
				if err := cmd.Wait(); err != nil {
					b.Fatal(err)
				}
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(rss), "rss-kB")
		})
	}
}

func pipes(b *testing.B, cmd *exec.Cmd) (io.WriteCloser, *bufio.Reader) {
	b.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	return in, bufio.NewReader(out)
}

func ask(b *testing.B, in io.Writer, out *bufio.Reader, request string) {
	b.Helper()
	if _, err := io.WriteString(in, request); err != nil {
		b.Fatal(err)
	}
	if answer, err := out.ReadString('\n'); err != nil || !strings.Contains(answer, `"result"`) {
		b.Fatalf("got %q, %v, want a result", answer, err)
	}
}

// residentKB reads the memory of a process, 0 where the system does not tell.
func residentKB(pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kB := 0
	if _, err := fmt.Sscan(rest, &kB); err != nil {
		return 0
	}
	return kB
}
