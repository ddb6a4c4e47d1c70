package oauthtest

import (
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// proofLife is how old a proof may be, or how far its clock ahead.
const proofLife = 5 * time.Minute

// errNonce says that a proof has not the nonce that is wanted.
var errNonce = errors.New("use_dpop_nonce")

// proofLocked checks the proof of a request (RFC 9449, section 4.3) and returns which key made it. A proof is good
// once.
func (s *Server) proofLocked(req *http.Request, token string) (thumbprint string, err error) {
	lines := req.Header.Values("DPoP")
	if len(lines) != 1 {
		return "", fmt.Errorf("got %d proofs, want one", len(lines))
	}
	parsed, err := jwt.ParseSigned(lines[0], []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return "", err
	}
	header := parsed.Headers[0]
	key := header.JSONWebKey
	if header.ExtraHeaders["typ"] != "dpop+jwt" || key == nil || !key.IsPublic() {
		return "", fmt.Errorf("got the header %v, want that of a proof", header)
	}
	var claims struct {
		ID       string           `json:"jti"`
		Method   string           `json:"htm"`
		URL      string           `json:"htu"`
		IssuedAt *jwt.NumericDate `json:"iat"`
		Token    string           `json:"ath"`
		Nonce    string           `json:"nonce"`
	}
	if err := parsed.Claims(key.Key, &claims); err != nil {
		return "", err
	}
	hash := ""
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		hash = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	switch age := time.Since(claims.IssuedAt.Time()).Abs(); {
	case claims.Method != req.Method || claims.URL != origin(req)+req.URL.Path:
		return "", fmt.Errorf("the proof is for %s %s", claims.Method, claims.URL)
	case age > proofLife:
		return "", fmt.Errorf("the proof is of %s ago", age)
	case claims.Token != hash:
		return "", errors.New("the proof is for another token")
	case claims.ID == "" || s.seen[claims.ID]:
		return "", errors.New("the proof was used before")
	}
	s.nextLocked("")
	s.seen[claims.ID] = true
	if s.Nonce != nil && claims.Nonce != s.Nonce() {
		return "", errNonce
	}
	sum, err := key.Thumbprint(crypto.SHA256)
	return base64.RawURLEncoding.EncodeToString(sum), err
}

// refuseProof has a response say what is wrong with a proof.
func (s *Server) refuseProof(w http.ResponseWriter, err error) string {
	if !errors.Is(err, errNonce) {
		return "invalid_dpop_proof"
	}
	if s.Nonce != nil {
		w.Header().Set("DPoP-Nonce", s.Nonce())
	}
	return errNonce.Error()
}
