package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/secrets"
)

func secretCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "secret",
		Short: "Keep secrets for the configuration to name",
		Long: `Secret keeps values that the configuration names by ${secret:NAME} in args, env,
url and headers of servers: in the keychain of the system, or in a file that is
encrypted by age. A secret is looked up when a server starts whose entry names
it, and only that server gets it. One that is not set fails that server alone.`,
		Example: `  workbench secret set GITHUB_TOKEN
  workbench secret list`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(secretSetCommand(env), secretListCommand(env), secretRemoveCommand(env), secretProtectCommand(env), secretUnlockCommand(env))
	return cmd
}

// secretFile is the file of secrets.
func (e *environment) secretFile() *secrets.File {
	dir, err := e.stateDir()
	if err != nil {
		return secrets.NewFile(secrets.Paths{}) // commands that write say why before
	}
	paths := secrets.Paths{
		Secrets: filepath.Join(dir, "secrets.age"),
		Key:     filepath.Join(dir, "secrets.key"),
		Turns:   filepath.Join(dir, "run", "secrets"),
	}
	if key, _ := e.lookup("WORKBENCH_SECRETS_KEY"); key != "" {
		paths.Key = key
	}
	if run, _ := e.lookup("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		paths.Unlocked = filepath.Join(run, "workbench", "secrets.key")
	}
	return secrets.NewFile(paths)
}

// keychain is the keychain of the system.
func (e *environment) keychain() secrets.Keychain {
	dir, err := e.stateDir()
	if err != nil {
		return secrets.Keychain{}
	}
	return secrets.Keychain{Index: filepath.Join(dir, "secrets.names")}
}

// newSecrets makes what finds secrets.
func (e *environment) newSecrets() *secrets.Finder {
	return secrets.New(e.secretFile(), e.keychain(), func(ctx context.Context, argv []string) ([]byte, error) {
		return e.programs().Run(ctx, child.Program{Argv: argv, Env: e.environ})
	})
}

// secret looks a secret up.
func (e *environment) secret(ctx context.Context, s config.Secret) (string, error) {
	return e.secrets.Find(ctx, s.Name, s.Command)
}

// credential looks up a secret of a user, for the commands that run for that user.
func (e *environment) credential(ctx context.Context, user, name string) (string, error) {
	value, err := e.secrets.Find(ctx, userSecret(name, user), nil)
	if errors.Is(err, secrets.ErrNotSet) {
		return "", fmt.Errorf("no secret %s is kept for %q; who runs workbench gives it a value with: workbench secret set %s --user %q", name, user, name, user)
	}
	return value, err
}

// userSecret is what a secret of a user is kept as. No configuration can name it.
func userSecret(name, user string) string {
	if user == "" {
		return name
	}
	return name + "@" + url.QueryEscape(user)
}

// whoseSecret is the name and the user of a secret as it is kept, "" for no user's.
func whoseSecret(kept string) (name, user string) {
	name, escaped, _ := strings.Cut(kept, "@")
	if user, err := url.QueryUnescape(escaped); err == nil {
		return name, user
	}
	return kept, ""
}

// secretArguments are the arguments of a command that mean a secret as it is kept.
func secretArguments(kept string) string {
	if name, user := whoseSecret(kept); user != "" {
		return fmt.Sprintf("%s --user %q", name, user)
	}
	return kept
}

// shownSecretName is a secret in what is said of it.
func shownSecretName(kept string) string {
	if name, user := whoseSecret(kept); user != "" {
		return name + " of " + user
	}
	return kept
}

// values looks secrets up.
func (e *environment) values(ctx context.Context, wanted []config.Secret) (map[string]string, error) {
	values := make(map[string]string)
	for _, s := range wanted {
		value, err := e.secret(ctx, s)
		if err != nil {
			return nil, err
		}
		values[s.Name] = value
	}
	return values, nil
}

// revealed returns a text of a configuration with its secrets.
func (e *environment) revealed(ctx context.Context, cfg *config.Config, text string) (string, error) {
	values, err := e.values(ctx, cfg.SecretsOf(text))
	return config.Reveal(text, values), err
}

// revealedServer returns a server of a configuration with its secrets.
func (e *environment) revealedServer(ctx context.Context, s *config.Server) (config.Server, error) {
	values, err := e.values(ctx, s.Secrets())
	if err != nil {
		return *s, err
	}
	return s.Reveal(values)
}
