package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// tokenRequest is one for a token.
type tokenRequest struct {
	who      string // is asked, for errors
	endpoint string
	issuer   string // whose endpoint it is
	client   registration
	params   url.Values
	key      *proofKey // the token is to be bound to; nil asks for one that is not
}

// grants gets tokens of authorization servers, as the client that the settings say or that it registers.
type grants struct {
	settings *Settings
	places   *places
	http     *http.Client
	nonce    nonce // that the authorization server wants in proofs
}

// ask gets a token. If the authorization server wants a nonce of its own in the proof it is asked once more, and never
// a third time.
//
// x/oauth2's type for client credentials is the one that lets the parameters of any grant be said: its others have no
// place for the resource (RFC 8707), which the specification wants in all of them.
func (g *grants) ask(ctx context.Context, t tokenRequest) (*oauth2.Token, error) {
	if t.endpoint == "" {
		return nil, fmt.Errorf("%s names no token endpoint in its metadata; ask whoever runs it", t.who)
	}
	for again := false; ; again = true {
		params := t.params
		if t.client.Auth == authKey {
			if err := g.vouch(ctx, t.client, t.issuer, params); err != nil {
				return nil, err
			}
		}
		source := clientcredentials.Config{
			ClientID: t.client.ID, ClientSecret: t.client.Secret, TokenURL: t.endpoint,
			AuthStyle: oauth2.AuthStyleInParams, EndpointParams: params,
		}
		switch t.client.Auth {
		case authBasic:
			source.AuthStyle = oauth2.AuthStyleInHeader
		case authKey:
			source.ClientSecret = ""
		}
		client := g.http
		if t.key != nil {
			client = proving(client, t.key, "", &g.nonce)
		}
		token, err := source.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
		if err == nil {
			return token, nil
		}
		var refused *oauth2.RetrieveError
		if t.key != nil && !again && errors.As(err, &refused) && refused.ErrorCode == UseNonce && refused.Response != nil &&
			new(nonce).note(refused.Response.Header) {
			continue
		}
		return nil, t.refused(err)
	}
}

// keeps refuses an authorization server that is not the one of the login before, if the client shows by a secret or a
// token of its platform who it is: a server that names another one would be given these. The configuration may name it.
func (g *grants) keeps(r *record, p *place) error {
	s := g.settings
	if s.Issuer != "" || r.Issuer == "" || sameIssuer(r.Issuer, p.Issuer) || s.ClientSecret == "" && s.Assertion == nil {
		return nil
	}
	return fmt.Errorf("the server names the authorization server %s now, and named %s before, which alone is shown the client's secret; if that is right, write %q: %q into \"oauth\" of the configuration",
		p.Issuer, r.Issuer, "issuer", p.Issuer)
}

// assertionType is that of JSON Web Tokens (RFC 7523, section 2.2).
const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// vouch adds what a client with a key, or one that its platform vouches for, shows who it is by.
func (g *grants) vouch(ctx context.Context, reg registration, issuer string, params url.Values) error {
	var token string
	var err error
	if g.settings.PrivateKey != nil {
		var text string
		if text, err = g.settings.PrivateKey(ctx); err == nil {
			token, err = assertion(text, g.settings.KeyID, reg.ID, issuer)
		}
	} else {
		token, err = g.settings.Assertion(ctx)
	}
	if err != nil {
		return err
	}
	params.Set("client_assertion_type", assertionType)
	params.Set("client_assertion", token)
	return nil
}

// refused words an error of the token endpoint, without the addresses and pages that may be in it, and without what it
// was shown.
func (t *tokenRequest) refused(err error) error {
	var refused *oauth2.RetrieveError
	switch {
	case !errors.As(err, &refused):
		return plain(err)
	case refused.ErrorCode != "":
		e := newRefusal(t.hide(refused.ErrorCode), t.hide(refused.ErrorDescription))
		e.who, e.advice = t.who, t.advice(refused)
		return e
	case refused.Response != nil:
		return fmt.Errorf("%s answered HTTP %d", t.who, refused.Response.StatusCode)
	}
	return fmt.Errorf("%s gave no token", t.who)
}

// hide takes out of a text what was shown for a token: who refuses it may repeat it.
func (t *tokenRequest) hide(text string) string {
	shown := []string{t.client.Secret}
	for _, key := range []string{"assertion", "client_assertion", "subject_token", "refresh_token", "code", "code_verifier"} {
		shown = append(shown, t.params.Get(key))
	}
	for _, one := range shown {
		if one != "" {
			text = strings.ReplaceAll(text, one, "…")
		}
	}
	return text
}

// advice says what to do about a refusal, as far as the codes of RFC 6749, RFC 8707 and RFC 9449 tell.
func (t *tokenRequest) advice(refused *oauth2.RetrieveError) string {
	var clock string
	if refused.Response != nil {
		clock = ClockNote(refused.Response.Header)
	}
	var shown string
	for _, key := range []string{"assertion", "subject_token", "client_assertion"} {
		if shown = t.params.Get(key); shown != "" {
			break
		}
	}
	switch code := refused.ErrorCode; {
	case code == InvalidProof && t.key == nil:
		return "it gives only tokens that are bound to a key; write \"dpop\": true into \"oauth\" of the configuration"
	case code == UseNonce:
		return "it got the nonce that it wants; tell whoever runs it"
	case clock != "" && (code == InvalidProof || shown != ""):
		return clock
	case code == "invalid_client" && t.params.Get("client_assertion") != "" || code == "invalid_grant" && shown != "":
		audience := t.issuer
		if t.params.Get("subject_token") != "" {
			audience = ""
		}
		return told(shown, audience)
	case code == "invalid_client":
		return "check the client and its secret or key in \"oauth\" of the configuration"
	case code == "unauthorized_client" || code == "unsupported_grant_type":
		return "allow this client the grant there, or write another \"grant\" into \"oauth\" of the configuration"
	case code == "invalid_scope":
		return "check \"scopes\" in \"oauth\" of the configuration"
	case code == "invalid_target":
		return fmt.Sprintf("it gives no tokens for %s; register the server there", t.params.Get("resource"))
	}
	return ""
}
