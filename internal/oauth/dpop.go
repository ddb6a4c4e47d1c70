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
	"slices"
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

// proofKey is a key pair that tokens are bound to (RFC 9449). Whoever has such a
// token can use it with the key alone.
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

// proof shows that whoever makes a request has the key (RFC 9449, section 4.2).
// token is the one that the request has, or "".
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

// nonce is what one server wants in proofs, as it said last. Its methods may be
// called by several goroutines.
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

// Do sends a request to the server with a token, "" for none, and with a proof
// if the token is bound to a key. A server may want a nonce in proofs that it
// tells when it refuses one: the request is then sent once more, for nobody has
// acted on it, and never a third time.
func (c *Client) Do(client *http.Client, req *http.Request, token string) (*http.Response, error) {
	if token == "" {
		return client.Do(req)
	}
	key, err := c.boundTo()
	if err != nil {
		return nil, err
	}
	if key == nil {
		return client.Do(withToken(req, "Bearer", token))
	}
	client = proving(client, key, token, &c.serverNonce)
	resp, err := client.Do(withToken(req, proofHeader, token))
	if err != nil || resp.StatusCode != http.StatusUnauthorized || ParseChallenge(resp.Header).Error != UseNonce || !new(nonce).note(resp.Header) {
		return resp, err
	}
	_ = resp.Body.Close()
	return client.Do(withToken(req, proofHeader, token))
}

// withToken returns a request of its own, so that the same may be sent twice.
func withToken(req *http.Request, scheme, token string) *http.Request {
	req = req.Clone(req.Context())
	if req.GetBody != nil {
		req.Body, _ = req.GetBody() // of bytes in memory
	}
	req.Header.Set("Authorization", scheme+" "+token)
	return req
}

// boundTo returns the key that the token is bound to; nil if whoever has the
// token may use it.
func (c *Client) boundTo() (*proofKey, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.current.Bound {
		return nil, nil
	}
	if c.key == nil || string(c.keyOf) != string(c.current.Key) {
		key, err := readProofKey(c.current.Key)
		if err != nil || key == nil {
			return nil, errors.Join(err, errors.New("the login has no key that its token is bound to"))
		}
		c.key, c.keyOf = key, c.current.Key
	}
	return c.key, nil
}

// proofKeyFor returns the key that a token of a place is to be bound to, as it
// is kept: none unless the configuration or the server wants that, or the token
// before it was; and the one of the login if it has one.
func (c *Client) proofKeyFor(r *record, p *place) (json.RawMessage, error) {
	before := r.Bound && r.Issuer == p.Issuer
	switch {
	case !c.settings.DPoP && !r.Wanted.DPoP && !p.bound && !before:
		return nil, nil
	case len(p.Proofs) > 0 && !slices.Contains(p.Proofs, string(jose.ES256)):
		return nil, fmt.Errorf("authorization server %s: it wants proofs (DPoP) that are signed with something else than ES256, which is what workbench signs them with", p.Issuer)
	case r.Issuer == p.Issuer && len(r.Key) > 0:
		return r.Key, nil
	}
	return newProofKey()
}

// ClockNote says that the clock of this machine is wrong, if a response says
// so: proofs and assertions are then taken for old or for not valid yet. It is
// "" otherwise.
func ClockNote(h http.Header) string {
	there, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return ""
	}
	ahead := time.Since(there).Round(time.Second)
	switch {
	case ahead >= time.Minute:
		return fmt.Sprintf("the clock of this machine is %s ahead of the one that answered; set it right", ahead)
	case ahead <= -time.Minute:
		return fmt.Sprintf("the clock of this machine is %s behind the one that answered; set it right", -ahead)
	}
	return ""
}

// isBound reports whether a type of tokens is that of those bound to a key.
func isBound(kind string) bool { return strings.EqualFold(kind, "DPoP") }
