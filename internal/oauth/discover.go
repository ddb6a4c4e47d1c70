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

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// resourceMetadata is what a server says of itself (RFC 9728, section 2).
type resourceMetadata struct {
	Resource string   `json:"resource"`
	Issuers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
	Bound    bool     `json:"dpop_bound_access_tokens_required"`
}

// issuerMetadata is what an authorization server says of itself (RFC 8414, section 2, and the documents that add to
// it).
type issuerMetadata struct {
	Issuer        string   `json:"issuer"`
	Authorize     string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Register      string   `json:"registration_endpoint"`
	Revoke        string   `json:"revocation_endpoint"`
	Scopes        []string `json:"scopes_supported"`
	ClientAuth    []string `json:"token_endpoint_auth_methods_supported"`
	Challenges    []string `json:"code_challenge_methods_supported"`
	Proofs        []string `json:"dpop_signing_alg_values_supported"`
	SendsIssuer   bool     `json:"authorization_response_iss_parameter_supported"`
	ClientIsAnURL bool     `json:"client_id_metadata_document_supported"`
}

// place is where a token for a server is got.
type place struct {
	resource string   // what the token is for
	scopes   []string // what the server says that it has
	bound    bool     // the server takes no tokens but those that are bound to a key
	guessed  bool     // nobody has said that it is the place
	issuerMetadata
}

// places finds out where tokens for a server are got.
type places struct {
	settings *Settings
	server   *url.URL
	http     *http.Client
}

// errNoDocument says that a well-known address has nothing.
var errNoDocument = errors.New("no such document")

// discover finds where a token for the server is got. hint is the address of its metadata that a challenge named, or
// "".
func (a *places) discover(ctx context.Context, hint string) (*place, error) {
	resource, err := a.resourceMetadata(ctx, hint)
	switch {
	case errors.Is(err, errNoDocument):
		return a.discoverAtServer(ctx)
	case err != nil:
		return nil, err
	}
	issuer, err := a.chooseIssuer(resource.Issuers)
	if err != nil {
		return nil, err
	}
	p := &place{resource: resource.Resource, scopes: resource.Scopes, bound: resource.Bound}
	p.issuerMetadata, err = a.issuerMetadata(ctx, issuer)
	if err != nil {
		return nil, fmt.Errorf("authorization server %s: %w", issuer, err)
	}
	return p, nil
}

// resourceMetadata reads the document that the challenge named, or else the first that is at one of the two well-known
// addresses (specification 2026-07-28, authorization server discovery).
func (a *places) resourceMetadata(ctx context.Context, hint string) (*resourceMetadata, error) {
	at := []string{hint}
	if hint == "" {
		const suffix = "/.well-known/oauth-protected-resource"
		at = []string{wellKnown(a.server, suffix, a.server.EscapedPath()), wellKnown(a.server, suffix, "")}
	}
	for _, address := range slices.Compact(at) {
		var m resourceMetadata
		err := a.fetch(ctx, address, &m)
		switch {
		case errors.Is(err, errNoDocument) && hint == "":
			continue
		case err != nil:
			return nil, fmt.Errorf("metadata of the server: %w", err)
		case !a.isOf(m.Resource):
			// Else a token for another server could be had and given to this one (RFC 9728, section 3.3).
			return nil, fmt.Errorf("metadata of the server, %s, is of another resource, %q", address, m.Resource)
		}
		return &m, nil
	}
	return nil, errNoDocument
}

// isOf reports whether a resource is the server, or a part of its origin that holds it: servers at /mcp are often
// protected as a whole.
func (a *places) isOf(resource string) bool {
	u, err := url.Parse(resource)
	if err != nil || !strings.EqualFold(u.Scheme, a.server.Scheme) || !strings.EqualFold(u.Host, a.server.Host) ||
		u.User != nil || u.Fragment != "" || u.RawQuery != "" && u.RawQuery != a.server.RawQuery {
		return false
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	return strings.HasPrefix(strings.TrimSuffix(a.server.EscapedPath(), "/")+"/", path+"/")
}

// chooseIssuer takes the one that the configuration names, or else the first. A client that was registered with one is
// not shown to another (specification 2026-07-28, client registration, "Authorization Server Binding").
func (a *places) chooseIssuer(listed []string) (string, error) {
	want := a.settings.Issuer
	switch {
	case len(listed) == 0:
		return "", errors.New("metadata of the server names no authorization server")
	case want == "":
		return listed[0], nil
	}
	for _, issuer := range listed {
		if sameIssuer(issuer, want) {
			return issuer, nil
		}
	}
	return "", fmt.Errorf("the server names the authorization server %s, and the configuration another, %s", listed[0], want)
}

// sameIssuer compares as text, but for a slash at the end: metadata of servers and of authorization servers often
// differ in it, and it names no other place.
func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

// issuerMetadata reads what an authorization server says of itself, at the first address of the specification's order
// that has it.
func (a *places) issuerMetadata(ctx context.Context, issuer string) (m issuerMetadata, err error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return m, err
	}
	const oauth, openID = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	at := []string{wellKnown(u, oauth, path), wellKnown(u, openID, path)}
	if path != "" {
		at = append(at, wellKnown(u, path, openID))
	}
	for _, address := range at {
		m = issuerMetadata{}
		if err = a.fetch(ctx, address, &m); errors.Is(err, errNoDocument) {
			continue
		}
		if err == nil && !sameIssuer(m.Issuer, issuer) {
			err = fmt.Errorf("its metadata, %s, is that of another, %q", address, m.Issuer)
		}
		return m, err
	}
	return m, err
}

// discoverAtServer is how it was before servers had metadata of their own: the authorization server is at the root of
// the server, with its metadata or, for want of it, at fixed addresses (specification 2025-03-26, authorization).
func (a *places) discoverAtServer(ctx context.Context) (*place, error) {
	root := wellKnown(a.server, "", "")
	p := &place{resource: a.settings.URL}
	if a.settings.Issuer != "" {
		root = a.settings.Issuer
	}
	var err error
	p.issuerMetadata, err = a.issuerMetadata(ctx, root)
	if errors.Is(err, errNoDocument) && a.settings.Issuer == "" {
		p.issuerMetadata, err = issuerMetadata{
			Issuer: root, Authorize: root + "/authorize", Token: root + "/token", Register: root + "/register",
			Challenges: []string{"S256"}, // which that revision required
		}, nil
		p.guessed = true
	}
	if err != nil {
		return nil, fmt.Errorf("authorization server %s: %w", root, err)
	}
	return p, nil
}

// wellKnown makes an address on the origin of u.
func wellKnown(u *url.URL, parts ...string) string {
	return u.Scheme + "://" + u.Host + strings.TrimSuffix(strings.Join(parts, ""), "/")
}

// fetch reads a JSON document. A status of 4xx is [errNoDocument].
func (a *places) fetch(ctx context.Context, address string, to any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := a.http.Do(req)
	if err != nil {
		return plain(err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode/100 == 4:
		return fmt.Errorf("%s: HTTP %d: %w", address, resp.StatusCode, errNoDocument)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: HTTP %d", address, resp.StatusCode)
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%s: not the JSON that it should be: %w", address, foreign.NewError(err))
	}
	return nil
}

// plain names a request that failed by its place alone: addresses may hold secrets in their query.
func plain(err error) error {
	var failed *url.Error
	if !errors.As(err, &failed) {
		return err
	}
	u, perr := url.Parse(failed.URL)
	if perr != nil {
		return failed.Err
	}
	return fmt.Errorf("%s://%s%s: %w", u.Scheme, u.Host, u.EscapedPath(), failed.Err)
}
