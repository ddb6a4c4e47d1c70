package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// exchange gets a token for a grant, which params are of, and puts it into the
// record.
//
// x/oauth2's type for client credentials is the one that lets the parameters of
// any grant be said: its others have no place for the resource (RFC 8707),
// which the specification wants in all of them.
func (c *Client) exchange(ctx context.Context, r *record, reg registration, params url.Values) error {
	params.Set("resource", r.Resource)
	source := clientcredentials.Config{
		ClientID:       reg.ID,
		ClientSecret:   reg.Secret,
		TokenURL:       r.TokenURL,
		AuthStyle:      oauth2.AuthStyleInParams,
		EndpointParams: params,
	}
	if reg.Auth == authBasic {
		source.AuthStyle = oauth2.AuthStyleInHeader
	}
	token, err := source.Token(context.WithValue(ctx, oauth2.HTTPClient, c.http))
	if err != nil {
		return endpointError(err)
	}
	if token.Type() != "Bearer" {
		return fmt.Errorf("the authorization server gave a token of the type %s, want Bearer", foreign.NewName(token.Type()))
	}
	if strings.ContainsFunc(token.AccessToken, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("the authorization server gave a token that cannot be sent")
	}
	r.Access, r.Expiry = token.AccessToken, token.Expiry
	if token.RefreshToken != "" {
		r.Refresh = token.RefreshToken
	}
	if granted, _ := token.Extra("scope").(string); granted != "" && isScope(granted) {
		r.Scopes = union(r.Scopes, strings.Fields(granted))
	}
	r.Wanted = Challenge{}
	return nil
}

// refusal is an error answer of an authorization server (RFC 6749, section
// 5.2).
type refusal struct {
	code foreign.Name
	text foreign.Text
}

func (e *refusal) Error() string {
	if e.text.IsEmpty() {
		return fmt.Sprintf("the authorization server says %s", e.code)
	}
	return fmt.Sprintf("the authorization server says %s: %q", e.code, e.text)
}

// endpointError words an error of the token endpoint, without the addresses
// and pages that may be in it.
func endpointError(err error) error {
	var refused *oauth2.RetrieveError
	switch {
	case !errors.As(err, &refused):
		return plain(err)
	case refused.ErrorCode != "":
		return &refusal{foreign.NewName(refused.ErrorCode), foreign.NewText(refused.ErrorDescription)}
	case refused.Response != nil:
		return fmt.Errorf("the authorization server answered HTTP %d", refused.Response.StatusCode)
	}
	return errors.New("the authorization server gave no token")
}

// refresh gets a new token for an old one's refresh token. One that is refused
// is of no use to anybody, and forgotten.
func (c *Client) refresh(ctx context.Context, r *record) error {
	reg, ok := c.registered(r, r.Issuer)
	if !ok {
		return &LoginError{"the login was made with another client"}
	}
	err := c.exchange(ctx, r, reg, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {r.Refresh}})
	var refused *refusal
	if errors.As(err, &refused) {
		r.Refresh = ""
		return &LoginError{"the login cannot be renewed: " + err.Error()}
	}
	if err != nil {
		return fmt.Errorf("the login could not be renewed: %w", err)
	}
	return nil
}

// asItself gets a token with the client's own credentials (RFC 6749, section
// 4.4).
func (c *Client) asItself(ctx context.Context, r *record) error {
	p, err := c.discover(ctx, r.Wanted.Metadata)
	if err != nil {
		return fmt.Errorf("no token by client credentials: %w", err)
	}
	scopes := c.firstScopes(r, p)
	r.settle(p)
	params := url.Values{"grant_type": {"client_credentials"}}
	if len(scopes) > 0 {
		params.Set("scope", strings.Join(scopes, " "))
	}
	r.Scopes = scopes
	reg, _ := c.registered(r, p.Issuer)
	if reg.Auth == "" {
		reg.Auth = clientAuth(p.ClientAuth, reg.Secret != "")
	}
	if err := c.exchange(ctx, r, reg, params); err != nil {
		return fmt.Errorf("no token by client credentials: %w", err)
	}
	return nil
}

// settle takes over where a token is got. A token of another place is forgotten.
func (r *record) settle(p *place) {
	if r.Issuer != p.Issuer {
		r.forget()
	}
	r.Issuer, r.Resource, r.TokenURL, r.Revoke = p.Issuer, p.resource, p.Token, p.Revoke
}

// firstScopes chooses what is asked for: what the configuration says, or the
// server's challenge, or its metadata; and, since a token that is asked for
// takes the place of the one before it, what that had (specification
// 2026-07-28, "Scope Selection Strategy" and "Step-Up Authorization Flow").
func (c *Client) firstScopes(r *record, p *place) []string {
	var before []string
	if r.Issuer == p.Issuer {
		before = r.Scopes
	}
	first, wanted := c.settings.Scopes, strings.Fields(r.Wanted.Scope)
	if len(first) == 0 && len(wanted) == 0 && len(before) == 0 {
		first = p.scopes
	}
	scopes := union(before, first, wanted)
	if len(scopes) > 0 && slices.Contains(p.Scopes, offline) && !c.settings.ClientCredentials {
		scopes = union(scopes, []string{offline})
	}
	return scopes
}

// offline is the scope that some authorization servers want for a refresh token
// (OpenID Connect Core, section 11).
const offline = "offline_access"

// revoke tells the authorization server that the tokens are not needed any more.
func (c *Client) revoke(ctx context.Context, r *record) error {
	reg, ok := c.registered(r, r.Issuer)
	if !ok {
		return nil
	}
	form := url.Values{"token": {r.Access}, "client_id": {reg.ID}}
	if r.Refresh != "" {
		form.Set("token", r.Refresh) // which ends those that were got for it
	}
	if reg.Auth == authPost {
		form.Set("client_secret", reg.Secret)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.Revoke, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if reg.Auth == authBasic {
		req.SetBasicAuth(url.QueryEscape(reg.ID), url.QueryEscape(reg.Secret))
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return plain(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	if resp.StatusCode >= 300 {
		return fmt.Errorf("it answered HTTP %d", resp.StatusCode)
	}
	return nil
}
