package config

import (
	"strings"
)

// OAuth says what a login to a remote server is to know that the server does not say itself. The zero value is for
// those that say all.
type OAuth struct {
	ClientID       string `key:"clientId"`       // "" if the client registers itself
	ClientSecret   string `key:"clientSecret"`   // "" if it has none
	PrivateKey     string `key:"privateKey"`     // in PEM or as a JSON Web Key; what the client signs with in place of showing a secret
	PrivateKeyFile string `key:"privateKeyFile"` // absolute; a file with such a key
	KeyID          string `key:"keyId"`          // names that key to the authorization server; "" if it needs no name

	Issuer string   `key:"issuer"` // the authorization server; "" for the one that the server names
	Scopes []string `key:"scopes"` // asked for; nil for those that the server names
	Grant  Grant    `key:"grant" enum:"authorization_code,client_credentials,jwt_bearer"`

	Assertion        TokenSource      `key:"assertion"`        // what the platform gave this workload
	IdentityProvider IdentityProvider `key:"identityProvider"` // whose word is taken to the authorization server
	DPoP             bool             `key:"dpop"`             // tokens must be bound to a key
}

// Grant is the way to a token.
type Grant string

// The grants. The zero value means GrantCode.
const (
	GrantCode        Grant = "authorization_code" // a person logs in, by workbench login
	GrantCredentials Grant = "client_credentials" // the client acts for itself
	GrantAssertion   Grant = "jwt_bearer"         // somebody else vouches for the client
)

// NeedsNobody reports whether a token is got without a person who logs in.
func (g Grant) NeedsNobody() bool { return g == GrantCredentials || g == GrantAssertion }

// TokenSource says where a token of another program is found each time that it is wanted: it may be another one by
// then. The zero value means nowhere.
type TokenSource struct {
	File    string   `key:"file"`    // absolute
	Command []string `key:"command"` // a program with its arguments, which prints it
}

// IdentityProvider is where the people of an enterprise log in, and which decides what they may use.
type IdentityProvider struct {
	Issuer       string      `key:"issuer"`
	ClientID     string      `key:"clientId"`
	ClientSecret string      `key:"clientSecret"` // "" if the client has none
	IDToken      TokenSource `key:"idToken"`      // what it gave the person who logged in
}

// Public returns what is said of logins that is no secret.
func (a OAuth) Public() OAuth {
	a.ClientSecret, a.PrivateKey, a.IdentityProvider.ClientSecret = "", "", ""
	return a
}

// sealed returns the strings of an entry that may have secrets.
func (a *OAuth) sealed() []*string {
	return []*string{&a.ClientSecret, &a.PrivateKey, &a.IdentityProvider.ClientSecret}
}

func readOAuth(o *object) (a OAuth) {
	readClient(o, &a.ClientID, &a.ClientSecret, &a.Issuer)
	o.filled("privateKey", true, &a.PrivateKey, "want a private key", "leave it out if the client has none")
	a.PrivateKeyFile = o.place("privateKeyFile")
	o.filled("keyId", false, &a.KeyID, "want the id of a key", "leave it out if the key needs none")
	for _, v := range o.list("scopes", false) {
		a.Scopes = append(a.Scopes, v.text)
		if v.text == "" || strings.ContainsFunc(v.text, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
			o.c.reject(v, "want a scope without spaces", "write each scope as a string of its own")
		}
	}
	o.fill(&a, "grant")
	a.Assertion = readTokenSource(o, "assertion")
	if in, ok := o.within("identityProvider"); ok {
		readIdentityProvider(in, &a.IdentityProvider)
	}
	o.fill(&a, "dpop")
	checkTogether(o, a.Grant)
	o.done(func(string) string { return "" })
	return a
}

// readClient reads what a client is known by, and where.
func readClient(o *object, id, secret, issuer *string) {
	o.filled("clientId", false, id, "want the id of a client", "leave it out and the client registers itself")
	o.filled("clientSecret", true, secret, "want a secret", "leave it out if the client has none")
	if v, ok := o.text("issuer", false); ok {
		*issuer = v.text
		if !isURL(v.text) {
			o.c.reject(v, "want a URL that begins with http:// or https:// and a host", "")
		}
	}
}

// checkTogether reports keys of oauth that do not go together.
func checkTogether(o *object, grant Grant) {
	var shown []string // what the client shows who it is by
	for _, key := range []string{"clientSecret", "privateKey", "privateKeyFile"} {
		if o.has(key) {
			shown = append(shown, key)
		}
	}
	keyed := o.has("privateKey") || o.has("privateKeyFile")
	switch {
	case len(shown) > 1:
		o.c.fault(o.at, o.path, "want one of clientSecret, privateKey and privateKeyFile, got "+strings.Join(shown, " and "), "")
	case len(shown) == 1 && !o.has("clientId"):
		o.c.fault(o.at, o.path, "want clientId beside "+shown[0]+", got none", "")
	case o.has("keyId") && !keyed:
		o.c.fault(o.at, o.path, "want privateKey or privateKeyFile beside keyId, got none", "")
	case grant == GrantCredentials && !(o.has("clientId") && (len(shown) == 1 || o.has("assertion"))):
		o.c.fault(o.at, o.path, "want clientId and clientSecret, a private key or assertion with the grant client_credentials", "")
	case grant == GrantCredentials && len(shown) == 1 && o.has("assertion"):
		o.c.fault(o.at, o.path, "want "+shown[0]+" or assertion with the grant client_credentials, got both", "")
	case grant == GrantAssertion && o.has("assertion") == o.has("identityProvider"):
		o.c.fault(o.at, o.path, "want one of assertion and identityProvider with the grant jwt_bearer", "")
	case !grant.NeedsNobody() && o.has("assertion"):
		o.c.fault(o.at, o.path, "want the grant jwt_bearer or client_credentials beside assertion", "")
	case grant != GrantAssertion && o.has("identityProvider"):
		o.c.fault(o.at, o.path, "want the grant jwt_bearer beside identityProvider", "")
	}
}

func readIdentityProvider(o *object, p *IdentityProvider) {
	readClient(o, &p.ClientID, &p.ClientSecret, &p.Issuer)
	p.IDToken = readTokenSource(o, "idToken")
	for _, key := range []string{"issuer", "clientId", "idToken"} {
		if !o.has(key) {
			o.c.fault(o.at, o.path, "want "+key+", got none", "")
		}
	}
	o.done(func(string) string { return "" })
}

// readTokenSource reads where a token of another program is found.
func readTokenSource(in *object, key string) (s TokenSource) {
	o, ok := in.within(key)
	if !ok {
		return s
	}
	s.File = o.place("file")
	command, missing := o.command()
	switch s.Command = command; {
	case o.has("file") == o.has("command"):
		o.c.fault(o.at, o.path, "want one of file and command", `such as {"file": "/var/run/secrets/tokens/workbench"} or {"command": ["gcloud", "auth", "print-identity-token"]}`)
	case o.has("command") && missing:
		o.c.fault(o.at, o.path, "want a command with its arguments, got none", "")
	}
	o.done(func(string) string { return "" })
	return s
}
