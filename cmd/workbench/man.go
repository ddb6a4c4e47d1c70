package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Write the manual pages into a folder",
		Long: `Man writes a manual page for each command into the folder, which is made if it does
not exist. Packages put these pages into /usr/share/man/man1.`,
		Example: `  workbench man ~/.local/share/man/man1 && man workbench-serve`,
		Args:    cli.Between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := openfile.MakeFolder(args[0], 0o755); err != nil {
				return err
			}
			return manPages(cmd.Root(), args[0])
		},
	}
}

// manPages writes the manual page of a command and those below it.
func manPages(cmd *cobra.Command, folder string) error {
	fault := openfile.Write(filepath.Join(folder, pageName(cmd)+".1"), func(f *os.File) error {
		_, err := f.Write(manPage(cmd))
		return errors.Join(err, f.Chmod(0o644))
	})
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && fault == nil {
			fault = manPages(sub, folder)
		}
	}
	return fault
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage is the manual page of a command, in the language of man(7). It has no day: the same program has the same
// pages. The package doc of cobra writes it in Markdown first, whose translator takes a part of each start of this
// program.
func manPage(cmd *cobra.Command) []byte {
	var b bytes.Buffer
	cmd.InitDefaultHelpFlag()
	fmt.Fprintf(&b, ".nh\n.TH %q \"1\" \"\" %q \"Workbench\"\n", strings.ToUpper(pageName(cmd)), "workbench "+cli.Version())
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(pageName(cmd)), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n\\fB%s\\fP\n", roff(cmd.UseLine()))
	b.WriteString(".SH DESCRIPTION\n")
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	b.WriteString(strings.ReplaceAll(roff(text), "\n\n", "\n.PP\n") + "\n")
	manFlags(&b, "OPTIONS", cmd.NonInheritedFlags())
	manFlags(&b, "OPTIONS OF ALL COMMANDS", cmd.InheritedFlags())
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.EX\n%s\n.EE\n", roff(cmd.Example))
	}
	var also []string
	if cmd.HasParent() {
		also = append(also, pageName(cmd.Parent()))
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			also = append(also, pageName(sub))
		}
	}
	for i, name := range also {
		also[i] = `\fB` + roff(name) + `\fP(1)`
	}
	fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(also, ", "))
	return b.Bytes()
}

// manFlags writes what a page says of flags, if there are any.
func manFlags(b *bytes.Buffer, title string, flags *pflag.FlagSet) {
	if flags.HasAvailableFlags() {
		fmt.Fprintf(b, ".SH %s\n", title)
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		short := ""
		if f.Shorthand != "" {
			short = `\fB\-` + f.Shorthand + `\fP, `
		}
		value, usage := pflag.UnquoteUsage(f)
		if !slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue) {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(b, ".TP\n%s\\fB\\-\\-%s\\fP \\fI%s\\fP\n%s\n", short, roff(f.Name), roff(value), roff(usage))
	})
}

// roff escapes a text for man(7): what begins a request at the start of a line, backslashes, hyphens, which would be
// set as others than those that are typed, and what is not ASCII.
func roff(text string) string {
	var b strings.Builder
	for i, c := range text {
		switch {
		case c == '\\':
			b.WriteString(`\e`)
		case c == '-':
			b.WriteString(`\-`)
		case (c == '.' || c == '\'') && (i == 0 || text[i-1] == '\n'):
			b.WriteString(`\&` + string(c))
		case c > '~':
			fmt.Fprintf(&b, `\[u%04X]`, c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
