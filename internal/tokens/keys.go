package tokens

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"

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

// jwk is what says which key a JSON Web Key is (RFC 7517, 7518 and 8037). What issuers write beside that is not looked at:
// package jose refuses a key for a certificate that it cannot read, and keys of RSA that are longer than 4096 bits.
type jwk struct {
	Kty, Use, Alg, Kid, Crv, X, Y, N, E string
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
		var k jwk
		if json.Unmarshal(one, &k) != nil || k.Use != "" && k.Use != "sig" {
			continue
		}
		if public, err := k.public(); err == nil && strong(public) == nil {
			keys = append(keys, key{k.Kid, k.Alg, public})
		}
	}
	return keys, nil
}

func (k *jwk) public() (crypto.PublicKey, error) {
	switch k.Kty + k.Crv {
	case "RSA":
		n, err := base64.RawURLEncoding.DecodeString(k.N)
		e, err2 := base64.RawURLEncoding.DecodeString(k.E)
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
		exponent := new(big.Int).SetBytes(e)
		if !exponent.IsInt64() || exponent.Int64() < 3 || exponent.Int64() > 1<<31-1 {
			return nil, errors.New("the exponent is out of bounds")
		}
		return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(exponent.Int64())}, nil
	case "ECP-256":
		return k.point(elliptic.P256())
	case "ECP-384":
		return k.point(elliptic.P384())
	case "ECP-521":
		return k.point(elliptic.P521())
	case "OKPEd25519":
		x, err := base64.RawURLEncoding.DecodeString(k.X)
		if err != nil || len(x) != ed25519.PublicKeySize {
			return nil, errors.New("x is not an Ed25519 key")
		}
		return ed25519.PublicKey(x), nil
	}
	return nil, errors.New("the kind of the key is not known")
}

func (k *jwk) point(curve elliptic.Curve) (crypto.PublicKey, error) {
	x, err := base64.RawURLEncoding.DecodeString(k.X)
	y, err2 := base64.RawURLEncoding.DecodeString(k.Y)
	size := (curve.Params().BitSize + 7) / 8
	if err := errors.Join(err, err2); err != nil || len(x) != size || len(y) != size {
		return nil, errors.New("x and y are not a point")
	}
	return ecdsa.ParseUncompressedPublicKey(curve, append(append([]byte{4}, x...), y...))
}
