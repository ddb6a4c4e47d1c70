package tokens

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// key is a public key that signatures are checked with.
type key struct {
	id     string // "" fits every token
	alg    string // "" fits every algorithm of its kind
	public crypto.PublicKey
}

// minRSA is the least length of an RSA key, in bits (RFC 7518, section 3.3).
const minRSA = 2048

// parseKeys reads public keys: a JWK Set (RFC 7517), or PEM blocks with keys or certificates.
func parseKeys(text []byte) ([]key, error) {
	var keys []key
	var err error
	if block, rest := pem.Decode(text); block != nil {
		keys, err = parsePEM(block, rest)
	} else {
		keys, err = parseSet(text)
	}
	if err == nil && len(keys) == 0 {
		err = errors.New("there is no key for signatures in them that can be used")
	}
	return keys, err
}

func parsePEM(block *pem.Block, rest []byte) (keys []key, err error) {
	for ; block != nil; block, rest = pem.Decode(rest) {
		var public any
		switch block.Type {
		case "PUBLIC KEY":
			public, err = x509.ParsePKIXPublicKey(block.Bytes)
		case "CERTIFICATE":
			var cert *x509.Certificate
			if cert, err = x509.ParseCertificate(block.Bytes); err == nil {
				public = cert.PublicKey
			}
		default:
			err = fmt.Errorf("want PEM blocks PUBLIC KEY or CERTIFICATE, got %s", block.Type)
		}
		if err == nil {
			err = strong(public)
		}
		if err != nil {
			return nil, err
		}
		keys = append(keys, key{public: public})
	}
	return keys, nil
}

// strong refuses keys that signatures cannot be relied on with.
func strong(public any) error {
	switch k := public.(type) {
	case *rsa.PublicKey:
		if n := k.N.BitLen(); n < minRSA {
			return fmt.Errorf("want an RSA key of at least %d bits, got %d", minRSA, n)
		}
	case *ecdsa.PublicKey, ed25519.PublicKey:
	default:
		return fmt.Errorf("want an RSA, ECDSA or Ed25519 key, got %T", public)
	}
	return nil
}

// parseSet leaves out keys that are for something else, as RFC 7517, section 5 wants it.
func parseSet(text []byte) (keys []key, err error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("want a JWK Set or PEM blocks: %w", foreign.NewError(err))
	}
	for _, one := range set.Keys {
		var k jose.JSONWebKey
		if json.Unmarshal(one, &k) != nil || k.Use != "" && k.Use != "sig" {
			continue
		}
		if public := k.Public().Key; strong(public) == nil {
			keys = append(keys, key{k.KeyID, k.Algorithm, public})
		}
	}
	return keys, nil
}
