package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

// screen is a pseudo terminal, and what was written to it.
type screen struct {
	master, slave *os.File
	shown         syncBuffer
	drained       chan struct{}
}

// newScreen opens one that is so many columns wide.
func newScreen(t *testing.T, columns uint16) *screen {
	t.Helper()
	s := &screen{drained: make(chan struct{})}
	s.master, s.slave = openTerminal(t)
	do(t, unix.IoctlSetWinsize(int(s.slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: columns}))
	go func() {
		defer close(s.drained)
		_, err := io.Copy(&s.shown, s.master)
		if err != nil && !errors.Is(err, syscall.EIO) && !errors.Is(err, os.ErrClosed) { // EIO is the end of a terminal
			t.Errorf("read the terminal: %v", err)
		}
	}()
	return s
}

// text is all that was shown, once nobody writes any more.
func (s *screen) text() string {
	s.slave.Close()
	<-s.drained
	return strings.ReplaceAll(s.shown.String(), "\r\n", "\n")
}

// cut is what a terminal does not wrap: how servers stand that take their time, and how far a command is.
var cut = regexp.MustCompile(`(?s)\x1b\[\?7l.*?\x1b\[\?7h`)

var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

// What commands print in columns fits the terminal, however wide it is, and is coloured where the user and the terminal
// allow.
func TestTerminals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := filepath.Join(dir, "workbench-config.json")
	do(t, os.WriteFile(config, []byte(`{"toolboxes": {"a-toolbox-with-a-name": {"mcpServers": {"workflow": {"builtin": "workflow"}, "off": {"command": "cat", "disabled": true,
		"env": {"K": "${secret:A_SECRET_WITH_A_LONG_NAME}"}}}}}}`), 0o600))
	do(t, os.WriteFile(filepath.Join(dir, "other.json"), []byte(`{"mcpServers": {"files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv/some/where"]}}}`), 0o600))
	environ := []string{"HOME=" + dir, "WORKBENCH_CONFIG=" + config, "TERM=xterm-256color"}
	on := func(columns uint16, environ []string, args ...string) string {
		t.Helper()
		s := newScreen(t, columns)
		if code := run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: s.slave, Err: s.slave}, environ); code != cli.ExitDone {
			t.Fatalf("workbench %q: got exit code %d and %s", args, code, s.text())
		}
		return s.text()
	}
	on(80, environ, "token", "create", "a-client-of-the-gateway", "--user", "ada.lovelace@example.org")
	for _, columns := range []uint16{40, 80, 200} {
		for _, args := range [][]string{
			{"tools"}, {"tools", "--offline"}, {"prompts"}, {"find", "list workflows", "--explain"}, {"index", "a-toolbox-with-a-name"}, {"status"}, {"token", "list"}, {"secret", "list"},
			{"conversations", "list"}, {"runs", "list"}, {"workflow", "variables", "find-bug"}, {"import", filepath.Join(dir, "other.json"), "--dry-run"},
		} {
			got := escapes.ReplaceAllString(cut.ReplaceAllString(on(columns, environ, args...), ""), "")
			if strings.TrimSpace(got) == "" {
				t.Errorf("workbench %q printed nothing", args)
			}
			for line := range strings.Lines(got) {
				line = strings.TrimSuffix(line, "\n")
				if len([]rune(line)) > int(columns) && !strings.Contains(line, dir) && !strings.Contains(line, "tokens") {
					t.Errorf("workbench %q on %d columns: a line is wider: %s", args, columns, line)
				}
			}
		}
	}
	const green = "\x1b[32mok\x1b[0m"
	for name, test := range map[string]struct {
		environ []string
		want    bool
	}{
		"a terminal":      {nil, true},
		"NO_COLOR":        {[]string{"NO_COLOR=1"}, false},
		"NO_COLOR, empty": {[]string{"NO_COLOR="}, true},
		"a dumb terminal": {[]string{"TERM=dumb"}, false},
	} {
		got := on(80, append(environ[:3:3], test.environ...), "check")
		if strings.Contains(got, green) != test.want || !test.want && strings.Contains(got, "\x1b") {
			t.Errorf("%s: got %q, want colours: %v", name, got, test.want)
		}
	}
	var out bytes.Buffer
	if run(t.Context(), []string{"check"}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out}, environ); strings.Contains(out.String(), "\x1b") {
		t.Errorf("in a pipe: got %q, want no colours", &out)
	}
}

// The text of a result cannot have a terminal do anything; in a pipe it is as the server sent it, as mistake 48 shows.
func TestResultOnATerminal(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "workbench-config.json")
	do(t, os.WriteFile(config, []byte(`{"toolboxes": {"box": {"mcpServers": {"s": {"command": `+wiretest.JSON(wiretest.Program("fakeserver"))+`}}}}}`), 0o600))
	s := newScreen(t, 80)
	args := []string{"call", "box/s/result", `{"result": {"content": [{"type": "text", "text": "\u001b[2Jred\u001b[31m \u202eend"}]}}`}
	if code := run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: s.slave, Err: s.slave}, []string{"HOME=" + dir, "WORKBENCH_CONFIG=" + config, "TERM=xterm"}); code != cli.ExitDone {
		t.Errorf("got exit code %d", code)
	}
	if got := s.text(); !strings.Contains(got, "red end\n") || strings.Contains(got, "\x1b[2J") {
		t.Errorf("got %q, want the text without what it would do", got)
	}
}

// A dumb terminal gets the lines of status --watch, which has nothing to redraw there, and no escape sequence.
func TestWatchOnADumbTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for term, drawn := range map[string]bool{"dumb": false, "xterm": true} {
		s := newScreen(t, 80)
		limit := 3 * time.Second
		if drawn {
			limit = 2 * time.Minute
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		go func() {
			for ctx.Err() == nil && !strings.Contains(s.shown.String(), "\x1b") {
				time.Sleep(10 * time.Millisecond)
			}
			cancel()
		}()
		run(ctx, []string{"status", "--watch"}, cli.Streams{In: strings.NewReader(""), Out: s.slave, Err: s.slave}, []string{"HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "TERM=" + term})
		cancel()
		if got := s.text(); strings.Contains(got, "\x1b") != drawn {
			t.Errorf("TERM=%s: got %q, want escape sequences: %v", term, got, drawn)
		}
	}
}

// A secret stays hidden when the program was stopped and goes on, although shells let the terminal show again what is
// typed.
func TestSecretHiddenAfterStop(t *testing.T) {
	s := newScreen(t, 80)
	ended := make(chan int, 1)
	go func() {
		ended <- run(t.Context(), []string{"secret", "set", "--file", "S"}, cli.Streams{In: s.slave, Out: s.slave, Err: s.slave}, []string{"HOME=" + t.TempDir()})
	}()
	terminal := func() *unix.Termios {
		state, err := unix.IoctlGetTermios(int(s.slave.Fd()), unix.TCGETS)
		do(t, err)
		return state
	}
	await := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(late); !is(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("got %q, want %s", s.shown.String(), what)
			}
		}
	}
	hidden := func() bool { return terminal().Lflag&unix.ECHO == 0 }
	await("the prompt", func() bool { return hidden() && strings.Contains(s.shown.String(), "Value of S: ") })
	state := terminal()
	state.Lflag |= unix.ECHO // as a shell does
	do(t, unix.IoctlSetTermios(int(s.slave.Fd()), unix.TCSETS, state))
	do(t, syscall.Kill(os.Getpid(), syscall.SIGCONT))
	await("the value hidden again", hidden)
	_, err := s.master.WriteString("hunter2\n")
	do(t, err)
	if code := <-ended; code != cli.ExitDone {
		t.Errorf("got exit code %d", code)
	}
	if got := s.text(); strings.Contains(got, "hunter2") || strings.Count(got, "Value of S: ") != 2 {
		t.Errorf("got %q, want the question twice, and no value", got)
	}
}

// While servers start, a line for each moves on the terminal, with its state, the seconds and its last words; at the
// end it is gone.
func TestStartingOnATerminal(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 80)
	cmd, _ := started(t, `{"toolboxes": {"box": {"mcpServers": {"s": {"command": "sh", "cwd": ".", "args": ["-c", "echo fetching 312 packages >&2; while [ ! -e seen ]; do sleep .05; done; exit 3"]}}}}}`, "tools", "box", "--log-level", "off")
	cmd.Stderr = s.slave
	do(t, cmd.Start())
	line := regexp.MustCompile(`box/s starting \d+s: fetching 312 packages`)
	for end := time.Now().Add(late); len(line.FindAllString(s.shown.String(), 2)) < 2; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("got %q, want a line that moves", s.shown.String())
		}
	}
	do(t, os.WriteFile(filepath.Join(cmd.Dir, "seen"), nil, 0o600))
	if err := cmd.Wait(); err == nil {
		t.Error("got no error of a server that ended")
	}
	got := s.text()
	pieces := strings.Split(got, "\x1b[1A\x1b[J") // a line up, and the rest cleared
	if last := pieces[len(pieces)-1]; len(pieces) < 3 || !strings.HasPrefix(last, "workbench: error: ") {
		t.Errorf("got %q, want the lines gone, and then why", got)
	}
}
