package config

import (
	"errors"
	"maps"
	"slices"
)

// Secret names a secret that a string of a configuration wants.
type Secret struct {
	Name    string
	Command []string // prints it; nil if it is among the secrets that the user keeps
}

// Secrets returns the secrets that the strings of the server want, sorted by their names.
func (s *Server) Secrets() []Secret {
	texts := slices.Concat([]string{s.URL}, s.Args, slices.Collect(maps.Values(s.Env)), slices.Collect(maps.Values(s.Headers)))
	for _, text := range s.OAuth.sealed() {
		texts = append(texts, *text)
	}
	return sourced(secretsIn(texts...), s.SecretCommands)
}

// source gives each server the commands that print secrets which it wants.
func (c *Config) source() {
	for _, s := range c.Servers() {
		for _, secret := range s.Secrets() {
			if from, ok := c.Secrets[secret.Name]; ok {
				if s.SecretCommands == nil {
					s.SecretCommands = make(map[string][]string)
				}
				s.SecretCommands[secret.Name] = from.Command
			}
		}
	}
}

// SecretsOf returns the secrets that a text wants that stands outside of servers: models.apiKey, store.dsn.
func (c *Config) SecretsOf(text string) []Secret {
	commands := make(map[string][]string, len(c.Secrets))
	for name, source := range c.Secrets {
		commands[name] = source.Command
	}
	return sourced(secretsIn(text), commands)
}

func sourced(names []string, commands map[string][]string) []Secret {
	var all []Secret
	for _, name := range names {
		all = append(all, Secret{Name: name, Command: commands[name]})
	}
	return all
}

// Reveal returns a text of SecretsOf with its secrets, by their names.
func Reveal(text string, secrets map[string]string) string { return put(text, secrets) }

// Reveal returns the server with its secrets, by their names, put in.
func (s *Server) Reveal(secrets map[string]string) (Server, error) {
	r := *s
	r.Args = slices.Clone(s.Args)
	for i := range r.Args {
		r.Args[i] = put(r.Args[i], secrets)
	}
	r.Env, r.Headers = putAll(s.Env, secrets), putAll(s.Headers, secrets)
	for _, text := range r.OAuth.sealed() {
		*text = put(*text, secrets)
	}
	r.URL = put(s.URL, secrets)
	if r.URL != s.URL && !isURL(r.URL) {
		return r, errors.New("its url is none that begins with http:// or https:// and a host once its secrets are put in")
	}
	return r, nil
}
