package token

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/tokenfile"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/internal/tokens"
)

func tokenListCommand(env *cli.Environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the tokens of clients",
		Long: `List prints the tokens that workbench token create made, the oldest first, with what
they allow. The tokens themselves are not kept.`,
		Example: `  workbench token list
  workbench token list --json`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			file, err := tokenfile.OfClients(env)
			if err != nil {
				return err
			}
			list, err := file.List()
			if err != nil {
				return err
			}
			if asJSON {
				return terminal.PrintJSON(env.Out, showTokens(list))
			}
			return printTokens(env, list, time.Now())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	return cmd
}

// shownToken is a token as JSON.
type shownToken struct {
	Name      string    `json:"name"`
	User      string    `json:"user_id"`
	Toolboxes []string  `json:"toolboxes,omitzero"` // left out if it is for all
	Admin     bool      `json:"admin"`
	Created   time.Time `json:"created_at"`
	Expires   time.Time `json:"expires_at,omitzero"`
}

func showTokens(list []tokens.Token) []shownToken {
	shown := []shownToken{}
	for _, t := range list {
		shown = append(shown, shownToken{t.Name, t.Principal, t.Toolboxes, t.Admin, t.Created, t.Expires})
	}
	return shown
}

func printTokens(env *cli.Environment, list []tokens.Token, now time.Time) error {
	table := terminal.Table{Head: []string{"NAME", "USER", "TOOLBOXES", "CREATED", "EXPIRES"}}
	for _, t := range list {
		boxes, expires := "all", "never"
		if t.Toolboxes != nil {
			boxes = strings.Join(t.Toolboxes, ", ")
		}
		if !t.Expires.IsZero() {
			if expires = terminal.Day(t.Expires); !now.Before(t.Expires) {
				expires += " (over)"
			}
		}
		user := foreign.NewText(t.Principal).String()
		if t.Admin {
			user += " (admin)"
		}
		table.Add(foreign.NewName(t.Name).String(), user, foreign.NewText(boxes).String(), terminal.Day(t.Created), expires)
	}
	if err := env.Print(&table); err != nil {
		return err
	}
	_, err := fmt.Fprintln(env.Out, terminal.Count(len(list), "token"))
	return err
}

func tokenRevokeCommand(env *cli.Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NAME...",
		Short: "Revoke tokens",
		Long: `Revoke removes tokens, so that nobody can use them any more. A running workbench
refuses them within a second, and ends streams that use them within 15 s. Running
calls are finished.`,
		Example: `  workbench token revoke ci`,
		Args:    cli.Between(1, -1),
		ValidArgsFunction: cli.Offer(func() []string {
			file, err := tokenfile.OfClients(env)
			if err != nil {
				return nil
			}
			return tokenNames(file)
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := tokenfile.OfClients(env)
			if err != nil {
				return err
			}
			args = slices.Compact(slices.Sorted(slices.Values(args)))
			err = f.Revoke(cmd.Context(), args...)
			if errors.Is(err, tokens.ErrNotFound) {
				return cli.Hint(err, tokenHint(f, args))
			} else if err != nil {
				return err
			}
			fmt.Fprintf(env.Err, "%s revoked\n", terminal.Count(len(args), "token"))
			return nil
		},
	}
}

// tokenNames are the names of the tokens, as far as they can be read.
func tokenNames(f *tokens.File) (names []string) {
	list, _ := f.List()
	for _, t := range list {
		names = append(names, t.Name)
	}
	return names
}

// tokenHint says which of the tokens that are there may have been meant.
func tokenHint(f *tokens.File, names []string) string {
	known := tokenNames(f)
	for _, name := range names {
		if near := nearest.Names(name, known, 1); near != nil && near[0] != name {
			return fmt.Sprintf("did you mean %q? no token was revoked", near[0])
		}
	}
	return "no token was revoked; workbench token list shows the tokens"
}
