package clients

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/mask"
)

// secrets adds a note for each string that is a secret in clear, or looks like one. The note does not tell the secret.
func (p *patterns) secrets(e *Entry, n *document.Node) {
	s := e.Server
	tell := func(where, key, value string) {
		if !p.looksSecret(key, value) {
			return
		}
		note := Note{File: e.File, Line: lineOf(n, value, e.Line), Server: shown(e.Name), Secret: true, where: where, value: value}
		e.Notes = append(e.Notes, note.named(Variable(cmp.Or(key, e.Name+"_SECRET"))))
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
		case i > 0 && strings.HasPrefix(s.Args[i-1], "--") && !strings.Contains(s.Args[i-1], "=") && !strings.HasPrefix(arg, "-"):
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

// Masked is the server with … in place of its secrets in clear, and of what looks like one.
func (s Server) Masked() Server {
	p, known := newPatterns(), new(mask.Set)
	hide := func(text string, values []string) string {
		slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
		for _, value := range values {
			text = strings.ReplaceAll(text, value, "…")
		}
		return strings.ReplaceAll(known.Text(text), mask.Masked, "…")
	}
	s.URL = hide(s.URL, mask.InAddress(s.URL))
	s.Args = slices.Clone(s.Args)
	before := ""
	for i, arg := range s.Args {
		values := mask.InArgument(before, arg)
		if p.looksSecret("", arg) && !strings.Contains(arg, "://") {
			values = append(values, arg)
		}
		s.Args[i], before = hide(arg, values), arg
	}
	for _, pairs := range []*Pairs{&s.Env, &s.Headers} {
		*pairs = slices.Clone(*pairs)
		for i, pair := range *pairs {
			values := mask.InArgument("", pair.Value)
			if mask.IsSecretName(pair.Key) {
				values = mask.Credentials(pair.Value)
			}
			(*pairs)[i].Value = hide(pair.Value, values)
		}
	}
	return s
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
	case new(mask.Set).Text(value) != value || mask.InAddress(p.user.ReplaceAllString(value, "://")) != nil:
		return true
	case len(value) < mask.Least || !p.secret.MatchString(key) || p.public.MatchString(key):
		return false
	}
	return !strings.Contains(value, "://") && !strings.HasPrefix(value, "/")
}
