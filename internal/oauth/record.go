package oauth

import (
	"encoding/json"
	"time"
)

// record is what is known of the login to one server.
type record struct {
	Server string `json:"server"`

	// Of the token: whose it is, what for, and where another is got.
	Issuer   string   `json:"issuer,omitempty"`
	Resource string   `json:"resource,omitempty"`
	TokenURL string   `json:"token_endpoint,omitempty"`
	Revoke   string   `json:"revocation_endpoint,omitempty"`
	Scopes   []string `json:"scopes,omitempty"` // asked for and granted: another login asks for them too

	Access  string    `json:"access_token,omitempty"`
	Refresh string    `json:"refresh_token,omitempty"`
	Expiry  time.Time `json:"expiry,omitzero"` // of Access; zero if it is not known

	Key   json.RawMessage `json:"dpop_key,omitempty"` // what tokens are asked to be bound to; a private JSON Web Key
	Bound bool            `json:"dpop,omitempty"`     // Access is bound to it

	// Registrations are this program's, by issuer: none is shown to another authorization server.
	Registrations map[string]registration `json:"registrations,omitempty"`

	// Wanted is what the server wanted when it last refused a token.
	Wanted Challenge `json:"wanted,omitzero"`
}

// expiryMargin is how long before its end a token is taken for expired, so that it does not end on its way.
const expiryMargin = 10 * time.Second

// usable reports whether the token may be sent.
func (r *record) usable() bool {
	return r.Access != "" && (r.Expiry.IsZero() || time.Until(r.Expiry) > expiryMargin)
}

// forget removes the token and where it came from. The registrations stay.
func (r *record) forget() {
	*r = record{Server: r.Server, Registrations: r.Registrations}
}

// How a client shows who it is at the token endpoint (RFC 7591, section 2).
const (
	authNone  = "none"
	authBasic = "client_secret_basic"
	authPost  = "client_secret_post"
	authKey   = "private_key_jwt"
)

// registration is a client as one authorization server knows it.
type registration struct {
	ID       string    `json:"client_id"`
	Secret   string    `json:"client_secret,omitempty"`
	Auth     string    `json:"token_endpoint_auth_method,omitempty"`
	Redirect string    `json:"redirect_uri,omitempty"`
	Expiry   time.Time `json:"expiry,omitzero"` // of the secret
}
