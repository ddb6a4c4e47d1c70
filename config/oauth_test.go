package config_test

import (
	"github.com/mcp-workbench/workbench/config"
)

// oauthKeys writes what is said of logins as a file does.
func oauthKeys(a config.OAuth) (keys ordered) {
	keys = texts([][2]string{{"clientId", a.ClientID}, {"clientSecret", a.ClientSecret}, {"privateKey", a.PrivateKey},
		{"privateKeyFile", a.PrivateKeyFile}, {"keyId", a.KeyID}, {"issuer", a.Issuer}, {"grant", string(a.Grant)}})
	if a.Scopes != nil {
		keys = append(keys, entry{"scopes", escapeAll(a.Scopes)})
	}
	if source := sourceKeys(a.Assertion); source != nil {
		keys = append(keys, entry{"assertion", source})
	}
	if p := a.IdentityProvider; p.Issuer != "" {
		provider := texts([][2]string{{"issuer", p.Issuer}, {"clientId", p.ClientID}, {"clientSecret", p.ClientSecret}})
		keys = append(keys, entry{"identityProvider", append(provider, entry{"idToken", sourceKeys(p.IDToken)})})
	}
	if a.DPoP {
		keys = append(keys, entry{"dpop", true})
	}
	return keys
}

func sourceKeys(s config.TokenSource) (keys ordered) {
	keys = texts([][2]string{{"file", s.File}})
	if s.Command != nil {
		keys = append(keys, entry{"command", escapeAll(s.Command)})
	}
	return keys
}

// texts are the keys of those strings that are not empty.
func texts(all [][2]string) (keys ordered) {
	for _, text := range all {
		if text[1] != "" {
			keys = append(keys, entry{text[0], escape(text[1])})
		}
	}
	return keys
}
