package clients

import (
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
)

// secrets adds a note for each string that is a secret in clear, or looks like one. The note does not tell the secret.
func (p *patterns) secrets(e *Entry, n *document.Node) {
	s := e.Server
	tell := func(where, key, value string) {
		if !p.looksSecret(key, value) {
			return
		}
		name := Variable(or(key, e.Name+"_SECRET"))
		e.Notes = append(e.Notes, Note{File: e.File, Line: lineOf(n, value, e.Line), Server: shown(e.Name), Secret: true,
			Message: fmt.Sprintf("%s holds a secret in clear: workbench secret set %s keeps it, and ${secret:%[2]s} stands for it", where, name)})
	}
	for _, v := range s.Env {
		tell("env "+shown(v.Key), v.Key, v.Value)
	}
	for _, h := range s.Headers {
		tell("header "+shown(h.Key), h.Key, h.Value)
	}
	for i, arg := range s.Args {
		key, value, pair := strings.Cut(arg, "=")
		if !pair {
			key, value, pair = strings.Cut(arg, ":")
		}
		switch {
		case strings.Contains(arg, "://"):
			tell(fmt.Sprintf("args[%d]", i), "", arg)
		case pair:
			tell(fmt.Sprintf("args[%d]", i), strings.TrimLeft(key, "-"), strings.TrimSpace(value))
		case i > 0 && strings.HasPrefix(s.Args[i-1], "--"):
			tell(fmt.Sprintf("args[%d]", i), strings.TrimLeft(s.Args[i-1], "-"), arg)
		default:
			tell(fmt.Sprintf("args[%d]", i), "", arg)
		}
	}
	tell("url", "", s.URL)
	if s.OAuth != nil {
		tell("oauth.clientSecret", "client_secret", s.OAuth.ClientSecret)
	}
}

// lineOf returns the line of the string that a value was made of, or else of the entry.
func lineOf(n *document.Node, value string, entry int) int {
	if n.Kind == document.Text && n.Value != "" && strings.Contains(n.Value, value) {
		return n.Line
	}
	for _, m := range n.Members {
		if line := lineOf(m.Value, value, 0); line > 0 {
			return line
		}
	}
	for _, item := range n.Items {
		if line := lineOf(item, value, 0); line > 0 {
			return line
		}
	}
	return entry
}

// looksSecret reports whether the value of a key does.
func (p *patterns) looksSecret(key, value string) bool {
	value = p.reference.ReplaceAllString(value, "")
	for _, word := range []string{"Bearer ", "bearer ", "Token ", "token ", "Basic "} {
		value = strings.TrimPrefix(value, word)
	}
	value = strings.TrimSpace(value)
	key = strings.ToLower(key)
	switch {
	case p.begins.MatchString(value) && len(value) >= 12 || p.inURL.MatchString(value):
		return true
	case len(value) < 8 || !p.secret.MatchString(key) || p.public.MatchString(key):
		return false
	}
	return !strings.Contains(value, "://") && !strings.HasPrefix(value, "/")
}
