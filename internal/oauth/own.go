package oauth

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// Names of grants and of tokens (RFC 7523, section 2.1; RFC 8693, sections 2.1 and 3;
// draft-ietf-oauth-identity-assertion-authz-grant).
const (
	grantJWT      = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	tokenID       = "urn:ietf:params:oauth:token-type:id_token"
	tokenGrant    = "urn:ietf:params:oauth:token-type:id-jag"
)

// asItself gets a token without a person: for the client's own credentials, or because somebody vouches for it.
func (g *grants) asItself(ctx context.Context, r *record) error {
	if err := g.tryAsItself(ctx, r); err != nil {
		return fmt.Errorf("no token by %s: %w", g.settings.Grant, err)
	}
	return nil
}

func (g *grants) tryAsItself(ctx context.Context, r *record) error {
	p, err := g.places.discover(ctx, r.Wanted.Metadata)
	if err == nil {
		err = g.keeps(r, p)
	}
	if err != nil {
		return err
	}
	scopes := g.firstScopes(r, p)
	key, err := g.proofKeyFor(r, p)
	if err != nil {
		return err
	}
	r.settle(p)
	r.Key, r.Scopes = key, scopes
	params := url.Values{"grant_type": {"client_credentials"}}
	if g.settings.Grant == GrantAssertion {
		params.Set("grant_type", grantJWT)
		token, err := g.vouchedFor(ctx, p, scopes)
		if err != nil {
			return err
		}
		params.Set("assertion", token)
	}
	if len(scopes) > 0 {
		params.Set("scope", strings.Join(scopes, " "))
	}
	reg := registration{ID: g.settings.ClientID, Secret: g.settings.ClientSecret, Auth: g.clientAuth(p.ClientAuth)}
	if err := g.exchange(ctx, r, reg, params); err != nil {
		return err
	}
	if reg.ID != "" { // for the end of the login
		g.keep(r, p.Issuer, reg)
	}
	return nil
}

// vouchedFor returns the JSON Web Token that a token is got for.
func (g *grants) vouchedFor(ctx context.Context, p *place, scopes []string) (string, error) {
	id := g.settings.Identity
	if id == nil {
		return g.settings.Assertion(ctx)
	}
	at, err := g.places.issuerMetadata(ctx, id.Issuer)
	if err != nil {
		return "", fmt.Errorf("identity provider %s: %w", id.Issuer, err)
	}
	subject, err := id.Token(ctx)
	if err != nil {
		return "", err
	}
	params := url.Values{
		"grant_type": {grantExchange}, "requested_token_type": {tokenGrant}, "subject_token_type": {tokenID},
		"subject_token": {subject}, "audience": {p.Issuer}, "resource": {p.resource},
	}
	if len(scopes) > 0 {
		params.Set("scope", strings.Join(scopes, " "))
	}
	client := registration{ID: id.ClientID, Secret: id.ClientSecret, Auth: clientAuth(at.ClientAuth, id.ClientSecret != "")}
	token, err := g.ask(ctx, tokenRequest{who: "the identity provider", endpoint: at.Token, issuer: at.Issuer, client: client, params: params})
	if err != nil {
		return "", err
	}
	if kind, _ := token.Extra("issued_token_type").(string); kind != tokenGrant {
		return "", fmt.Errorf("the identity provider gave something of the type %s, want %s, by which it says who may use the server; ask whoever runs it whether it supports that extension",
			foreign.NewName(kind), tokenGrant)
	}
	return token.AccessToken, nil
}
