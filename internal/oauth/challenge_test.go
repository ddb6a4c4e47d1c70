package oauth

import (
	"net/http"
	"strings"
	"testing"
)

func TestParseChallenge(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		want  Challenge
	}{
		"none":            {nil, Challenge{}},
		"bare":            {[]string{`Bearer`}, Challenge{}},
		"all":             {[]string{`Bearer error="insufficient_scope", scope="a b", resource_metadata="https://s/.well-known/x"`}, Challenge{InsufficientScope, "a b", "https://s/.well-known/x", false}},
		"tokens":          {[]string{`bearer error=invalid_token,scope=a`}, Challenge{Error: "invalid_token", Scope: "a"}},
		"other case":      {[]string{`BEARER Scope="a"`}, Challenge{Scope: "a"}},
		"behind another":  {[]string{`Basic realm="x, y", Bearer scope="a"`}, Challenge{Scope: "a"}},
		"on another line": {[]string{`Basic realm="x"`, `Bearer scope="a"`}, Challenge{Scope: "a"}},
		"escapes":         {[]string{`Bearer realm="a \"quoted\", word", scope="b"`}, Challenge{Scope: "b"}},
		"first counts":    {[]string{`Bearer scope="a", scope="b"`}, Challenge{Scope: "a"}},
		"spaces":          {[]string{`Bearer scope = "a   b "`}, Challenge{Scope: "a b"}},
		"no end":          {[]string{`Bearer scope="a`}, Challenge{}},
		"no scheme":       {[]string{`scope="a"`}, Challenge{}},
		"control":         {[]string{"Bearer scope=\"a\x1b[2J\""}, Challenge{}},
		"both":            {[]string{`DPoP algs="ES256", error="use_dpop_nonce", Bearer scope="a", error="x"`}, Challenge{Error: UseNonce, Scope: "a", DPoP: true}},
		"huge":            {[]string{`Bearer scope="` + strings.Repeat("a", 10000) + `"`}, Challenge{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ParseChallenge(http.Header{"Www-Authenticate": tt.lines}); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// Whatever a stranger writes, what is taken of it may be printed.
func FuzzParseChallenge(f *testing.F) {
	f.Add(`Bearer error="insufficient_scope", scope="a b", resource_metadata="https://s/x"`)
	f.Add(`Basic realm="\"", Bearer scope=a,,=`)
	f.Fuzz(func(t *testing.T, line string) {
		c := ParseChallenge(http.Header{"Www-Authenticate": {line}})
		if !isScope(c.Error) || !isScope(c.Scope) {
			t.Errorf("got %+v of %q", c, line)
		}
	})
}
