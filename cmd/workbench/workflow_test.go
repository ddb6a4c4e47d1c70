package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
)

// TestWorkflow runs the sessions in testdata/workflow: the last file of an archive holds command lines that begin with
// "$", each followed by what the command prints, standard error behind "! ", and its exit code if that is not
// 0. The other files lie in the directory it runs in. -update writes
// what is printed.
func TestWorkflow(t *testing.T) {
	archives, err := filepath.Glob("testdata/workflow/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			session := &archive.Files[len(archive.Files)-1]
			got := play(t, archive.Files[:len(archive.Files)-1], string(session.Data))
			if *update {
				session.Data = []byte(got)
				if err := os.WriteFile(filepath.Join(here, name), txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(session.Data) {
				t.Errorf("got\n%s\nwant\n%s", got, session.Data)
			}
		})
	}
}

// play runs the commands of a session in a directory with the files.
func play(t *testing.T, files []txtar.File, session string) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f.Name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.Name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	for line := range strings.Lines(session) {
		command, ok := strings.CutPrefix(line, "$ workbench ")
		if !ok {
			continue
		}
		b.WriteString(line)
		words, in := words(t, strings.TrimSpace(command))
		var out, fault bytes.Buffer
		environ := []string{"HOME=" + filepath.Join(dir, "home"), "USERPROFILE=" + filepath.Join(dir, "home"),
			"XDG_CONFIG_HOME=" + dir, "WORKFLOW_STORAGE_PATH=extra"}
		code := run(t.Context(), words, cli.Streams{In: in, Out: &out, Err: &fault}, environ)
		b.WriteString(strings.ReplaceAll(out.String(), dir, "$WORK"))
		for line := range strings.Lines(fault.String()) {
			b.WriteString("! " + strings.ReplaceAll(line, dir, "$WORK"))
		}
		if code != 0 {
			fmt.Fprintf(&b, "[exit %d]\n", code)
		}
	}
	// How many workflows are part of the program is not what is tested here.
	embedded := regexp.MustCompile(`(\(part of workbench\)\n +)\d+ `)
	return embedded.ReplaceAllString(filepath.ToSlash(b.String()), "${1}N ")
}

// words splits a command line at blanks, outside of single quotes, and opens the file behind "<".
func words(t *testing.T, command string) (list []string, in io.Reader) {
	in = strings.NewReader("")
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			list = append(list, part)
			continue
		}
		list = append(list, strings.Fields(part)...)
	}
	for i, word := range list {
		name, ok := strings.CutPrefix(word, "<")
		if !ok {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return append(list[:i], list[i+1:]...), bytes.NewReader(data)
	}
	return list, in
}

// TestValidateRealFiles makes sure that every file of the corpus beside the repository has a verdict, and every fault a
// place and words.
func TestValidateRealFiles(t *testing.T) {
	files, err := filepath.Glob("../../../shared/workflows/*/workflows/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("no workflow files beside the repository")
	}
	var out, fault bytes.Buffer
	args := append([]string{"workflow", "validate"}, files...)
	if code := run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &fault}, nil); code != cli.ExitFault {
		t.Errorf("got exit code %d, want %d: one of the files is known to be invalid", code, cli.ExitFault)
	}
	verdicts := 0
	for line := range strings.Lines(out.String()) {
		rest := line
		for _, file := range files {
			rest = strings.TrimPrefix(rest, file)
		}
		if strings.HasPrefix(rest, ": valid, ") || strings.HasPrefix(rest, ": not valid, ") {
			verdicts++
		} else if !regexp.MustCompile(`^(:\d+:\d+: (warning: )?/?\S.*|\d+ files, \d+ not valid)\n$`).MatchString(rest) {
			t.Errorf("got the line %q, want a place and words", line)
		}
	}
	if verdicts != len(files) || fault.Len() > 0 {
		t.Errorf("got %d verdicts for %d files and the errors %q", verdicts, len(files), fault.String())
	}
}
