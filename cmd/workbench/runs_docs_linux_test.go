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

// What docs/runs.md promises a newcomer is done as it stands there, each command by a workbench of its own: the workflow is
// written, a run goes on after the chat has ended, and the record shows who agreed.
func TestRunsInFiveMinutes(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "runs.md"))
	do(t, err)
	blocks := regexp.MustCompile("(?s)```(yaml)?\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	dir := t.TempDir()
	t.Chdir(dir)
	do(t, os.Mkdir("workflows", 0o755))
	environ := []string{"HOME=" + dir}
	const written = "run-7k3q9x2m4a"
	run1 := "" // the run that is written in the page as the one above
	for _, block := range blocks {
		if block[1] == "yaml" {
			do(t, os.WriteFile(filepath.Join("workflows", "tidy-up.yaml"), []byte(block[2]), 0o644))
			continue
		}
		for _, part := range strings.Split(block[2], "$ workbench ")[1:] {
			line, want, _ := strings.Cut(part, "\n")
			var in io.Reader = strings.NewReader("")
			if strings.HasPrefix(line, "runs answer") {
				in = pseudoTerminal(t, "y\n")
			}
			out := new(syncBuffer)
			args, _ := words(t, strings.ReplaceAll(strings.ReplaceAll(line, written, cmp.Or(run1, written)), `"`, `'`))
			code := run(t.Context(), args, cli.Streams{In: in, Out: out, Err: out}, environ)
			got := out.String()
			if run1 == "" {
				run1 = regexp.MustCompile(`run-[a-z0-9]{10}`).FindString(got)
			}
			got = strings.ReplaceAll(got, run1, written)
			if code != 0 || !fits(got, want) {
				t.Fatalf("workbench %s: got exit code %d and\n%s\nwant\n%s", line, code, got, want)
			}
		}
	}
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

// fits reports whether an output is as a page has it: lines of … alone stand for any, … at an end for the rest of the line, a
// y that was typed is not printed, and times differ.
func fits(got, want string) bool {
	pattern := regexp.QuoteMeta(strings.TrimSpace(want))
	pattern = regexp.MustCompile(`\\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|20\d\d-\d\d-\d\d \d\d:\d\d:\d\d`).ReplaceAllString(pattern, `20\d\d-\d\d-\d\d \d\d:\d\d:\d\d`)
	pattern = strings.ReplaceAll(pattern, "…", `(?s:.*)`)
	pattern = strings.ReplaceAll(pattern, `\[y/N\] y`+"\n", `\[y/N\] `)
	return regexp.MustCompile(`^\s*` + pattern + `\s*$`).MatchString(got)
}
