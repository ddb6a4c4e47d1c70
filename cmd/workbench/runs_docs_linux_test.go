package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
)

// openTerminal opens a pseudo terminal: the side of the person, and that of the program.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there are no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	do(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	do(t, err)
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	do(t, err)
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

// pseudoTerminal opens a pseudo terminal on which somebody has typed a line.
func pseudoTerminal(t *testing.T, typed string) *os.File {
	t.Helper()
	master, slave := openTerminal(t)
	_, err := master.WriteString(typed)
	do(t, err)
	return slave
}

// A newcomer does what a page of the docs says, in an empty folder, each command by a workbench of its own.
type newcomer struct {
	t       *testing.T
	environ []string
	run     string // that the newcomer has begun, in place of writtenRun
}

const writtenRun = "run-7k3q9x2m4a"

func aNewcomer(t *testing.T) (*newcomer, func(page string) string) {
	t.Helper()
	docs, err := filepath.Abs(filepath.Join("..", "..", "docs"))
	do(t, err)
	dir := t.TempDir()
	t.Chdir(dir)
	return &newcomer{t: t, environ: []string{"HOME=" + dir}}, func(page string) string {
		text, err := os.ReadFile(filepath.Join(docs, page))
		do(t, err)
		return string(text)
	}
}

// follows writes the files of a page, by the first line of each, and gives its commands; their answers are as the page
// has them.
func (n *newcomer) follows(page string, files map[string]string) {
	n.t.Helper()
	for _, block := range regexp.MustCompile("(?s)```(\\w*)\n(.*?)```").FindAllStringSubmatch(page, -1) {
		first, _, _ := strings.Cut(block[2], "\n")
		if name := files[first]; block[1] == "yaml" && name != "" {
			do(n.t, os.MkdirAll(filepath.Dir(name), 0o755))
			do(n.t, os.WriteFile(name, []byte(block[2]), 0o644))
		}
		if block[1] != "" {
			continue
		}
		for _, part := range strings.Split("\n"+block[2], "\n$ ")[1:] {
			line, want, _ := strings.Cut(part, "\n")
			n.gives(line, want)
		}
	}
}

// gives gives a command, with what a shell makes of it.
func (n *newcomer) gives(line, want string) {
	n.t.Helper()
	said, command, piped := strings.Cut(line, " | ")
	if !piped {
		said, command = "", line
	}
	command, file, _ := strings.Cut(command, " > ")
	var in io.Reader = strings.NewReader(strings.Trim(strings.TrimPrefix(said, "echo "), `"`) + "\n")
	switch {
	case strings.HasPrefix(command, "workbench runs answer"):
		in = pseudoTerminal(n.t, "y\n")
	case strings.HasPrefix(want, `{"jsonrpc"`):
		in, want = strings.NewReader(want), `{"jsonrpc":"2.0","id":1,"result":…{"jsonrpc":"2.0","id":2,"result":{"step":…`
	}
	list, _ := words(n.t, strings.ReplaceAll(strings.ReplaceAll(command, writtenRun, cmp.Or(n.run, writtenRun)), `"`, `'`))
	var args []string
	for _, word := range list {
		if names, err := filepath.Glob(word); err == nil && strings.Contains(word, "*") {
			args = append(args, names...)
		} else {
			args = append(args, word)
		}
	}
	out := new(syncBuffer)
	code := run(n.t.Context(), args[1:], cli.Streams{In: in, Out: out, Err: out}, n.environ)
	got := out.String()
	if file != "" {
		do(n.t, os.WriteFile(file, []byte(got), 0o644))
		got = ""
	}
	if n.run == "" {
		n.run = regexp.MustCompile(`run-[a-z0-9]{10}`).FindString(got)
	}
	if got = strings.ReplaceAll(got, cmp.Or(n.run, writtenRun), writtenRun); args[0] != "workbench" || code != 0 || !fits(got, want) {
		n.t.Fatalf("%s: got exit code %d and\n%s\nwant\n%s", line, code, got, want)
	}
}

// What docs/workflows.md promises a newcomer is done as it stands there.
func TestWorkflowsInFiveMinutes(t *testing.T) {
	n, page := aNewcomer(t)
	n.follows(page("workflows.md"), map[string]string{"id: release-notes": "workflows/release-notes.yaml", "cases:": "workflows/tests/release-notes.yaml"})
	if picture, err := os.ReadFile("release-notes.svg"); err != nil || !strings.HasPrefix(string(picture), "<svg") {
		t.Errorf("got %.40s and %v, want a picture", picture, err)
	}
}

// What docs/runs.md promises a newcomer is done as it stands there: the workflow is written, a run goes on after the
// chat has ended, and the record shows who agreed.
func TestRunsInFiveMinutes(t *testing.T) {
	n, page := aNewcomer(t)
	n.follows(page("runs.md"), map[string]string{"id: tidy-up": "workflows/tidy-up.yaml"})
	run1, environ := n.run, n.environ
	if run1 == "" {
		t.Error("the page starts no run")
	}
	// What is exported comes back as it was.
	workbench := func(args ...string) string {
		t.Helper()
		out := new(syncBuffer)
		if code := run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: out, Err: out}, environ); code != 0 {
			t.Errorf("workbench %q: got exit code %d and %s", args, code, out)
		}
		return out.String()
	}
	shown := workbench("runs", "show", run1)
	if got := workbench("runs", "export", "--output", "runs.jsonl"); got != "1 run in runs.jsonl\n" {
		t.Errorf("got %q from the export", got)
	}
	workbench("runs", "delete", run1)
	if got := workbench("runs", "list"); got != "0 runs\n" {
		t.Errorf("got %q, want no runs", got)
	}
	for _, want := range []string{"1 run kept, 0 left as they were\n", "0 runs kept, 1 left as they were\n"} {
		if got := workbench("runs", "import", "runs.jsonl"); got != want {
			t.Errorf("got %q from the import, want %q", got, want)
		}
	}
	if got := workbench("runs", "show", run1); got != shown {
		t.Errorf("got %s, want %s", got, shown)
	}
	if got := workbench("runs", "list", "shop", "--json"); !strings.Contains(got, run1) || !strings.Contains(got, `"finished"`) {
		t.Errorf("got %s, want the run", got)
	}
	if code := run(t.Context(), []string{"runs", "answer", run1}, cli.Streams{In: strings.NewReader("y\n"), Out: new(syncBuffer), Err: new(syncBuffer)}, environ); code != cli.ExitFault {
		t.Errorf("got exit code %d from an answer that is typed on no terminal, want %d", code, cli.ExitFault)
	}
}

// fits reports whether an output is as a page has it: lines of … alone stand for any, … at an end for the rest of the
// line, a y that was typed is not printed, and times differ.
func fits(got, want string) bool {
	pattern := regexp.QuoteMeta(strings.TrimSpace(want))
	pattern = regexp.MustCompile(`\\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|20\d\d-\d\d-\d\d \d\d:\d\d:\d\d`).ReplaceAllString(pattern, `20\d\d-\d\d-\d\d \d\d:\d\d:\d\d`)
	pattern = strings.ReplaceAll(pattern, "…", `(?s:.*)`)
	pattern = strings.ReplaceAll(pattern, `\[y/N\] y`+"\n", `\[y/N\] `)
	return regexp.MustCompile(`^\s*` + pattern + `\s*$`).MatchString(got)
}
