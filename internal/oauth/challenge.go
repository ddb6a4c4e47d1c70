package oauth

import (
	"cmp"
	"net/http"
	"strings"
)

// Challenge is what a server wants of a token, from the Bearer and DPoP challenges of a 401 or 403 (RFC 6750, section
// 3; RFC 9449, section 7.1; RFC 9728, section 5.1).
type Challenge struct {
	Error    string `json:"error,omitempty"`
	Scope    string `json:"scope,omitempty"`             // divided by spaces
	Metadata string `json:"resource_metadata,omitempty"` // the url of the server's metadata
	DPoP     bool   `json:"dpop,omitempty"`              // it takes tokens that are bound to a key
}

// InsufficientScope is the Error of a token that is good but not for this.
const InsufficientScope = "insufficient_scope"

// maxParam bounds what is taken of a header, in bytes.
const maxParam = 2 << 10

// ParseChallenge reads the first Bearer and the first DPoP challenge of a response's header; the zero Challenge if
// there is none. What one of the two does not say the other does. What does not have the form that it must have is left
// out.
func ParseChallenge(h http.Header) (found Challenge) {
	seen := make(map[string]bool)
	for _, line := range h.Values("WWW-Authenticate") {
		for _, c := range challenges(line) {
			scheme := strings.ToLower(c.scheme)
			if scheme != "bearer" && scheme != "dpop" || seen[scheme] {
				continue
			}
			seen[scheme] = true
			found.DPoP = found.DPoP || scheme == "dpop"
			if said := c.params["error"]; found.Error == "" && isScope(said) {
				found.Error = said
			}
			if scope := c.params["scope"]; found.Scope == "" && isScope(scope) {
				found.Scope = strings.Join(strings.Fields(scope), " ")
			}
			found.Metadata = cmp.Or(found.Metadata, c.params["resource_metadata"])
		}
	}
	return found
}

// isScope reports whether s is a list of scope-tokens (RFC 6749, section 3.3), so that it may be printed and sent on.
func isScope(s string) bool {
	return len(s) <= maxParam && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r > '~' || r == '"' || r == '\\'
	})
}

type challenge struct {
	scheme string
	params map[string]string // by lower-case name
}

// challenges reads one WWW-Authenticate header, which may hold several (RFC 9110, section 11.6.1): a word followed by =
// is a parameter of the scheme before it, any other word a scheme.
func challenges(line string) []challenge {
	var all []challenge
	rest := line
	for {
		rest = strings.TrimLeft(rest, " \t,")
		word := rest[:wordEnd(rest)]
		if word == "" {
			return all // the end, or something that is no challenge
		}
		rest = strings.TrimLeft(rest[len(word):], " \t")
		if !strings.HasPrefix(rest, "=") {
			all = append(all, challenge{word, make(map[string]string)})
			continue
		}
		value, after, ok := paramValue(strings.TrimLeft(rest[1:], " \t"))
		if !ok || len(all) == 0 {
			return all
		}
		params := all[len(all)-1].params
		if name := strings.ToLower(word); params[name] == "" {
			params[name] = value
		}
		rest = after
	}
}

func wordEnd(s string) int {
	if i := strings.IndexAny(s, " \t,=\""); i >= 0 {
		return i
	}
	return len(s)
}

// paramValue reads a token or a quoted string.
func paramValue(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, " \t,")
		if end < 0 {
			end = len(s)
		}
		return s[:end], s[end:], true
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", false
}

// union joins lists of scopes, each scope once, in the order they come.
func union(lists ...[]string) []string {
	var all []string
	seen := make(map[string]bool)
	for _, list := range lists {
		for _, scope := range list {
			if scope != "" && !seen[scope] {
				seen[scope] = true
				all = append(all, scope)
			}
		}
	}
	return all
}
