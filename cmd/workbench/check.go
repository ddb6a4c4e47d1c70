package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/config"
)

func checkCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Check the configuration; start nothing",
		Long: `Check reads the configuration, expands its variables and reports every fault
with its place. It starts no server. The exit code is 0 if all is well, else 1.`,
		Example: `  workbench check
  workbench check --config ~/team/workbench-config.json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return check(env) },
	}
}

func check(env *environment) error {
	cfg, from, err := env.loadBy((*config.Source).Parse)
	if err == nil && cfg.Untrusted != nil && cfg.Untrusted.Digest == "" {
		// A fault of what is not used is one all the same: it is what is asked for.
		if src, readErr := config.Read(cfg.Untrusted.Path); readErr == nil {
			_, err = src.Parse(env.lookup)
		}
	}
	var faults *config.Error
	if errors.As(err, &faults) {
		for _, f := range faults.Faults {
			fmt.Fprintln(env.out, f.String())
		}
		fmt.Fprintf(env.out, "%s\n", count(len(faults.Faults), "fault"))
		return silentError{exitFault}
	}
	if err != nil {
		return err
	}
	if cfg.Path == "" && cfg.Untrusted != nil {
		fmt.Fprintln(env.out, "no configuration that may be used; the built-in one is")
	} else if cfg.Path == "" {
		fmt.Fprintf(env.out, "no configuration found (looked for %s); the built-in one is used\n", join(from.places.Searched))
	} else {
		fmt.Fprintf(env.out, "%s\n", cfg.Path)
	}
	both := cfg.Project != "" && cfg.Project != cfg.Path
	if both {
		fmt.Fprintf(env.out, "%s, beside it\n", cfg.Project)
	}
	for _, note := range cfg.Notes {
		fmt.Fprintf(env.out, "  note: %s\n", note)
	}
	if cfg.Doubt != "" {
		fmt.Fprintf(env.out, "  warning: %s\n", cfg.Doubt)
	}
	for _, t := range cfg.Toolboxes {
		fmt.Fprintf(env.out, "  %s: %s", t.Name, count(len(t.Servers), "server"))
		if both {
			fmt.Fprintf(env.out, " (%s)", t.File)
		}
		fmt.Fprintln(env.out)
		for _, s := range t.Servers {
			state := "ok"
			switch {
			case s.Disabled:
				state = "disabled"
			case s.Problem != nil:
				state = "failed: " + s.Problem.Error()
			}
			fmt.Fprintf(env.out, "    %-20s %-8s %s\n", s.Name, s.Transport, state)
		}
	}
	if cfg.Models.Problem != nil {
		fmt.Fprintf(env.out, "  models: failed: %v\n", cfg.Models.Problem)
	}
	if u := cfg.Untrusted; u != nil {
		fmt.Fprintf(env.out, "%s\n  %s\n", u, u.Hint())
	}
	n := len(cfg.Problems())
	if n > 0 {
		fmt.Fprintf(env.out, "%s cannot be used; the others can\n", count(n, "server"))
	}
	if n > 0 || cfg.Models.Problem != nil {
		return silentError{exitFault}
	}
	fmt.Fprintln(env.out, "all is well")
	return nil
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
