package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Errors of challenges that are about proofs (RFC 9449, sections 7.1 and 9).
const (
	// UseNonce is the Error of a server that wants a nonce of its own in a proof.
	UseNonce = "use_dpop_nonce"
	// InvalidProof is the Error of a server that refuses a proof.
	InvalidProof = "invalid_dpop_proof"
)

const (
	proofHeader = "DPoP"
	nonceHeader = "DPoP-Nonce"
)

// proofKey is a key pair that tokens are bound to (RFC 9449). Whoever has such a token can use it with the key alone.
type proofKey struct {
	private *ecdsa.PrivateKey
	signer  jose.Signer
}

// newProofKey makes a key, as it is kept.
func newProofKey() (json.RawMessage, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return json.Marshal(jose.JSONWebKey{Key: private})
}

// readProofKey reads a key that was kept; nil if there is none.
func readProofKey(kept json.RawMessage) (*proofKey, error) {
	if len(kept) == 0 {
		return nil, nil
	}
	var k jose.JSONWebKey
	err := json.Unmarshal(kept, &k)
	private, ok := k.Key.(*ecdsa.PrivateKey)
	if err != nil || !ok || private.Curve != elliptic.P256() {
		return nil, errors.New("the key that the kept login is bound to is damaged; log in again")
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: private},
		(&jose.SignerOptions{EmbedJWK: true}).WithType("dpop+jwt"))
	return &proofKey{private, signer}, err
}

// thumbprint names the key (RFC 7638).
func (k *proofKey) thumbprint() (string, error) {
	public := jose.JSONWebKey{Key: k.private.Public()}
	sum, err := public.Thumbprint(crypto.SHA256)
	return base64.RawURLEncoding.EncodeToString(sum), err
}

// proof shows that whoever makes a request has the key (RFC 9449, section 4.2). token is the one that the request has,
// or "".
func (k *proofKey) proof(method string, at *url.URL, token, nonce string) (string, error) {
	claims := struct {
		ID       string           `json:"jti"`
		Method   string           `json:"htm"`
		URL      string           `json:"htu"`
		IssuedAt *jwt.NumericDate `json:"iat"`
		Token    string           `json:"ath,omitempty"`
		Nonce    string           `json:"nonce,omitempty"`
	}{
		ID: rand.Text(), Method: method, URL: at.Scheme + "://" + at.Host + at.EscapedPath(),
		IssuedAt: jwt.NewNumericDate(time.Now()), Nonce: nonce,
	}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		claims.Token = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return jwt.Signed(k.signer).Claims(claims).Serialize()
}

// nonce is what one server wants in proofs, as it said last. Its methods may be called by several goroutines.
type nonce struct{ last atomic.Pointer[string] }

func (n *nonce) get() string {
	if last := n.last.Load(); last != nil {
		return *last
	}
	return ""
}

// note takes the nonce of a response, and reports whether it has one.
func (n *nonce) note(h http.Header) bool {
	text := h.Get(nonceHeader)
	if text == "" || !isScope(text) {
		return false
	}
	n.last.Store(&text)
	return true
}

// prover sends requests with a proof each, redirected ones with one of their own.
type prover struct {
	base  http.RoundTripper
	key   *proofKey
	token string
	nonce *nonce
}

func (p *prover) RoundTrip(req *http.Request) (*http.Response, error) {
	proof, err := p.key.proof(req.Method, req.URL, p.token, p.nonce.get())
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	req = req.Clone(req.Context())
	req.Header.Set(proofHeader, proof)
	resp, err := p.base.RoundTrip(req)
	if err == nil {
		p.nonce.note(resp.Header)
	}
	return resp, err
}

// proving returns a client like another one that sends a proof with each request.
func proving(client *http.Client, key *proofKey, token string, n *nonce) *http.Client {
	c := *client
	p := &prover{base: client.Transport, key: key, token: token, nonce: n}
	if p.base == nil {
		p.base = http.DefaultTransport
	}
	c.Transport = p
	return &c
}

// ClockNote says that the clock of this machine is wrong, if a response says so: proofs and assertions are then taken
// for old or for not valid yet. It is "" otherwise.
func ClockNote(h http.Header) string {
	there, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return ""
	}
	ahead := time.Since(there).Round(time.Second)
	switch {
	case ahead >= time.Minute:
		return fmt.Sprintf("the clock of this machine is %s ahead of the one that answered; correct it", ahead)
	case ahead <= -time.Minute:
		return fmt.Sprintf("the clock of this machine is %s behind the one that answered; correct it", -ahead)
	}
	return ""
}

// isBound reports whether a type of tokens is that of those bound to a key.
func isBound(kind string) bool { return strings.EqualFold(kind, "DPoP") }
