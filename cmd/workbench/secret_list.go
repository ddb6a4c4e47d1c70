package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/config"
)

func secretListCommand(env *cli.Environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the names of secrets, and who gets them",
		Long: `List prints the names of the secrets that are kept and of those that the
configuration names, with where they are and which servers get them. It prints
no values, and asks neither the keychain nor the commands of the configuration.`,
		Example: `  workbench secret list
  workbench secret list --json`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, _, err := env.Load()
			if err != nil {
				return err
			}
			list := listSecrets(env, cfg)
			if asJSON {
				return terminal.PrintJSON(env.Out, list)
			}
			t := terminal.Table{Head: []string{"NAME", "WHERE", "FOR"}}
			for _, s := range list {
				t.Add(s.Name, s.Where, strings.Join(s.For, ", "))
			}
			if err := env.Print(&t); err != nil {
				return err
			}
			_, err = fmt.Fprintln(env.Out, terminal.Count(len(list), "secret"))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	return cmd
}

// Where a secret is.
const (
	inFile     = "file"
	inKeychain = "keychain"
	inCommand  = "command"
	inNone     = "not set"
)

// shownSecret is a secret in a list.
type shownSecret struct {
	Name  string   `json:"name"`
	User  string   `json:"user,omitempty"` // whose it is, of those that commands name by ${user:NAME}
	Where string   `json:"where"`
	For   []string `json:"for"` // the servers that get it, and keys of the configuration
}

// listSecrets gathers what is known of secrets.
func listSecrets(e *cli.Environment, cfg *config.Config) []shownSecret {
	all := make(map[string]*shownSecret)
	add := func(kept, where string) *shownSecret {
		if all[kept] == nil {
			name, user := whoseSecret(kept)
			all[kept] = &shownSecret{Name: name, User: user, Where: where, For: []string{}}
			if user != "" {
				all[kept].For = []string{"commands of " + user}
			}
		}
		return all[kept]
	}
	for name := range cfg.Secrets {
		add(name, inCommand)
	}
	inside, err := cli.SecretFile(e).Names()
	if err != nil {
		fmt.Fprintf(e.Err, "workbench: warning: the encrypted file: %v\n", err)
	}
	for _, name := range inside {
		add(name, inFile)
	}
	kept, err := cli.Keychain(e).Names()
	if err != nil {
		fmt.Fprintf(e.Err, "workbench: warning: the names of the keychain's secrets: %v\n", err)
	}
	for _, name := range kept {
		add(name, inKeychain)
	}
	use := func(wanted []config.Secret, by string) {
		for _, s := range wanted {
			shown := add(s.Name, inNone)
			shown.For = append(shown.For, by)
		}
	}
	for _, t := range cfg.Toolboxes {
		for i := range t.Servers {
			use(t.Servers[i].Secrets(), t.Name+"/"+t.Servers[i].Name)
		}
	}
	use(cfg.SecretsOf(cfg.Models.APIKey), "models.apiKey")
	use(cfg.SecretsOf(cfg.Store.DSN), "store.dsn")
	list := make([]shownSecret, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, *all[name])
	}
	return list
}

// secretNames are those of the secrets that are kept, and that the configuration names.
func secretNames(e *cli.Environment) (names []string) {
	defer e.Quiet()()
	cfg, _, err := e.Load()
	if err != nil {
		return nil
	}
	for _, s := range listSecrets(e, cfg) {
		names = append(names, s.Name)
	}
	return names
}
