// Package oauthtest is an authorization server for tests, which asks nobody and keeps everything in memory.
package oauthtest

import (
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Server is an authorization server, and guards the servers of its own origin. The zero value works; its fields are set
// before it is used. Its methods may be called by several goroutines.
type Server struct {
	// Change may change a document or answer before it is sent; path is that of the request. nil changes nothing.
	Change func(path string, answer map[string]any)
	// ClientKey is what clients sign with in place of showing a secret; nil if they have none.
	ClientKey crypto.PublicKey
	// Trusted signs the tokens of those who vouch for clients and for people; nil if there are none.
	Trusted crypto.PublicKey
	// Grants signs what an identity provider says of people; nil if this is none.
	Grants *Issuer
	// DPoP has tokens be bound to keys, and be good with a proof alone.
	DPoP bool
	// Nonce is what must be in proofs; nil wants nothing in them.
	Nonce func() string
	// Late is how far the clock of the server is behind.
	Late time.Duration
	// SecretEnds is what it says of when the secret of a client that registers ends, 0 for nothing.
	SecretEnds int64

	mu     sync.Mutex
	made   int
	codes  map[string]grant
	access map[string]issued // the tokens that are good
	renew  map[string]issued // the same of refresh tokens
	seen   map[string]bool   // proofs and assertions, which are good once
	count  map[string]int
}

// grant is what a code stands for.
type grant struct{ challenge, redirect, scope, key string }

// issued is what a token is good for.
type issued struct{ scope, key string }

// Moved is a path that leads to /mcp.
const Moved = "/moved"

// Handler returns a handler that answers what concerns logins, and gives all else to next.
func (s *Server) Handler(next http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-protected-resource/", s.resource)
	mux.HandleFunc("/.well-known/oauth-authorization-server", s.metadata)
	mux.HandleFunc("/authorize", s.authorize)
	mux.HandleFunc("POST /token", s.token)
	mux.HandleFunc("POST /register", s.register)
	mux.HandleFunc("POST /revoke", s.revoke)
	mux.HandleFunc(Moved, func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, "/mcp", http.StatusTemporaryRedirect)
	})
	mux.Handle("/", next)
	return mux
}

// Guard reports whether a request has a good token with a scope, "" for any, and answers it otherwise.
func (s *Server) Guard(w http.ResponseWriter, req *http.Request, scope string) bool {
	scheme, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	want, refused := "Bearer", error(nil)
	s.mu.Lock()
	has, good := s.access[token]
	if s.DPoP {
		want = "DPoP"
		if good {
			var key string
			key, refused = s.proofLocked(req, token)
			good = refused == nil && key == has.key
		}
	}
	s.mu.Unlock()
	good = good && scheme == want
	challenge := fmt.Sprintf("%s resource_metadata=%q", want, origin(req)+"/.well-known/oauth-protected-resource"+req.URL.Path)
	switch {
	case refused != nil:
		w.Header().Set("WWW-Authenticate", challenge+fmt.Sprintf(", error=%q", s.refuseProof(w, refused)))
		w.WriteHeader(http.StatusUnauthorized)
	case !good:
		w.Header().Set("WWW-Authenticate", challenge)
		w.WriteHeader(http.StatusUnauthorized)
	case scope != "" && !strings.Contains(" "+has.scope+" ", " "+scope+" "):
		w.Header().Set("WWW-Authenticate", challenge+fmt.Sprintf(`, error="insufficient_scope", scope=%q`, scope))
		w.WriteHeader(http.StatusForbidden)
	default:
		return true
	}
	return false
}

// Expire has all access tokens be refused from now on.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
}

// Forget has all tokens be refused from now on, those to renew them by too.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
	clear(s.renew)
}

// Count returns how often something happened: a grant type at the token endpoint, or "register" or "revoke".
func (s *Server) Count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count[what]
}

// Consent is a browser in which somebody consents: it opens an address and goes where it is sent.
func Consent(address string) error {
	resp, err := http.Get(address)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("HTTP %d: %s", resp.StatusCode, text)
	}
	return err
}

func origin(req *http.Request) string {
	if req.TLS != nil {
		return "https://" + req.Host
	}
	return "http://" + req.Host
}

func (s *Server) write(w http.ResponseWriter, req *http.Request, status int, answer map[string]any) {
	if s.Change != nil {
		s.Change(req.URL.Path, answer)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Date", time.Now().Add(-s.Late).UTC().Format(http.TimeFormat))
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

func (s *Server) resource(w http.ResponseWriter, req *http.Request) {
	s.write(w, req, http.StatusOK, map[string]any{
		"resource":              origin(req) + strings.TrimPrefix(req.URL.Path, "/.well-known/oauth-protected-resource"),
		"authorization_servers": []string{origin(req)},
	})
}

func (s *Server) metadata(w http.ResponseWriter, req *http.Request) {
	at := origin(req)
	s.write(w, req, http.StatusOK, map[string]any{
		"issuer": at, "authorization_endpoint": at + "/authorize", "token_endpoint": at + "/token",
		"registration_endpoint": at + "/register", "revocation_endpoint": at + "/revoke",
		"code_challenge_methods_supported":               []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"none", "client_secret_basic"},
		"authorization_response_iss_parameter_supported": true,
	})
}

func (s *Server) authorize(w http.ResponseWriter, req *http.Request) {
	q := req.URL.Query()
	s.mu.Lock()
	code := s.nextLocked("code")
	s.codes[code] = grant{q.Get("code_challenge"), q.Get("redirect_uri"), q.Get("scope"), q.Get("dpop_jkt")}
	s.mu.Unlock()
	answer := map[string]any{"code": code, "state": q.Get("state"), "iss": origin(req)}
	if s.Change != nil {
		s.Change(req.URL.Path, answer)
	}
	back := url.Values{}
	for k, v := range answer {
		back.Set(k, fmt.Sprint(v))
	}
	http.Redirect(w, req, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (s *Server) token(w http.ResponseWriter, req *http.Request) {
	kind := req.PostFormValue("grant_type")
	if kind == grantExchange && s.Grants != nil {
		s.exchange(w, req)
		return
	}
	s.mu.Lock()
	key, refused := "", error(nil)
	if s.DPoP {
		key, refused = s.proofLocked(req, "")
	}
	var got issued
	var access, renew string
	good := false
	if refused == nil {
		if got.scope, good = s.grantLocked(kind, key, req); good {
			got.key = key
			access, renew = s.nextLocked("access"), s.nextLocked("renew")
			s.access[access], s.renew[renew] = got, got
		}
	}
	s.mu.Unlock()
	switch {
	case refused != nil:
		s.write(w, req, http.StatusBadRequest, map[string]any{"error": s.refuseProof(w, refused)})
		return
	case !good:
		s.write(w, req, http.StatusBadRequest, map[string]any{
			"error": "invalid_grant", "error_description": "not for " + req.PostFormValue("assertion") + req.PostFormValue("client_assertion")})
		return
	}
	answer := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 3600, "scope": got.scope}
	if s.DPoP {
		answer["token_type"] = "DPoP"
	}
	if kind == "authorization_code" || kind == "refresh_token" {
		answer["refresh_token"] = renew
	}
	s.write(w, req, http.StatusOK, answer)
}

// grantLocked checks a request for a token that is to be bound to a key, "" for none. What it is asked by is good once.
func (s *Server) grantLocked(kind, key string, req *http.Request) (scope string, good bool) {
	s.nextLocked("")
	s.count[kind]++
	switch kind {
	case "authorization_code":
		code := req.PostFormValue("code")
		g, ok := s.codes[code]
		delete(s.codes, code)
		sum := sha256.Sum256([]byte(req.PostFormValue("code_verifier")))
		return g.scope, ok && g.challenge == base64.RawURLEncoding.EncodeToString(sum[:]) && g.redirect == req.PostFormValue("redirect_uri") &&
			(g.key == key || !s.DPoP) && (s.ClientKey == nil || s.clientLocked(req))
	case "refresh_token":
		old := req.PostFormValue("refresh_token")
		was, good := s.renew[old]
		delete(s.renew, old)
		return was.scope, good && was.key == key && (s.ClientKey == nil || s.clientLocked(req))
	case "client_credentials":
		return req.PostFormValue("scope"), s.clientLocked(req)
	case grantJWT:
		return req.PostFormValue("scope"), s.vouchedLocked(req)
	}
	return "", false
}

// nextLocked makes a new name for something.
func (s *Server) nextLocked(what string) string {
	if s.codes == nil {
		s.codes, s.access, s.renew = make(map[string]grant), make(map[string]issued), make(map[string]issued)
		s.seen, s.count = make(map[string]bool), make(map[string]int)
	}
	s.made++
	return fmt.Sprintf("%s-%d", what, s.made)
}

func (s *Server) register(w http.ResponseWriter, req *http.Request) {
	var asked map[string]any
	if err := json.NewDecoder(req.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	asked["client_id"] = s.nextLocked("client")
	if s.SecretEnds != 0 {
		asked["client_secret"], asked["client_secret_expires_at"] = s.nextLocked("secret"), s.SecretEnds
	}
	s.count["register"]++
	s.mu.Unlock()
	s.write(w, req, http.StatusCreated, asked)
}

func (s *Server) revoke(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextLocked("")
	s.count["revoke"]++
	token := req.PostFormValue("token")
	if s.ClientKey != nil && !s.clientLocked(req) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if _, ok := s.renew[token]; ok {
		clear(s.access)
	}
	delete(s.access, token)
	delete(s.renew, token)
	w.WriteHeader(http.StatusOK)
}
