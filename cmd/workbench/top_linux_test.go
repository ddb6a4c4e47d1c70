package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
)

// On a terminal top shows servers, and calls as they end, follows the terminal's size, and leaves the terminal as it
// was, however it ends.
func TestTop(t *testing.T) {
	t.Parallel()
	environ, _ := statusBed(t)
	self, err := os.Executable()
	do(t, err)
	in, send := io.Pipe()
	served := make(chan int, 1)
	go func() {
		served <- run(context.Background(), []string{"serve", "--log-level", "off"}, cli.Streams{In: in, Out: io.Discard, Err: io.Discard}, environ)
	}()
	defer func() {
		send.Close()
		<-served
	}()
	ask := func(lines ...string) {
		_, err := io.WriteString(send, strings.Join(lines, "\n")+"\n")
		do(t, err)
	}
	ask(greeting, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"flows"}}}`)
	for name, end := range map[string]func(s *screen, p *os.Process) error{
		"q":      func(s *screen, _ *os.Process) error { _, err := s.master.WriteString("q"); return err },
		"ctrl+c": func(s *screen, _ *os.Process) error { _, err := s.master.WriteString("\x03"); return err },
		"killed": func(_ *screen, p *os.Process) error { return p.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScreen(t, 40)
			shows := func(want string) {
				t.Helper()
				for end := time.Now().Add(late); !strings.Contains(escapes.ReplaceAllString(s.shown.String(), ""), want); time.Sleep(5 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("got %q, want %q on the terminal", s.shown.String(), want)
					}
				}
			}
			before, err := unix.IoctlGetTermios(int(s.slave.Fd()), unix.TCGETS)
			do(t, err)
			cmd := exec.Command(self, "top")
			cmd.Env = append(environ[:len(environ):len(environ)], "PATH="+os.Getenv("PATH"), "TERM=xterm-256color", asProgram+"=yes", "GORACE=atexit_sleep_ms=0")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = s.slave, s.slave, s.slave
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // so that it hears of the terminal's size
			do(t, cmd.Start())
			defer cmd.Process.Kill()
			shows("flows/broken")
			do(t, unix.IoctlSetWinsize(int(s.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}))
			shows("4 waiting 0")
			_, err = s.master.WriteString("2")
			do(t, err)
			ask(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"flows","tool_name":"workflow_get","arguments":{"id":"none-such"}}}}`)
			shows("tool_error")
			_, err = s.master.WriteString("5")
			do(t, err)
			shows("flows/workflow/workflow_get")
			do(t, end(s, cmd.Process))
			if err := cmd.Wait(); err != nil {
				t.Errorf("it ended with %v, want exit code 0", err)
			}
			after, err := unix.IoctlGetTermios(int(s.slave.Fd()), unix.TCGETS)
			do(t, err)
			if *after != *before {
				t.Errorf("got the terminal with %+v, want %+v as it was", after, before)
			}
			text := s.text()
			if in, out := strings.Index(text, "\x1b[?1049h"), strings.LastIndex(text, "\x1b[?1049l"); in < 0 || out < in || strings.Contains(text[out:], "workbench top") {
				t.Errorf("got %q, want another screen, which is left at the end", text)
			}
			if strings.LastIndex(text, "\x1b[?25h") < strings.LastIndex(text, "\x1b[?25l") {
				t.Errorf("got %q, want the cursor shown again", text)
			}
		})
	}
}
