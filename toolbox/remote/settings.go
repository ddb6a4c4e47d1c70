package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/oauth"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

// maxToken is the most bytes that a token or a key of another program may have.
const maxToken = 64 << 10

// loginSettings are what the configuration of a server says of logins. find runs the programs that print tokens.
func loginSettings(cfg config.Server, find func(context.Context, config.Secret) (string, error)) oauth.Settings {
	said := cfg.OAuth
	s := oauth.Settings{
		URL:          cfg.URL,
		ClientID:     said.ClientID,
		ClientSecret: said.ClientSecret,
		KeyID:        said.KeyID,
		Issuer:       said.Issuer,
		Scopes:       said.Scopes,
		DPoP:         said.DPoP,
		Headers:      cfg.Headers,
		Assertion:    tokenOf(said.Assertion, "assertion", find),
	}
	switch said.Grant {
	case config.GrantCredentials:
		s.Grant = oauth.GrantCredentials
	case config.GrantAssertion:
		s.Grant = oauth.GrantAssertion
	}
	switch {
	case said.PrivateKey != "":
		s.PrivateKey = func(context.Context) (string, error) { return said.PrivateKey, nil }
	case said.PrivateKeyFile != "":
		s.PrivateKey = func(context.Context) (string, error) { return heldIn(said.PrivateKeyFile, "privateKeyFile") }
	}
	if id := said.IdentityProvider; id.Issuer != "" {
		s.Identity = &oauth.Identity{
			Issuer: id.Issuer, ClientID: id.ClientID, ClientSecret: id.ClientSecret, Token: tokenOf(id.IDToken, "idToken", find)}
	}
	return s
}

// tokenOf returns what reads a token of another program; nil if the configuration names none.
func tokenOf(from config.TokenSource, key string, find func(context.Context, config.Secret) (string, error)) oauth.Source {
	if from.File == "" && len(from.Command) == 0 {
		return nil
	}
	return func(ctx context.Context) (text string, err error) {
		switch {
		case from.File != "":
			text, err = heldIn(from.File, key)
		case find == nil:
			err = fmt.Errorf("oauth.%s: %w", key, errors.ErrUnsupported)
		default:
			text, err = find(ctx, config.Secret{Name: "oauth." + key, Command: from.Command})
		}
		if err != nil {
			return "", err
		}
		text = strings.TrimSpace(text)
		if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return "", fmt.Errorf("oauth.%s gives something that is not a token", key)
		}
		return text, nil
	}
}

// heldIn reads the file that a key of the configuration names.
func heldIn(path, key string) (string, error) {
	data, _, err := openfile.Read(path, maxToken)
	if err != nil {
		return "", fmt.Errorf("oauth.%s: %w", key, err)
	}
	return string(data), nil
}
