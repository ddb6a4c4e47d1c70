// Package checking has the commands that look for what is wrong: check, doctor and lock.
package checking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/diagnosis"
	"github.com/mcp-workbench/workbench/internal/foreign"
)

// checking is what check and doctor are asked for.
type checking struct {
	start, fix, asJSON bool
}

func Check(env *opening.Environment) *cobra.Command {
	var c checking
	cmd := &cobra.Command{
		Use:        "check",
		SuggestFor: []string{"list", "ls", "servers", "validate", "verify"},
		Short:      "Check the configuration; start nothing",
		Long: `Check reads the configuration, fills in its variables and reports every fault with
its place. Then it looks for what would stop each server from working: missing
programs and folders, scripts that cannot be run, arguments that only a shell would
expand, placeholders, filters that match nothing, ports where nothing listens. It
starts no server. The exit code is 0 without faults, otherwise 1; warnings are not
faults.

With --start it does what workbench doctor does.`,
		Example: `  workbench check
  workbench check --config ~/team/workbench-config.json
  workbench check --start --json`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.check(cmd.Context(), env) },
	}
	cmd.Flags().BoolVar(&c.start, "start", false, "start each server once, and look at the clients of this machine")
	cmd.Flags().BoolVar(&c.fix, "fix", false, "fix what can be fixed safely")
	cmd.Flags().BoolVar(&c.asJSON, "json", false, "print one JSON object")
	return cmd
}

func Doctor(env *opening.Environment) *cobra.Command {
	c := checking{start: true}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find out what does not work, and how to fix it",
		Long: `Doctor does what check does, then starts each server once, all at the same time. It
shows the state of each, how long it took to start, how many tokens the definitions
of its tools cost, and, as notes, anything suspicious in its texts. It also looks at
the clients of this machine: whether their files have workbench, once, and as a
program that exists. A server that has not answered after 7 seconds is reported as
late, unless its package is being installed.

Each finding comes with a remedy. With --fix doctor applies the safe ones: it makes a
file executable that is named as a program, and removes what an interrupted npx has
left behind. The exit code is 0 without faults, otherwise 1.`,
		Example: `  workbench doctor
  workbench doctor --fix
  workbench doctor --json`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.check(cmd.Context(), env) },
	}
	cmd.Flags().BoolVar(&c.fix, "fix", false, "fix what can be fixed safely")
	cmd.Flags().BoolVar(&c.asJSON, "json", false, "print one JSON object")
	return cmd
}

func (c checking) check(ctx context.Context, env *opening.Environment) error {
	env.Told = true // it is among what is told
	cfg, from, err := env.LoadBy((*config.Source).Parse)
	var faults *config.Error
	if errors.As(err, &faults) {
		if err := c.faulty(env, cfg, faults); err != nil || !c.start {
			return err
		}
		// What can be used of the file is looked at all the same.
		if cfg, from, err = env.LoadBy((*config.Source).ParseUsable); err != nil {
			return cli.SilentError(cli.ExitFault)
		}
	}
	if err != nil {
		return err
	}
	x := examine(ctx, env, cfg)
	x.faultsUnused(env, cfg)
	if c.start {
		examineClients(env, x, cfg)
		if err := x.start(ctx, env); err != nil {
			return err
		}
	}
	x.compare(cfg)
	if c.fix {
		x.mend()
	}
	if cfg.Models.Problem != nil {
		x.Findings = append(x.Findings, diagnosis.Finding{Level: diagnosis.Fault, Message: "models: " + cfg.Models.Problem.Error()})
	}
	if c.asJSON {
		x.addUntrusted(cfg)
		if err := json.NewEncoder(env.Out).Encode(x); err != nil {
			return err
		}
	} else {
		c.print(env, x, cfg, from)
	}
	if x.count(diagnosis.Fault) > 0 || faults != nil {
		return cli.SilentError(cli.ExitFault)
	}
	return nil
}

// addUntrusted adds that the project's file is not used, which print says in a place of its own. cfg is nil where no
// file could be.
func (x *examined) addUntrusted(cfg *config.Config) {
	if cfg != nil && cfg.Untrusted != nil {
		x.Findings = append(x.Findings, diagnosis.Finding{Level: diagnosis.Note, Message: cfg.Untrusted.String(), Remedy: cfg.Untrusted.Hint()})
	}
}

// faultsUnused adds the faults of a project's file that is not used: who asks may be about to trust it.
func (x *examined) faultsUnused(env *opening.Environment, cfg *config.Config) {
	if cfg.Untrusted == nil {
		return
	}
	src, err := config.Read(cfg.Untrusted.Path)
	if err != nil {
		return // which is among why it is not used
	}
	var faults *config.Error
	if _, err = src.Parse(env.Lookup); err == nil {
		return
	} else if !errors.As(err, &faults) {
		x.Findings = append(x.Findings, diagnosis.Finding{Level: diagnosis.Fault, Message: err.Error()})
		return
	}
	for _, f := range faults.Faults {
		x.Findings = append(x.Findings, diagnosis.Finding{Level: diagnosis.Fault, Message: f.String()})
	}
}

// faulty tells the faults of the file. The error is how check ends.
func (c checking) faulty(env *opening.Environment, cfg *config.Config, faults *config.Error) error {
	if c.asJSON {
		x := examined{Servers: []examinedServer{}}
		x.addUntrusted(cfg)
		for _, f := range faults.Faults {
			x.Findings = append(x.Findings, diagnosis.Finding{Level: diagnosis.Fault, Message: f.String()})
		}
		if err := json.NewEncoder(env.Out).Encode(x); err != nil {
			return err
		}
		return cli.SilentError(cli.ExitFault)
	}
	for _, f := range faults.Faults {
		fmt.Fprintln(env.Out, foreign.Block(f.String()))
	}
	fmt.Fprintf(env.Out, "%s\n", terminal.Count(len(faults.Faults), "fault"))
	if c.start {
		return nil
	}
	return cli.SilentError(cli.ExitFault)
}

// print tells a person what was found.
func (c checking) print(env *opening.Environment, x *examined, cfg *config.Config, from *cli.Sources) {
	out := env.Out
	switch {
	case cfg.Path == "" && cfg.Untrusted != nil:
		fmt.Fprintln(out, "no configuration may be used; the built-in one is used")
	case cfg.Path == "":
		fmt.Fprintf(out, "no configuration found (looked for %s); the built-in one is used\n", cli.Shown(strings.Join(from.Places.Searched, ", ")))
		fmt.Fprintln(out, env.Advice("workbench import copies the servers of your clients, workbench add adds one"))
	default:
		fmt.Fprintf(out, "%s\n", cli.Shown(cfg.Path))
	}
	both := cfg.Project != "" && cfg.Project != cfg.Path
	if both {
		fmt.Fprintf(out, "%s, beside it\n", cli.Shown(cfg.Project))
	}
	for _, note := range cfg.Notes {
		fmt.Fprintf(out, "  note: %s\n", cli.Shown(note))
	}
	if cfg.Doubt != "" {
		fmt.Fprintf(out, "  warning: %s\n", cli.Shown(cfg.Doubt))
	}
	i := 0
	for _, t := range cfg.Toolboxes {
		fmt.Fprintf(out, "  %s: %s", t.Name, terminal.Count(len(t.Servers), "server"))
		if both {
			fmt.Fprintf(out, " (%s)", cli.Shown(t.File))
		}
		fmt.Fprintln(out)
		x.tell(env, "    ", t.Name, "", "")
		for _, entry := range t.Servers {
			s := x.Servers[i]
			i++
			fmt.Fprintf(out, "    %-20s %-8s %s\n", s.Server, s.Transport, env.Paint(out).State(s.stands(c.start)))
			x.tell(env, "      ", s.Toolbox, s.Server, "")
			printSandbox(env.Environment, t.Name, entry)
		}
	}
	if len(x.Clients) > 0 {
		fmt.Fprintln(out, "  clients:")
	}
	for _, one := range x.Clients {
		fmt.Fprintf(out, "    %-20s %-8s %s\n", one.Client, one.Entry, cli.Shown(one.File))
		x.tell(env, "      ", "", "", one.Client)
	}
	x.tell(env, "  ", "", "", "")
	if u := cfg.Untrusted; u != nil {
		fmt.Fprintf(out, "%s\n  %s\n", u, u.Hint())
	}
	c.sum(env, x, cfg)
}

// sum is the last lines.
func (c checking) sum(env *opening.Environment, x *examined, cfg *config.Config) {
	if n := len(cfg.Problems()); n > 0 {
		fmt.Fprintf(env.Out, "%s cannot be used; the others can\n", terminal.Count(n, "server"))
	}
	faults, warnings, fixable, fixed := x.count(diagnosis.Fault), x.count(diagnosis.Warning), 0, 0
	for _, f := range x.Findings {
		switch {
		case f.Fixed:
			fixed++
		case f.Fix != nil:
			fixable++
		}
	}
	if fixed > 0 {
		fmt.Fprintf(env.Out, "%s fixed\n", terminal.Count(fixed, "finding"))
	}
	if c.start {
		sizes := make(map[string]int)
		for _, s := range x.Servers {
			sizes[s.Toolbox] += s.size
		}
		fmt.Fprintln(env.Out, opening.Costs(cfg, sizes))
	}
	if n := x.count(diagnosis.Note); n > 0 {
		fmt.Fprintln(env.Out, placesToSee(n))
	}
	switch {
	case faults+warnings == 0:
		fmt.Fprintln(env.Out, "all is well")
	case warnings == 0:
		fmt.Fprintln(env.Out, terminal.Count(faults, "fault"))
	case faults == 0:
		fmt.Fprintln(env.Out, terminal.Count(warnings, "warning"))
	default:
		fmt.Fprintf(env.Out, "%s, %s\n", terminal.Count(faults, "fault"), terminal.Count(warnings, "warning"))
	}
	if fixable > 0 && !c.fix {
		fmt.Fprintln(env.Out, env.Advice(fmt.Sprintf("workbench doctor --fix fixes %d of them", fixable)))
	}
}

// stands words where a server stands.
func (s *examinedServer) stands(started bool) string {
	if !started || s.State != "ready" {
		return s.State
	}
	return fmt.Sprintf("ready in %.1f s, %s, about %d tokens", s.Seconds, terminal.Count(s.Tools, "tool"), s.Tokens)
}

// tell prints the findings of a toolbox, a server or a client; those of a server and a client are the server's.
func (x *examined) tell(env *opening.Environment, indent, toolbox, server, client string) {
	for _, f := range x.Findings {
		if f.Toolbox != toolbox || f.Server != server || f.Client != client && f.Server == "" {
			continue
		}
		level := string(f.Level)
		if f.Fixed {
			level = "fixed"
		}
		fmt.Fprintf(env.Out, "%s%s: %s\n", indent, env.Paint(env.Out).State(level), foreign.NewLines(f.Message))
		if f.Remedy != "" && !f.Fixed {
			fmt.Fprintf(env.Out, "%s  remedy: %s\n", indent, foreign.NewLines(env.Advice(f.Remedy)))
		}
	}
}
