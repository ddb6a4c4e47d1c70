package config

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/thishost"
)

// HTTP says what holds for serving over HTTP.
type HTTP struct {
	JWT JWT `key:"jwt"`
	// CallsPerMinute is how many calls each user may make; 0 means as many as they like.
	CallsPerMinute int `key:"callsPerMinute" least:"1" most:"1000000" of:"calls"`
}

// JWT says whose JSON Web Tokens are trusted. Without an Issuer nobody's are.
type JWT struct {
	Issuer     string   `key:"issuer"`     // in the claim iss, to the letter
	Audience   string   `key:"audience"`   // among those of the claim aud
	JWKSURL    string   `key:"jwksUrl"`    // of the keys; exactly one of the two is set
	KeyFile    string   `key:"keyFile"`    // with the keys, absolute
	Algorithms []string `key:"algorithms"` // that tokens may be signed with; never empty
}

// signatures are the algorithms that tokens may be signed with (RFC 7518 and 8037): those whose key to check with does
// not sign.
func signatures() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

func readHTTP(o *object, h *HTTP) {
	if in, ok := o.within("jwt"); ok {
		readJWT(in, &h.JWT)
	}
	o.fill(h, "callsPerMinute")
	o.done(func(key string) string {
		switch key {
		case "address", "port", "host", "token":
			return "the address and who may come in are flags of workbench serve"
		}
		return ""
	})
}

func readJWT(o *object, j *JWT) {
	for _, key := range []struct {
		name string
		to   *string
		what string
	}{{"issuer", &j.Issuer, "as the claim iss has it"}, {"audience", &j.Audience, "the address of this workbench, as the claim aud has it"}} {
		o.filled(key.name, false, key.to, "want the "+key.name+" of tokens", key.what)
		if !o.has(key.name) {
			o.c.fault(o.at, o.path, "want an "+key.name+" in jwt, got none", key.what)
		}
	}
	if v, ok := o.text("jwksUrl", false); ok {
		j.JWKSURL = v.text
		if wrong := wrongKeys(v.text); wrong != "" {
			o.c.reject(v, wrong, "")
		}
	}
	j.KeyFile = o.place("keyFile")
	if o.has("jwksUrl") == o.has("keyFile") {
		o.c.fault(o.at, o.path, "want one of jwksUrl and keyFile in jwt, got "+map[bool]string{true: "both", false: "none"}[o.has("keyFile")], "")
	}
	for _, v := range o.list("algorithms", false) {
		j.Algorithms = append(j.Algorithms, v.text)
		if !slices.Contains(signatures(), v.text) {
			o.c.reject(v, "want an algorithm of "+strings.Join(signatures(), ", "), "")
		}
	}
	switch m, ok := o.members["algorithms"]; {
	case !ok:
		j.Algorithms = signatures()
	case m.Value.Kind == document.Array && len(m.Value.Items) == 0:
		o.c.fault(position{m.Value.Line, m.Value.Column}, join(o.path, m.Key), "want at least one algorithm, got none", "leave it out for all")
	}
	o.done(func(string) string { return "" })
}

// urlHint is what to do about an address that is none.
func urlHint(text string) string {
	if text != "" && !strings.Contains(text, "://") {
		return "write https:// in front of the host"
	}
	return ""
}

// wrongKeys says what the address of keys should be like, or "" if it is: whoever can change the keys on the way could
// be whoever they like.
func wrongKeys(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || !isURL(text):
		return "want a URL that begins with http:// or https:// and a host"
	case u.Scheme == "https" || thishost.Is(u.Hostname()):
		return ""
	}
	return "want https://, or http:// for localhost, 127.0.0.1 or ::1"
}

// isURL says whether a text is the address of a remote server.
func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}
