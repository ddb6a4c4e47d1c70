package oauth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// assertionLife is how long what a client signs to show who it is may be used.
const assertionLife = 5 * time.Minute

// leastModulus is how many bits an RSA key has at least (RFC 7518, section 3.3).
const leastModulus = 2048

// assertion is a JSON Web Token by which a client shows who it is to an authorization server (RFC 7523, section 3),
// signed with the private key that text holds: in PEM, or as a JSON Web Key.
func assertion(text, keyID, clientID, issuer string) (string, error) {
	key, err := parseKey(text)
	if err != nil {
		return "", fmt.Errorf("the privateKey of its \"oauth\": %w", err)
	}
	if keyID != "" {
		key.KeyID = keyID
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(key.Algorithm), Key: key},
		new(jose.SignerOptions).WithType("JWT"))
	if err != nil {
		return "", err
	}
	now := time.Now()
	return jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: clientID, Subject: clientID, Audience: jwt.Audience{issuer}, ID: rand.Text(),
		IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(assertionLife)),
	}).Serialize()
}

// parseKey reads a private key, and says by its Algorithm what is signed with it. No error tells of the key.
func parseKey(text string) (key jose.JSONWebKey, err error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") {
		if json.Unmarshal([]byte(text), &key) != nil {
			return key, errors.New("it is not a JSON Web Key of a supported kind")
		}
	} else if key.Key, err = parsePEM([]byte(text)); err != nil {
		return key, err
	}
	algorithms, err := algorithmsOf(key.Key)
	switch {
	case err != nil:
		return key, err
	case key.Algorithm == "":
		key.Algorithm = algorithms[0]
	case !slices.Contains(algorithms, key.Algorithm):
		return key, fmt.Errorf("its alg is not one of those that such a key signs with: %s", strings.Join(algorithms, ", "))
	}
	return key, nil
}

func parsePEM(text []byte) (any, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("it is neither in PEM, which begins with -----BEGIN PRIVATE KEY-----, nor a JSON Web Key")
	}
	var key any
	var err error
	switch block.Type {
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	default:
		return nil, errors.New("its PEM block is not that of a private key without a passphrase")
	}
	if err != nil {
		return nil, errors.New("its PEM block holds no private key that is known here")
	}
	return key, nil
}

// algorithmsOf returns what a private key signs with, the usual first.
func algorithmsOf(key any) ([]string, error) {
	switch key := key.(type) {
	case *rsa.PrivateKey:
		if key.N.BitLen() < leastModulus {
			return nil, fmt.Errorf("it has %d bits, want %d or more", key.N.BitLen(), leastModulus)
		}
		return []string{"RS256", "PS256", "RS384", "PS384", "RS512", "PS512"}, nil
	case *ecdsa.PrivateKey:
		switch key.Curve {
		case elliptic.P256():
			return []string{"ES256"}, nil
		case elliptic.P384():
			return []string{"ES384"}, nil
		case elliptic.P521():
			return []string{"ES512"}, nil
		}
	case ed25519.PrivateKey:
		return []string{"EdDSA"}, nil
	}
	return nil, errors.New("it is not a private key of RSA, of the curves P-256, P-384 and P-521, or of Ed25519")
}

// told says what a JSON Web Token that was refused says of itself, as far as it may be the cause. With an empty issuer
// the audience is not judged. The token is not verified here: the authorization server does that.
func told(token, issuer string) string {
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384,
		jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA})
	if err != nil {
		return "it is not a JSON Web Token signed with a key pair"
	}
	var claims jwt.Claims
	if parsed.UnsafeClaimsWithoutVerification(&claims) != nil {
		return "its claims are not those of a JSON Web Token"
	}
	var said []string
	if claims.Expiry != nil {
		if over := time.Since(claims.Expiry.Time()).Round(time.Second); over > 0 {
			said = append(said, fmt.Sprintf("it expired %s ago; get a new one from its issuer", over))
		}
	}
	if issuer != "" && len(claims.Audience) > 0 && !slices.ContainsFunc(claims.Audience, func(a string) bool { return sameIssuer(a, issuer) }) {
		said = append(said, fmt.Sprintf("it is not for the audience %s; its issuer must make it for that", issuer))
	}
	return strings.Join(said, "; ")
}
