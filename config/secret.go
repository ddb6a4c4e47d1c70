package config

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Secret names a secret that a string of a configuration wants.
type Secret struct {
	Name    string
	Command []string // prints it; nil if it is among the secrets that the user keeps
}

// SecretSource says where a secret comes from that the user does not keep with workbench.
type SecretSource struct {
	Command []string `key:"command"` // a program with its arguments, which prints the secret
}

// What stands in a string for a secret until that is put in: a reference as it is written, behind a zero byte, which strings of a
// file and variables do not have.
const (
	secretMark = "\x00" + secretRef
	secretRef  = "${" + secretKind
	secretKind = "secret:"
)

// maxSecretName is the most bytes of a secret's name.
const maxSecretName = 128

// WrongSecretName says what the name of a secret should be like, or "" if it is.
func WrongSecretName(name string) string {
	switch {
	case name == "":
		return "want a secret's name, got none"
	case len(name) > maxSecretName:
		return fmt.Sprintf("want a secret's name of at most %d bytes, got more", maxSecretName)
	case strings.ContainsFunc(name, func(r rune) bool {
		return !(r == '_' || r == '-' || r == '.' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z')
	}):
		return "want a secret's name of letters, digits, _, - and ., got something else"
	}
	return ""
}

// secretsIn returns the names of the secrets that texts want, each once and sorted.
func secretsIn(texts ...string) []string {
	var names []string
	for _, text := range texts {
		for {
			_, after, found := strings.Cut(text, secretMark)
			if !found {
				break
			}
			var name string
			name, text, _ = strings.Cut(after, "}")
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// put puts secrets into a text.
func put(text string, secrets map[string]string) string {
	before, rest, found := strings.Cut(text, secretMark)
	if !found {
		return text
	}
	var b strings.Builder
	for ; found; before, rest, found = strings.Cut(rest, secretMark) {
		b.WriteString(before)
		name, after, _ := strings.Cut(rest, "}")
		b.WriteString(secrets[name])
		rest = after
	}
	b.WriteString(before)
	return b.String()
}

// Shown returns a string of a configuration as people are to see it: with references to secrets as they are written.
func Shown(text string) string { return strings.ReplaceAll(text, secretMark, secretRef) }

// Secrets returns the secrets that the strings of the server want, sorted by their names.
func (s *Server) Secrets() []Secret {
	texts := slices.Concat([]string{s.URL}, s.Args, slices.Collect(maps.Values(s.Env)), slices.Collect(maps.Values(s.Headers)))
	for _, text := range s.OAuth.sealed() {
		texts = append(texts, *text)
	}
	return sourced(secretsIn(texts...), s.SecretCommands)
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

func putAll(texts map[string]string, secrets map[string]string) map[string]string {
	all := maps.Clone(texts)
	for key, text := range all {
		all[key] = put(text, secrets)
	}
	return all
}

// isURL says whether a text is the address of a remote server.
func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// secrets reads where secrets come from.
func (c *checker) secrets(n *node, path string) map[string]SecretSource {
	members, _ := c.members(n, path, ignored)
	all := make(map[string]SecretSource, len(members))
	for _, m := range members {
		at := join(path, m.key)
		if wrong := WrongSecretName(m.key); wrong != "" {
			c.fault(m.at, at, wrong, "")
		}
		o, ok := c.object(m.value, at)
		if !ok {
			continue
		}
		command := o.list("command", false)
		n := o.members["command"].value
		if n == nil || n.kind == kindArray && len(n.items) == 0 || len(command) > 0 && command[0].text == "" {
			c.fault(o.at, at, "want a command with its arguments, got none", `such as {"command": ["op", "read", "op://vault/item/field"]}`)
		}
		o.done(func(key string) string {
			switch key {
			case "keychain", "keyring", "file", "value":
				return "secrets that workbench keeps need no entry: workbench secret set NAME"
			}
			return ""
		})
		if len(command) > 0 {
			command[0].text = c.program(command[0])
		}
		all[m.key] = SecretSource{Command: texts(command)}
	}
	return all
}
