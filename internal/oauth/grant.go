package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// exchange gets a token for a grant, which params are of, and puts it into the record. It is asked to be bound to the
// key of the record, if that has one.
func (g *grants) exchange(ctx context.Context, r *record, reg registration, params url.Values) error {
	key, err := readProofKey(r.Key)
	if err != nil {
		return &LoginError{err.Error()}
	}
	params.Set("resource", r.Resource)
	token, err := g.ask(ctx, tokenRequest{
		who: "the authorization server", endpoint: r.TokenURL, issuer: r.Issuer, client: reg, params: params, key: key})
	if err != nil {
		return err
	}
	bound := key != nil && isBound(token.Type())
	switch {
	case !bound && g.settings.DPoP:
		return fmt.Errorf("the authorization server gave a token of the type %s, want one that is bound to a key (DPoP), as the configuration says; if it has no such tokens, leave dpop out", foreign.NewName(token.Type()))
	case !bound && token.Type() != "Bearer":
		return fmt.Errorf("the authorization server gave a token of the type %s, want Bearer", foreign.NewName(token.Type()))
	case strings.ContainsFunc(token.AccessToken, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("the authorization server gave a token that cannot be sent")
	}
	r.Access, r.Expiry, r.Bound = token.AccessToken, token.Expiry, bound
	if token.RefreshToken != "" {
		r.Refresh = token.RefreshToken
	}
	if granted, _ := token.Extra("scope").(string); granted != "" && isScope(granted) {
		r.Scopes = union(r.Scopes, strings.Fields(granted))
	}
	r.Wanted = Challenge{}
	return nil
}

// refresh gets a new token for an old one's refresh token. One that is refused is of no use to anybody, and forgotten.
func (g *grants) refresh(ctx context.Context, r *record) error {
	reg, ok := g.registered(r, r.Issuer)
	if !ok {
		return &LoginError{"the login was made with another client"}
	}
	err := g.exchange(ctx, r, reg, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {r.Refresh}})
	if errors.As(err, new(*refusal)) {
		r.Refresh = ""
		return &LoginError{"the login cannot be renewed: " + err.Error()}
	}
	if err != nil {
		return fmt.Errorf("the login could not be renewed: %w", err)
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

// firstScopes chooses what is asked for: what the configuration says, or the server's challenge, or its metadata; and,
// since a token that is asked for takes the place of the one before it, what that had (specification 2026-07-28, "Scope
// Selection Strategy" and "Step-Up Authorization Flow").
func (g *grants) firstScopes(r *record, p *place) []string {
	var before []string
	if r.Issuer == p.Issuer {
		before = r.Scopes
	}
	first, wanted := g.settings.Scopes, strings.Fields(r.Wanted.Scope)
	if len(first) == 0 && len(wanted) == 0 && len(before) == 0 {
		first = p.scopes
	}
	scopes := union(before, first, wanted)
	if len(scopes) > 0 && slices.Contains(p.Scopes, offline) && !g.settings.Grant.own() {
		scopes = union(scopes, []string{offline})
	}
	return scopes
}

// offline is the scope that some authorization servers want for a refresh token (OpenID Connect Core, section 11).
const offline = "offline_access"

// revoke tells the authorization server that the tokens are not needed any more.
func (g *grants) revoke(ctx context.Context, r *record) error {
	reg, ok := g.registered(r, r.Issuer)
	if !ok {
		return nil
	}
	form := url.Values{"token": {r.Access}}
	if reg.ID != "" {
		form.Set("client_id", reg.ID)
	}
	if r.Refresh != "" {
		form.Set("token", r.Refresh) // which ends those that were got for it
	}
	switch reg.Auth {
	case authPost:
		form.Set("client_secret", reg.Secret)
	case authKey:
		if err := g.vouch(ctx, reg, r.Issuer, form); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.Revoke, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if reg.Auth == authBasic {
		req.SetBasicAuth(url.QueryEscape(reg.ID), url.QueryEscape(reg.Secret))
	}
	resp, err := g.http.Do(req)
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

// proofKeyFor returns the key that a token of a place is to be bound to, as it is kept: none unless the configuration
// or the server wants that, or the token before it was; and the one of the login if it has one.
func (g *grants) proofKeyFor(r *record, p *place) (json.RawMessage, error) {
	before := r.Bound && r.Issuer == p.Issuer
	switch {
	case !g.settings.DPoP && !r.Wanted.DPoP && !p.bound && !before:
		return nil, nil
	case len(p.Proofs) > 0 && !slices.Contains(p.Proofs, string(jose.ES256)):
		return nil, fmt.Errorf("authorization server %s: it wants proofs (DPoP) that are signed with something else than ES256, which is what workbench signs them with", p.Issuer)
	case r.Issuer == p.Issuer && len(r.Key) > 0:
		return r.Key, nil
	}
	return newProofKey()
}
