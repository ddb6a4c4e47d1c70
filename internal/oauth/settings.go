package oauth

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
)

// Settings say which server is logged in to, and how.
type Settings struct {
	// URL is the server's address.
	URL string
	// ClientID and ClientSecret are of a client that was registered by hand. A ClientID that is an https url is that of
	// a client metadata document. Without one this program registers itself.
	ClientID, ClientSecret string
	// PrivateKey reads a private key, in PEM or as a JSON Web Key, that the client signs with in place of showing a
	// secret, each time that it does; nil if it has none. KeyID names the key to the authorization server.
	PrivateKey Source
	KeyID      string
	// Issuer is the authorization server that the client is registered with; "" means the one that the server names.
	Issuer string
	// Scopes are asked for in place of those that the server names first.
	Scopes []string
	// Grant is how a token is got.
	Grant Grant
	// Assertion reads the JSON Web Token that the platform gave this workload: what a token is got for with
	// GrantAssertion, and what the client shows who it is by with GrantCredentials; nil if there is none.
	Assertion Source
	// Identity is who gives what a token is got for with GrantAssertion; nil if that is Assertion.
	Identity *Identity
	// DPoP says that tokens must be bound to a key. Without it those are that the server wants to be.
	DPoP bool
	// Headers go with each request to the server that is made for a login.
	Headers map[string]string
}

// Options are what a client needs of the program around it. The zero value works.
type Options struct {
	// Proxy finds the proxy of a request; nil means none.
	Proxy func(*http.Request) (*url.URL, error)
	// ProxyAnswered words that a proxy does not connect to a host, as in [http.Transport]; nil means the status alone.
	ProxyAnswered func(ctx context.Context, proxy *url.URL, connect *http.Request, answer *http.Response) error
	// TLS is how HTTPS is spoken; nil means with the certificates of the system.
	TLS *tls.Config
	// Resolver looks up names; nil means that of the system.
	Resolver *net.Resolver
	// Renewed hears that this client got a token without a person, or with an error why it did not; nil means nobody
	// does.
	Renewed func(error)
	// Told hears the tokens and secrets of a login when they are read or got, maybe again and again; nil means nobody
	// does.
	Told func(secret string)
}

// Source reads something that is kept elsewhere, and may be another one each time.
type Source func(context.Context) (string, error)

// Grant is the way to a token.
type Grant int

// The grants.
const (
	GrantCode        Grant = iota // a person logs in
	GrantCredentials              // the client acts for itself (RFC 6749, section 4.4)
	GrantAssertion                // somebody else vouches for the client (RFC 7523, section 2.1)
)

// own reports whether no person logs in.
func (g Grant) own() bool { return g != GrantCode }

func (g Grant) String() string {
	switch g {
	case GrantCredentials:
		return "client credentials"
	case GrantAssertion:
		return "an assertion"
	}
	return "a login"
}

// Identity is the provider of identities of an enterprise, which decides who may use a server (the extension
// enterprise-managed authorization).
type Identity struct {
	Issuer                 string
	ClientID, ClientSecret string // of the client that it knows
	Token                  Source // reads the ID token that it gave
}

// LoginError says that a person has to log in.
type LoginError struct{ Why string }

func (e *LoginError) Error() string { return e.Why }
