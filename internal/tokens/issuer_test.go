package tokens_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/tokens"
)

const (
	issuer   = "https://id.example"
	audience = "https://tools.example/mcp"
)

// algorithms has one more than is good, to which no key is to lead.
func algorithms() []string {
	return []string{"RS256", "PS256", "ES256", "ES512", "EdDSA", "HS256", "none"}
}

// signer signs tokens of the issuer.
type signer struct {
	id      string
	method  jwt.SigningMethod
	private crypto.Signer
}

func newSigner(t *testing.T, id string, method jwt.SigningMethod) *signer {
	t.Helper()
	var private crypto.Signer
	var err error
	switch method {
	case jwt.SigningMethodES256:
		private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case jwt.SigningMethodES512:
		private, err = ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	case jwt.SigningMethodEdDSA:
		_, private, err = ed25519.GenerateKey(rand.Reader)
	default:
		private, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &signer{id, method, private}
}

// jwk is the public key as RFC 7517 has it.
func (s *signer) jwk() map[string]string {
	encode := base64.RawURLEncoding.EncodeToString
	k := map[string]string{"kid": s.id, "use": "sig", "alg": s.method.Alg()}
	switch public := s.private.Public().(type) {
	case *rsa.PublicKey:
		k["kty"], k["n"], k["e"] = "RSA", encode(public.N.Bytes()), encode(big.NewInt(int64(public.E)).Bytes())
	case *ecdsa.PublicKey:
		point, err := public.Bytes()
		if err != nil {
			panic(err)
		}
		half := len(point) / 2
		k["kty"], k["crv"], k["x"], k["y"] = "EC", public.Params().Name, encode(point[1:1+half]), encode(point[1+half:])
	case ed25519.PublicKey:
		k["kty"], k["crv"], k["x"] = "OKP", "Ed25519", encode(public)
	}
	return k
}

func set(t *testing.T, keys ...map[string]string) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"keys": keys})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (s *signer) pem(t *testing.T) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(s.private.Public())
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// good are claims that are trusted.
func good() jwt.MapClaims {
	return jwt.MapClaims{"iss": issuer, "aud": audience, "sub": "ada", "exp": time.Now().Add(time.Hour).Unix(), "scope": "openid workbench:toolbox:dev"}
}

// with returns good claims that are changed; nil removes one.
func with(changes jwt.MapClaims) jwt.MapClaims {
	all := good()
	maps.Copy(all, changes)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	return all
}

// sign signs claims as the signer does, or with another method or key.
func (s *signer) sign(t *testing.T, claims jwt.MapClaims, header map[string]any, method jwt.SigningMethod, key any) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	token.Header["kid"] = s.id
	maps.Copy(token.Header, header)
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (s *signer) token(t *testing.T, claims jwt.MapClaims) string {
	t.Helper()
	return s.sign(t, claims, nil, s.method, s.private)
}

// file writes keys for an issuer that is read from a file.
func file(t *testing.T, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestIssuer(t *testing.T) {
	methods := []jwt.SigningMethod{jwt.SigningMethodRS256, jwt.SigningMethodPS256, jwt.SigningMethodES256, jwt.SigningMethodES512, jwt.SigningMethodEdDSA}
	for _, method := range methods {
		s := newSigner(t, "1", method)
		for form, text := range map[string][]byte{"JWK Set": set(t, s.jwk()), "PEM": s.pem(t)} {
			t.Run(method.Alg()+" "+form, func(t *testing.T) {
				keys := file(t, text)
				if err := tokens.CheckFile(keys); err != nil {
					t.Errorf("CheckFile: %v", err)
				}
				i := tokens.NewIssuer(tokens.IssuerOptions{Name: issuer, Audience: audience, Algorithms: algorithms(), KeysFile: keys})
				got, err := i.Verify(t.Context(), s.token(t, good()))
				if want := (principal.Principal{Name: "ada@" + issuer, Toolboxes: []string{"dev"}}); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("got %+v and %v, want %+v", got, err, want)
				}
				other := newSigner(t, "1", method)
				denied(t, i, other.token(t, good()), "not trusted here")
			})
		}
	}
}

// A key is one whatever else an issuer says of it, and whatever stands beside it.
func TestKeysOfASet(t *testing.T) {
	for _, method := range []jwt.SigningMethod{jwt.SigningMethodRS256, jwt.SigningMethodES256, jwt.SigningMethodEdDSA} {
		s := newSigner(t, "1", method)
		for name, beside := range map[string]map[string]any{
			"a certificate that cannot be read": {"x5c": []string{"AAAA"}},
			"a thumbprint in another form":      {"x5t": "not base64"},
			"an address that is none":           {"x5u": ":"},
			"what is private":                   {"d": "AQAB", "k": "AQAB"},
			"types of its own":                  {"x5c": 5, "key_ops": "verify", "d": []int{1}},
		} {
			one := maps.Clone(beside)
			for member, value := range s.jwk() {
				one[member] = value
			}
			text, err := json.Marshal(map[string]any{"keys": []any{"none", map[string]any{"kty": 5, "kid": "1"}, one}})
			if err != nil {
				t.Fatal(err)
			}
			i := tokens.NewIssuer(tokens.IssuerOptions{Name: issuer, Audience: audience, Algorithms: algorithms(), KeysFile: file(t, text)})
			if _, err := i.Verify(t.Context(), s.token(t, good())); err != nil {
				t.Errorf("%s, %s: got %v", method.Alg(), name, err)
			}
		}
	}
	long := []byte{1024: 1}
	long[0] = 0x80
	text := set(t, map[string]string{"kty": "RSA", "n": base64.RawURLEncoding.EncodeToString(long), "e": "AQAB"})
	i := tokens.NewIssuer(tokens.IssuerOptions{Name: issuer, Audience: audience, Algorithms: algorithms(), KeysFile: file(t, text)})
	denied(t, i, newSigner(t, "1", jwt.SigningMethodRS256).token(t, good()), "not trusted here") // the long key was used
}

func TestScopes(t *testing.T) {
	s := newSigner(t, "1", jwt.SigningMethodEdDSA)
	i := tokens.NewIssuer(tokens.IssuerOptions{Name: issuer, Audience: audience, Algorithms: algorithms(), KeysFile: file(t, set(t, s.jwk()))})
	for name, tt := range map[string]struct {
		claims jwt.MapClaims
		want   principal.Principal
	}{
		"none":               {jwt.MapClaims{"scope": nil}, principal.Principal{Toolboxes: []string{}}},
		"of others":          {jwt.MapClaims{"scope": "openid admin toolbox:dev"}, principal.Principal{Toolboxes: []string{}}},
		"two toolboxes":      {jwt.MapClaims{"scope": "workbench:toolbox:a workbench:toolbox:b"}, principal.Principal{Toolboxes: []string{"a", "b"}}},
		"all toolboxes":      {jwt.MapClaims{"scope": "workbench:toolbox:a workbench:toolbox:*"}, principal.Principal{}},
		"admin":              {jwt.MapClaims{"scope": "workbench:admin"}, principal.Principal{Admin: true, Toolboxes: []string{}}},
		"an array":           {jwt.MapClaims{"scope": []string{"workbench:toolbox:a", "workbench:admin"}}, principal.Principal{Admin: true, Toolboxes: []string{"a"}}},
		"an array's space":   {jwt.MapClaims{"scope": nil, "scp": []string{"workbench:toolbox:a b"}}, principal.Principal{Toolboxes: []string{"a b"}}},
		"as some call it":    {jwt.MapClaims{"scope": nil, "scp": []string{"workbench:toolbox:a"}}, principal.Principal{Toolboxes: []string{"a"}}},
		"several audiences":  {jwt.MapClaims{"aud": []string{"x", audience}}, principal.Principal{Toolboxes: []string{"dev"}}},
		"just over":          {jwt.MapClaims{"exp": time.Now().Add(-10 * time.Second).Unix()}, principal.Principal{Toolboxes: []string{"dev"}}},
		"something besides ": {jwt.MapClaims{"nbf": time.Now().Add(-time.Hour).Unix(), "x": map[string]any{"y": 1}}, principal.Principal{Toolboxes: []string{"dev"}}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.want.Name = "ada@" + issuer
			got, err := i.Verify(t.Context(), s.token(t, with(tt.claims)))
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v and %v, want %+v", got, err, tt.want)
			}
		})
	}
}

func TestIssuerRefuses(t *testing.T) {
	s := newSigner(t, "1", jwt.SigningMethodRS256)
	ec := newSigner(t, "2", jwt.SigningMethodES256)
	i := tokens.NewIssuer(tokens.IssuerOptions{Name: issuer, Audience: audience, Algorithms: algorithms(), KeysFile: file(t, set(t, s.jwk(), ec.jwk()))})
	parts := strings.Split(s.token(t, good()), ".")
	encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	const untrusted = "not trusted here"
	for _, tt := range []struct{ name, token, want string }{
		{"expired", s.token(t, with(jwt.MapClaims{"exp": time.Now().Add(-time.Minute).Unix()})), "has expired"},
		{"without an end", s.token(t, with(jwt.MapClaims{"exp": nil})), "lacks a claim"},
		{"an end that is no time", s.token(t, with(jwt.MapClaims{"exp": "tomorrow"})), "no JSON Web Token"},
		{"to come", s.token(t, with(jwt.MapClaims{"nbf": time.Now().Add(time.Hour).Unix()})), "not valid yet"},
		{"of another issuer", s.token(t, with(jwt.MapClaims{"iss": issuer + "/"})), "another issuer"},
		{"of no issuer", s.token(t, with(jwt.MapClaims{"iss": nil})), "lacks a claim"},
		{"for another audience", s.token(t, with(jwt.MapClaims{"aud": audience + "/x"})), "another audience"},
		{"for no audience", s.token(t, with(jwt.MapClaims{"aud": nil})), "lacks a claim"},
		{"of nobody", s.token(t, with(jwt.MapClaims{"sub": nil})), "no sub"},
		{"of somebody with a line end", s.token(t, with(jwt.MapClaims{"sub": "a\nb"})), "no sub"},
		{"of somebody with a long name", s.token(t, with(jwt.MapClaims{"sub": strings.Repeat("a", 513)})), "no sub"},
		{"of somebody who may be several", s.token(t, with(jwt.MapClaims{"sub": "a\xff"})), "no sub"},

		{"none", s.sign(t, good(), nil, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType), untrusted},
		{"none in capitals", encode(`{"alg":"NONE"}`) + "." + parts[1] + ".", untrusted},
		{"no algorithm", encode(`{"typ":"JWT"}`) + "." + parts[1] + "." + parts[2], untrusted},
		{"HS256 with the public key", s.sign(t, good(), nil, jwt.SigningMethodHS256, s.pem(t)), untrusted},
		{"HS256 with the modulus", s.sign(t, good(), nil, jwt.SigningMethodHS256, s.private.Public().(*rsa.PublicKey).N.Bytes()), untrusted},
		{"an algorithm that the key is not for", s.sign(t, good(), nil, jwt.SigningMethodRS512, s.private), untrusted},
		{"a key of another kind", ec.sign(t, good(), map[string]any{"kid": "1"}, jwt.SigningMethodES256, ec.private), untrusted},
		{"an unknown key", s.sign(t, good(), map[string]any{"kid": "3"}, s.method, s.private), untrusted},
		{"a key of its own", s.sign(t, good(), map[string]any{"kid": "3", "jwk": ec.jwk(), "jku": "https://evil.example/"}, ec.method, ec.private), untrusted},
		{"an extension", s.sign(t, good(), map[string]any{"crit": []string{"b64"}, "b64": false}, s.method, s.private), untrusted},
		{"other claims", parts[0] + "." + encode(`{"sub":"bob"}`) + "." + parts[2], untrusted},
		{"no signature", parts[0] + "." + parts[1] + ".", untrusted},
		{"two parts", parts[0] + "." + parts[1], "no JSON Web Token"},
		{"four parts", strings.Join(parts, ".") + ".x", "no JSON Web Token"},
		{"not base64", parts[0] + "." + parts[1] + "=." + parts[2], "no JSON Web Token"},
		{"nothing", "", "no JSON Web Token"},
		{"very long", strings.Repeat("a", 20_000), "longer than"},
	} {
		t.Run(tt.name, func(t *testing.T) { denied(t, i, tt.token, tt.want) })
	}
	narrow := tokens.NewIssuer(tokens.IssuerOptions{Name: issuer, Audience: audience, Algorithms: []string{"ES256"}, KeysFile: file(t, set(t, s.jwk(), ec.jwk()))})
	denied(t, narrow, s.token(t, good()), untrusted)
	if _, err := narrow.Verify(t.Context(), ec.token(t, good())); err != nil {
		t.Errorf("got %v of an algorithm that is allowed", err)
	}
}

// Keys that come and go are noticed, and nobody makes us ask for them all the time.
func TestRotation(t *testing.T) {
	one, two := newSigner(t, "1", jwt.SigningMethodES256), newSigner(t, "2", jwt.SigningMethodES256)
	synctest.Test(t, func(t *testing.T) {
		served, asked, broken := set(t, one.jwk()), 0, false
		client := &http.Client{Transport: roundTrip(func(*http.Request) (int, []byte) {
			asked++
			if broken {
				return http.StatusBadGateway, nil
			}
			return http.StatusOK, served
		})}
		i := tokens.NewIssuer(tokens.IssuerOptions{Name: issuer, Audience: audience, Algorithms: algorithms(), KeysURL: "https://id.example/keys", Client: client})
		verify := func(s *signer) error {
			_, err := i.Verify(t.Context(), s.token(t, good()))
			synctest.Wait()
			return err
		}
		wantAsked := func(want int) {
			t.Helper()
			if asked != want {
				t.Errorf("got asked %d times for the keys, want %d", asked, want)
			}
		}
		for range 3 {
			if err := verify(one); err != nil {
				t.Fatal(err)
			}
		}
		wantAsked(1)
		served = set(t, one.jwk(), two.jwk())
		if err := verify(two); err == nil {
			t.Error("got an unknown key let in")
		}
		wantAsked(1)
		time.Sleep(10 * time.Second)
		if err := verify(two); err != nil {
			t.Errorf("got %v of a new key", err)
		}
		wantAsked(2)
		served = set(t, two.jwk())
		time.Sleep(5 * time.Minute)
		_ = verify(two) // has the keys read
		wantAsked(3)
		if err := verify(one); err == nil {
			t.Error("got a key let in that was taken back")
		}
		broken = true
		time.Sleep(59 * time.Minute)
		if err := verify(two); err != nil {
			t.Errorf("got %v while the keys cannot be read", err)
		}
		var no *principal.DeniedError
		if err := verify(one); err == nil || errors.As(err, &no) {
			t.Errorf("got %v of a key that may be new while the keys cannot be read, want an error that does not blame the token", err)
		}
		time.Sleep(2 * time.Minute)
		if err := verify(two); err == nil || errors.As(err, &no) || !strings.Contains(err.Error(), "502") {
			t.Errorf("got %v after an hour without keys, want an error that does not blame the token", err)
		}
		broken = false
		time.Sleep(10 * time.Second)
		if err := verify(two); err != nil {
			t.Errorf("got %v when the keys can be read again", err)
		}
	})
}

// roundTrip answers requests.
type roundTrip func(*http.Request) (int, []byte)

func (r roundTrip) RoundTrip(req *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	status, body := r(req)
	rec.WriteHeader(status)
	_, _ = rec.Write(body)
	return rec.Result(), nil
}

func TestKeysOfOthers(t *testing.T) {
	s := newSigner(t, "1", jwt.SigningMethodES256)
	var lured atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		lured.Store(true)
		_, _ = w.Write(set(t, s.jwk()))
	}))
	defer elsewhere.Close()
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		case "/long":
			_, _ = w.Write([]byte(strings.Repeat(" ", 2<<20)))
		case "/page":
			_, _ = w.Write([]byte("<html>"))
		case "/none":
			_, _ = w.Write([]byte(`{"keys":[{"kty":"oct","k":"c2VjcmV0"},{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}`))
		}
	}))
	defer keys.Close()
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	sealing := s.jwk()
	sealing["use"] = "enc"
	for _, tt := range []struct {
		name, want string
		opts       tokens.IssuerOptions
	}{
		{"keys of another use", "no key", tokens.IssuerOptions{KeysFile: file(t, set(t, sealing))}},
		{"keys that are no list", "keys: want an array, got JSON of the type string", tokens.IssuerOptions{KeysFile: file(t, []byte(`{"keys":"none"}`))}},
		{"a redirect", "302", tokens.IssuerOptions{KeysURL: keys.URL + "/moved"}},
		{"a long answer", "more than", tokens.IssuerOptions{KeysURL: keys.URL + "/long"}},
		{"a page", "want a JWK Set", tokens.IssuerOptions{KeysURL: keys.URL + "/page"}},
		{"no key that can be used", "no key", tokens.IssuerOptions{KeysURL: keys.URL + "/none"}},
		{"no file", "cannot be read", tokens.IssuerOptions{KeysFile: filepath.Join(t.TempDir(), "none")}},
		{"a private key", "got PRIVATE KEY", tokens.IssuerOptions{KeysFile: file(t, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY"}))}},
		{"a short key", "at least 2048", tokens.IssuerOptions{KeysFile: file(t, (&signer{private: weak}).pem(t))}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.Name, tt.opts.Audience, tt.opts.Algorithms = issuer, audience, algorithms()
			_, err := tokens.NewIssuer(tt.opts).Verify(t.Context(), s.token(t, good()))
			var no *principal.DeniedError
			if err == nil || errors.As(err, &no) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q that does not blame the token", err, tt.want)
			}
			if tt.opts.KeysFile != "" {
				if err := tokens.CheckFile(tt.opts.KeysFile); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("CheckFile: got %v, want an error with %q", err, tt.want)
				}
			}
		})
	}
	if lured.Load() {
		t.Error("got keys asked for where a redirect led")
	}
}

func TestSet(t *testing.T) {
	s := newSigner(t, "1", jwt.SigningMethodES256)
	all := &tokens.Set{
		Kept:   tokens.Open(filepath.Join(t.TempDir(), "tokens.json")),
		Issuer: tokens.NewIssuer(tokens.IssuerOptions{Name: issuer, Audience: audience, Algorithms: algorithms(), KeysFile: file(t, set(t, s.jwk()))}),
	}
	for want, token := range map[string]string{"kept": made(t, all.Kept, tokens.Token{Name: "k", Principal: "kept"}), "ada@" + issuer: s.token(t, good())} {
		if p, err := all.Verify(t.Context(), token); err != nil || p.Name != want {
			t.Errorf("got %+v and %v, want %s", p, err, want)
		}
	}
	denied(t, all, "wb_x", "revoked")
	denied(t, all, "x", "no JSON Web Token")
	denied(t, &tokens.Set{Kept: all.Kept}, "x", "revoked")
	denied(t, &tokens.Set{}, "x", "not known here")
}

// raw signs claims and a header that are given as text.
func (s *signer) raw(t *testing.T, header, claims string) string {
	t.Helper()
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(header)) + "." + encode([]byte(claims))
	signature, err := s.method.Sign(text, s.private)
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + encode(signature)
}

// What a token says counts to the letter and once: who can choose a claim of his own cannot choose one that is read
// here.
func TestFaultG70_ClaimsAreExactAndSingle(t *testing.T) {
	s := newSigner(t, "1", jwt.SigningMethodES256)
	i := tokens.NewIssuer(tokens.IssuerOptions{Name: issuer, Audience: audience, Algorithms: algorithms(), KeysFile: file(t, set(t, s.jwk()))})
	const header = `{"alg":"ES256","kid":"1"}`
	claims := func(more string) string {
		return fmt.Sprintf(`{"iss":%q,"aud":%q,"sub":"ada","exp":%d%s}`, issuer, audience, time.Now().Add(time.Hour).Unix(), more)
	}
	for name, more := range map[string]string{
		"as it should be":    `,"scope":"workbench:toolbox:dev"`,
		"a claim like none":  `,"scope":"workbench:toolbox:dev","Scopes":"workbench:admin","x_scope":"workbench:admin"`,
		"one within another": `,"scope":"workbench:toolbox:dev","app":{"scope":"workbench:admin","scope":"workbench:admin"}`,
	} {
		got, err := i.Verify(t.Context(), s.raw(t, header, claims(more)))
		if want := (principal.Principal{Name: "ada@" + issuer, Toolboxes: []string{"dev"}}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v and %v, want %+v", name, got, err, want)
		}
	}
	for name, tt := range map[string]struct{ header, claims, want string }{
		"in capitals":              {header, claims(`,"scope":"x","SCOPE":"workbench:admin"`), "spells scope differently"},
		"in capitals alone":        {header, claims(`,"Scope":"workbench:admin"`), "spells scope differently"},
		"with a long s":            {header, claims(`,"ſcope":"workbench:admin"`), "spells scope differently"},
		"escaped":                  {header, claims(`,"\u0053cope":"workbench:admin"`), "spells scope differently"},
		"twice":                    {header, claims(`,"scope":"x","scope":"workbench:admin"`), "one thing twice"},
		"twice, once escaped":      {header, claims(`,"scope":"x","sc\u006fpe":"workbench:admin"`), "one thing twice"},
		"by both names":            {header, claims(`,"scope":"x","scp":"workbench:admin"`), "both scope and scp"},
		"another user":             {header, claims(`,"Sub":"bob"`), "spells sub differently"},
		"two users":                {header, claims(`,"sub":"bob"`), "one thing twice"},
		"a later end":              {header, claims(`,"EXP":99999999999`), "spells exp differently"},
		"an end in words":          {header, strings.Replace(claims(""), `"exp":`, `"exp":"99999999999","x":`, 1), "exp is no time"},
		"no end that there is":     {header, strings.Replace(claims(""), `"exp":`, `"exp":1e300,"x":`, 1), "exp"},
		"a begin past all":         {header, claims(`,"nbf":1e300`), "nbf is no time"},
		"a begin in words":         {header, claims(`,"nbf":"1"`), "nbf is no time"},
		"a begin before all":       {header, claims(`,"nbf":-1`), "nbf is no time"},
		"made at no time":          {header, claims(`,"iat":"1"`), "iat is no time"},
		"two keys":                 {`{"alg":"ES256","kid":"2","kid":"1"}`, claims(""), "one thing twice"},
		"an extension of nothing":  {`{"alg":"ES256","kid":"1","crit":null}`, claims(""), "not trusted here"},
		"an extension in capitals": {`{"alg":"ES256","kid":"1","CRIT":["b64"]}`, claims(""), "spells crit differently"},
	} {
		t.Run(name, func(t *testing.T) { denied(t, i, s.raw(t, tt.header, tt.claims), tt.want) })
	}
}

// A user of the issuer and somebody who has a token made here are two, whatever they are called.
func TestFaultG71_UsersOfTheIssuerAreOthers(t *testing.T) {
	s := newSigner(t, "1", jwt.SigningMethodES256)
	all := &tokens.Set{
		Kept:   tokens.Open(filepath.Join(t.TempDir(), "tokens.json")),
		Issuer: tokens.NewIssuer(tokens.IssuerOptions{Name: issuer, Audience: audience, Algorithms: algorithms(), KeysFile: file(t, set(t, s.jwk()))}),
	}
	secret := map[string]string{} // all made before the file is read
	for _, name := range []string{"ada", "default_user", "ada@elsewhere", "ada@" + issuer} {
		secret[name] = made(t, all.Kept, tokens.Token{Name: name, Principal: name})
	}
	for _, name := range []string{"ada", "default_user", "ada@elsewhere"} {
		kept, err := all.Verify(t.Context(), secret[name])
		if err != nil || kept.Name != name {
			t.Errorf("got %+v and %v, want %s", kept, err, name)
		}
		issued, err := all.Verify(t.Context(), s.token(t, with(jwt.MapClaims{"sub": name})))
		if err != nil || issued.Name == kept.Name || issued.Name != name+"@"+issuer {
			t.Errorf("got %+v and %v for the user %s of the issuer", issued, err, name)
		}
	}
	denied(t, all, secret["ada@"+issuer], "a user of the issuer")
	denied(t, all, s.token(t, with(jwt.MapClaims{"sub": strings.Repeat("a", 512-len(issuer))})), "no sub")
}
