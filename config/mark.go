package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// What stands in a string for a secret until that is put in: a reference as it is written, behind a zero byte, which
// strings of a file and variables do not have.
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

func putAll(texts map[string]string, secrets map[string]string) map[string]string {
	all := maps.Clone(texts)
	for key, text := range all {
		all[key] = put(text, secrets)
	}
	return all
}
