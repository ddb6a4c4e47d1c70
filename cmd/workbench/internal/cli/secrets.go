package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/secrets"
	"github.com/mcp-workbench/workbench/internal/shellword"
)

// SecretFile is the file of secrets.
func SecretFile(e *Environment) *secrets.File {
	dir, err := e.StateDir()
	if err != nil {
		return secrets.NewFile(secrets.Paths{}) // commands that write say why before
	}
	paths := secrets.Paths{
		Secrets: filepath.Join(dir, "secrets.age"),
		Key:     filepath.Join(dir, "secrets.key"),
		Turns:   filepath.Join(dir, "run", "secrets"),
	}
	if key, _ := e.Lookup("WORKBENCH_SECRETS_KEY"); key != "" {
		paths.Key = key
	}
	if run, _ := e.Lookup("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		paths.Unlocked = filepath.Join(run, "workbench", "secrets.key")
	}
	return secrets.NewFile(paths)
}

// Keychain is the keychain of the system.
func Keychain(e *Environment) secrets.Keychain {
	dir, err := e.StateDir()
	if err != nil {
		return secrets.Keychain{}
	}
	return secrets.Keychain{Index: filepath.Join(dir, "secrets.names")}
}

// NewFinder makes what finds secrets.
func NewFinder(e *Environment) *secrets.Finder {
	return secrets.New(SecretFile(e), Keychain(e), func(ctx context.Context, argv []string) ([]byte, error) {
		return e.Programs().Run(ctx, child.Program{Argv: argv, Env: e.Environ})
	})
}

// Secret looks a secret up.
func (e *Environment) Secret(ctx context.Context, s config.Secret) (string, error) {
	return e.Secrets.Find(ctx, s.Name, s.Command)
}

// Credential looks up a secret of a user, for the commands that run for that user.
func (e *Environment) Credential(ctx context.Context, user, name string) (string, error) {
	value, err := e.Secrets.Find(ctx, UserSecret(name, user), nil)
	if errors.Is(err, secrets.ErrNotSet) {
		return "", fmt.Errorf("no secret %s is kept for %q; the person who runs workbench sets it with: workbench secret set %s --user %s", name, user, name, shellword.Word(user))
	}
	return value, err
}

// UserSecret is what a secret of a user is kept as. No configuration can name it.
func UserSecret(name, user string) string {
	if user == "" {
		return name
	}
	return name + "@" + url.QueryEscape(user)
}

// values looks secrets up.
func values(ctx context.Context, e *Environment, wanted []config.Secret) (map[string]string, error) {
	values := make(map[string]string)
	for _, s := range wanted {
		value, err := e.Secret(ctx, s)
		if err != nil {
			return nil, err
		}
		values[s.Name] = value
	}
	return values, nil
}

// Revealed returns a text of a configuration with its secrets.
func (e *Environment) Revealed(ctx context.Context, cfg *config.Config, text string) (string, error) {
	values, err := values(ctx, e, cfg.SecretsOf(text))
	return config.Reveal(text, values), err
}

// RevealedServer returns a server of a configuration with its secrets.
func (e *Environment) RevealedServer(ctx context.Context, s *config.Server) (config.Server, error) {
	values, err := values(ctx, e, s.Secrets())
	if err != nil {
		return *s, err
	}
	return s.Reveal(values)
}
