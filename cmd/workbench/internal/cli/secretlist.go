package cli

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/config"
)

// Where a secret is.
const (
	inFile     = "file"
	inKeychain = "keychain"
	inCommand  = "command"
	InNone     = "not set"
)

// shownSecret is a secret in a list.
type shownSecret struct {
	Name  string   `json:"name"`
	User  string   `json:"user,omitempty"` // whose it is, of those that commands name by ${user:NAME}
	Where string   `json:"where"`
	For   []string `json:"for"` // the servers that get it, and keys of the configuration
}

// ListSecrets gathers what is known of secrets.
func ListSecrets(e *Environment, cfg *config.Config) []shownSecret {
	all := make(map[string]*shownSecret)
	add := func(kept, where string) *shownSecret {
		if all[kept] == nil {
			name, user := WhoseSecret(kept)
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
	inside, err := SecretFile(e).Names()
	if err != nil {
		e.Warn(fmt.Sprintf("the encrypted file: %v", err))
	}
	for _, name := range inside {
		add(name, inFile)
	}
	kept, err := Keychain(e).Names()
	if err != nil {
		e.Warn(fmt.Sprintf("the names of the keychain's secrets: %v", err))
	}
	for _, name := range kept {
		add(name, inKeychain)
	}
	use := func(wanted []config.Secret, by string) {
		for _, s := range wanted {
			shown := add(s.Name, InNone)
			shown.For = append(shown.For, by)
		}
	}
	for t, s := range cfg.Servers() {
		use(s.Secrets(), t.Name+"/"+s.Name)
	}
	use(cfg.SecretsOf(cfg.Models.APIKey), "models.apiKey")
	use(cfg.SecretsOf(cfg.Store.DSN), "store.dsn")
	list := make([]shownSecret, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, *all[name])
	}
	return list
}

// SecretNames are those of the secrets that are kept, and that the configuration names.
func SecretNames(e *Environment) (names []string) {
	defer e.Quiet()()
	cfg, _, err := e.Load()
	if err != nil {
		return nil
	}
	for _, s := range ListSecrets(e, cfg) {
		names = append(names, s.Name)
	}
	return names
}

// WhoseSecret is the name and the user of a secret as it is kept, "" for no user's.
func WhoseSecret(kept string) (name, user string) {
	name, escaped, _ := strings.Cut(kept, "@")
	if user, err := url.QueryUnescape(escaped); err == nil {
		return name, user
	}
	return kept, ""
}
