package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
)

// Every command has help with an example, and what it prints is kept.
func TestHelp(t *testing.T) {
	seen := make(map[string]bool)
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		path := strings.Fields(cmd.CommandPath())
		name := strings.Join(path, "_") + ".golden"
		seen[name] = true
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			if cmd.Example == "" {
				t.Error("the command has no example")
			}
			var out, fault bytes.Buffer
			if code := run(t.Context(), append(path[1:], "--help"), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &fault}, nil); code != cli.ExitDone || fault.Len() > 0 {
				t.Errorf("got exit code %d and %q on standard error, want neither", code, &fault)
			}
			if strings.Contains(out.String(), "UTC") { // tables show the user's own time
				t.Errorf("got %s, which speaks of a time that no command shows", &out)
			}
			golden(t, filepath.Join("testdata", "help", name), out.String())
		})
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(rootCommand(&opening.Environment{Environment: new(cli.Environment)}))
	files, err := os.ReadDir(filepath.Join("testdata", "help"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !seen[f.Name()] {
			t.Errorf("%s belongs to no command", f.Name())
		}
	}
}

// golden compares with a file, or writes it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What the examples of the help say can be typed: there are the command, its flags and arguments like these, and the
// tools of workbench's own.
func TestHelpExamples(t *testing.T) {
	word := regexp.MustCompile(`"[^"]*"|'[^']*'|[^\s()]+`)
	tools := regexp.MustCompile(`\bworkflow_\w+`)
	var listed bytes.Buffer
	if code := run(t.Context(), []string{"tools", "workflows"}, cli.Streams{In: strings.NewReader(""), Out: &listed, Err: io.Discard}, []string{"HOME=" + t.TempDir()}); code != cli.ExitDone {
		t.Fatalf("got exit code %d", code)
	}
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Example) {
			words := word.FindAllString(line, -1)
			at := slices.Index(words, "workbench")
			if at < 0 {
				continue
			}
			words = words[at+1:]
			if name := tools.FindString(line); name != "" && !strings.Contains(listed.String(), " "+name+" ") {
				t.Errorf("%s: %q: there is no tool %s", cmd.CommandPath(), strings.TrimSpace(line), name)
			}
			if end := slices.IndexFunc(words, func(w string) bool { return strings.ContainsAny(w[:1], "|&<>#") }); end >= 0 {
				words = words[:end]
			}
			of, rest, err := rootCommand(&opening.Environment{Environment: new(cli.Environment)}).Find(words)
			if err == nil {
				err = of.ParseFlags(rest)
			}
			if err == nil {
				err = of.ValidateArgs(of.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: %q: %v", cmd.CommandPath(), strings.TrimSpace(line), err)
			}
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(rootCommand(&opening.Environment{Environment: new(cli.Environment)}))
}
