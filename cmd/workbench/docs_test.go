package main

import (
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

// documents are the pages that people read.
func documents(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatalf("got the pages %q (%v), want all", pages, err)
	}
	return append(pages, "../../README.md")
}

var (
	fences  = regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```")
	inline  = regexp.MustCompile("`(workbench [^`]+)`")
	comment = regexp.MustCompile(`\s+#\s.*$`)
	// program is where a command line of workbench begins, after a prompt, variables, or another command of the line.
	program = regexp.MustCompile(`(?:^|[;&|(]\s*|"?)(?:[A-Z_]+=\S+\s+)*(?:/usr/(?:local/)?bin/|bin/|\./)?workbench\s+(\S.*)$`)
)

// documentedCommands are the command lines of workbench in a page.
func documentedCommands(text string) (lines []string) {
	for _, block := range fences.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(strings.ReplaceAll(block[1], "\\\n", " ")) {
			line = comment.ReplaceAllString(strings.TrimPrefix(strings.TrimSpace(line), "$ "), "")
			if m := program.FindStringSubmatch(line); m != nil && !strings.HasPrefix(m[1], "─") {
				lines = append(lines, m[1])
			}
		}
	}
	for _, m := range inline.FindAllStringSubmatch(fences.ReplaceAllString(text, ""), -1) {
		lines = append(lines, strings.TrimPrefix(strings.Join(strings.Fields(m[1]), " "), "workbench "))
	}
	return lines
}

// shellWords are the words of a command line up to where the command ends.
func shellWords(line string) (args []string) {
	for _, m := range regexp.MustCompile(`'([^']*)'|"([^"]*)"|(\S+)`).FindAllStringSubmatch(line, -1) {
		word := m[1] + m[2] + m[3]
		if m[3] != "" && (strings.ContainsAny(word[:1], "|;&<>)#") || word == "2>&1") {
			break
		}
		args = append(args, strings.TrimRight(word, ";,)'"))
	}
	return args
}

// Commands and flags that README.md and docs/ name are there.
func TestDocumentedCommandLines(t *testing.T) {
	checked := 0
	for _, page := range documents(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range documentedCommands(string(text)) {
			args := shellWords(line)
			if len(args) > 0 && args[0] == "workbench" { // behind the name of an image
				args = args[1:]
			}
			if len(args) == 0 || !regexp.MustCompile(`^-*[a-z]`).MatchString(args[0]) || args[0] == "has" || args[0] == "is" {
				continue // a figure, a message
			}
			checked++
			if wrong := unknownIn(args); wrong != "" {
				t.Errorf("%s: workbench %s: %s", filepath.Base(page), line, wrong)
			}
		}
	}
	if checked < 200 {
		t.Errorf("got %d command lines, want more", checked)
	}
	for _, line := range []string{"frobnicate", "tools --nope", "runs lst", "call a/b/c -x", "--nope"} {
		if unknownIn(shellWords(line)) == "" {
			t.Errorf("workbench %s: got nothing wrong", line)
		}
	}
}

// unknownIn says what of a command line workbench does not have.
func unknownIn(args []string) string {
	root := rootCommand(&opening.Environment{Environment: new(cli.Environment)})
	root.InitDefaultCompletionCmd(args...)
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err.Error()
	}
	first := slices.IndexFunc(rest, func(a string) bool { return !strings.HasPrefix(a, "-") })
	if cmd.HasSubCommands() && first == 0 &&
		regexp.MustCompile(`^[a-z]+$`).MatchString(rest[0]) && cmd.Args != nil && cmd.Args(cmd, rest[:1]) != nil {
		return "there is no command " + rest[0]
	}
	for _, arg := range rest {
		if arg == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		switch {
		case strings.HasPrefix(arg, "--") && !hasFlag(cmd, name):
			return "there is no flag --" + name
		case !strings.HasPrefix(arg, "--") && regexp.MustCompile(`^-[a-z]$`).MatchString(arg) && cmd.Flags().ShorthandLookup(name) == nil && name != "h" && name != "v":
			return "there is no flag -" + name
		}
	}
	return ""
}

func hasFlag(cmd *cobra.Command, name string) bool {
	return cmd.Flags().Lookup(name) != nil || cmd.InheritedFlags().Lookup(name) != nil || name == "help" || name == "version" && !cmd.HasParent()
}

// What is advised with --config names it in each command that has to do with a configuration. A new command is in one of
// the two lists.
func TestAdviceKnowsAllCommands(t *testing.T) {
	without := strings.Fields("approve calls completion demo disconnect help logs man replay restart status trust untrust version")
	root := rootCommand(&opening.Environment{Environment: new(cli.Environment)})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Hidden {
			continue
		}
		text := "workbench " + cmd.Name()
		if named := cli.With(text, "f.json") != text; named == slices.Contains(without, cmd.Name()) {
			t.Errorf("%s: got advice with a configuration: %t", text, named)
		}
	}
}
