package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// clientAuth chooses among the ways that an authorization server offers. It offers basic if it does not say (RFC 8414,
// section 2), but a client without a secret has only one way.
func clientAuth(offered []string, secret bool) string {
	switch {
	case !secret:
		return authNone
	case len(offered) > 0 && !slices.Contains(offered, authBasic) && slices.Contains(offered, authPost):
		return authPost
	default:
		return authBasic
	}
}

// isDocument reports whether a client's id is the address of its metadata document
// (draft-ietf-oauth-client-id-metadata-document, section 3).
func isDocument(id string) bool {
	rest, ok := strings.CutPrefix(id, "https://")
	return ok && strings.Contains(rest, "/")
}

// clientAuth is how the client of the configuration shows who it is, which decides by itself when it has a key or is
// vouched for.
func (g *grants) clientAuth(offered []string) string {
	if g.settings.PrivateKey != nil || g.settings.Grant == GrantCredentials && g.settings.Assertion != nil {
		return authKey
	}
	return clientAuth(offered, g.settings.ClientSecret != "")
}

// registered returns the client to be at an authorization server: that of the configuration, or the one that was
// registered there.
func (g *grants) registered(r *record, issuer string) (registration, bool) {
	reg, ok := r.Registrations[issuer]
	if id := g.settings.ClientID; id != "" && (id == reg.ID || !isDocument(id)) {
		// How it shows itself is kept from the login on.
		if want := g.clientAuth(nil); (reg.Auth == authKey) != (want == authKey) {
			reg.Auth = want // the configuration has changed since
		}
		return registration{ID: id, Secret: g.settings.ClientSecret, Auth: reg.Auth}, true
	}
	return reg, ok
}

// keep keeps the client to be at an authorization server, but not the secret that the configuration has.
func (g *grants) keep(r *record, issuer string, reg registration) {
	if reg.ID == g.settings.ClientID {
		reg.Secret = ""
	}
	if r.Registrations == nil {
		r.Registrations = make(map[string]registration)
	}
	r.Registrations[issuer] = reg
}

// client finds out who to be at an authorization server, in the order of the specification: the client that the
// configuration has, a metadata document, a registration, kept or new (2026-07-28, client registration).
func (g *grants) client(ctx context.Context, r *record, p *place, redirect string) (registration, error) {
	id := g.settings.ClientID
	if id != "" && (!isDocument(id) || p.ClientIsAnURL) {
		return registration{ID: id, Secret: g.settings.ClientSecret, Auth: g.clientAuth(p.ClientAuth)}, nil
	}
	kept, ok := r.Registrations[p.Issuer]
	if ok && kept.ID != "" && kept.Redirect == redirect && (kept.Expiry.IsZero() || time.Now().Before(kept.Expiry)) {
		return kept, nil
	}
	if p.Register == "" {
		return registration{}, errors.New(`the authorization server registers no clients by itself; register one there by hand and write its "clientId" into "oauth" of the server in the configuration`)
	}
	return g.register(ctx, p, redirect)
}

// maxYear is the last year that a time which is kept can have. Some authorization servers give milliseconds in place of
// seconds, or a number that means never.
const maxYear = 9999

// register makes a client at the authorization server (RFC 7591).
func (g *grants) register(ctx context.Context, p *place, redirect string) (registration, error) {
	auth := authNone
	if len(p.ClientAuth) > 0 && !slices.Contains(p.ClientAuth, authNone) {
		auth = clientAuth(p.ClientAuth, true)
	}
	body, err := json.Marshal(map[string]any{
		"client_name":                "MCP Workbench",
		"application_type":           "native",
		"redirect_uris":              []string{redirect},
		"grant_types":                []string{"authorization_code", "refresh_token"},
		"response_types":             []string{"code"},
		"token_endpoint_auth_method": auth,
	})
	if err != nil {
		return registration{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.Register, bytes.NewReader(body))
	if err != nil {
		return registration{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := g.http.Do(req)
	if err != nil {
		return registration{}, fmt.Errorf("registration: %w", plain(err))
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return registration{}, fmt.Errorf("registration: %w", err)
	}
	var got struct {
		registration
		SecretEnds int64  `json:"client_secret_expires_at"` // seconds of Unix time; 0 is never
		Error      string `json:"error"`
		Text       string `json:"error_description"`
	}
	err = json.Unmarshal(data, &got)
	switch {
	case err == nil && got.Error != "":
		return registration{}, fmt.Errorf("registration: %w", newRefusal(got.Error, got.Text))
	case resp.StatusCode >= 300:
		return registration{}, fmt.Errorf("registration: the authorization server answered HTTP %d: it may let no client register itself, and the server may want a key in its \"headers\" in place of a login; else register a client there and name it in \"oauth\" as clientId", resp.StatusCode)
	case err != nil:
		return registration{}, fmt.Errorf("registration: not the JSON that it should be: %w", foreign.Misread(err, &got))
	case got.ID == "":
		return registration{}, errors.New("registration: the authorization server gave no client_id")
	}
	reg := got.registration
	reg.Redirect = redirect
	if ends := time.Unix(got.SecretEnds, 0).UTC(); got.SecretEnds > 0 && ends.Year() <= maxYear {
		reg.Expiry = ends
	}
	if !slices.Contains([]string{authNone, authBasic, authPost}, reg.Auth) {
		reg.Auth = clientAuth(p.ClientAuth, reg.Secret != "")
	}
	return reg, nil
}
