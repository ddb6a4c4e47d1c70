package faults

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// certificate makes a certificate for 127.0.0.1 that vouches for itself, and the file with it.
func certificate(t *testing.T, ends time.Time) (tls.Certificate, string) {
	t.Helper()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("a program of this system trusts whom the system trusts, and nobody else")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().AddDate(-1, 0, 0), NotAfter: ends,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file := t.TempDir() + "/authority.pem"
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, file
}

func TestFaultF7_Certificates(t *testing.T) {
	t.Parallel()
	serve := func(t *testing.T, ends time.Time) (r *badremote, file string) {
		certificate, file := certificate(t, ends)
		return new(badremote).begin(t, withTLS(certificate)), file
	}
	next, ended := time.Now().AddDate(1, 0, 0), time.Now().AddDate(0, 0, -1)
	t.Run("good", func(t *testing.T) {
		r, file := serve(t, next)
		newRemoteBed(t, r, setup{env: []string{"SSL_CERT_DIR=" + t.TempDir(), "SSL_CERT_FILE=" + file}}).works()
	})
	t.Run("bad", func(t *testing.T) {
		plain := new(badremote).serve(t)
		stranger, _ := serve(t, next)
		expired, old := serve(t, ended)
		other, known := serve(t, next)
		unready{
			"not trusted":   {entry{"url": stranger.URL + "/mcp"}, []string{"certificate is not trusted", "your own authority"}},
			"expired":       {entry{"url": expired.URL + "/mcp"}, []string{"certificate is not trusted", "expired"}},
			"of other host": {entry{"url": strings.Replace(other.URL, "127.0.0.1", "localhost", 1) + "/mcp"}, []string{"certificate is not trusted", "localhost"}},
			"no TLS":        {entry{"url": strings.Replace(plain.URL, "http:", "https:", 1)}, []string{"is its url http and not https?"}},
		}.at(t, setup{env: []string{"SSL_CERT_DIR=" + t.TempDir(), "SSL_CERT_FILE=" + joined(t, old, known)}})
		for _, r := range []*badremote{stranger, expired, other} {
			if got := r.count("initialize"); got != 0 {
				t.Errorf("the server at %s was sent %d messages, want none", r.URL, got)
			}
		}
	})
}

// withTLS starts a server that shows a certificate.
func withTLS(certificate tls.Certificate) func(*httptest.Server) {
	return func(s *httptest.Server) {
		s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
		s.StartTLS()
	}
}

// joined is a file with what is in several.
func joined(t *testing.T, files ...string) string {
	t.Helper()
	var all []byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	file := t.TempDir() + "/authorities.pem"
	if err := os.WriteFile(file, all, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// What was meant for one origin goes to no other, the credentials least of all.
func TestFaultF8_Redirects(t *testing.T) {
	t.Parallel()
	t.Run("from http", func(t *testing.T) {
		var visits atomic.Int32
		other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
		t.Cleanup(other.Close)
		all := unready{}
		for name, tt := range map[string]struct{ to, text string }{
			"in a loop":            {"/mcp?again", "redirected more than 5 times"},
			"to another":           {"OTHER/mcp", "redirected to another origin, http://127.0.0.1:"},
			"to a private address": {"http://169.254.169.254/latest", "redirected to another origin, http://169.254.169.254"},
			"to a file":            {"file:///etc/passwd", "redirected to another origin"},
			"to https":             {"https://HOST/mcp", "redirected to another origin, https://"},
			"nowhere":              {"", "HTTP 307"},
		} {
			r := (&badremote{take: func(w http.ResponseWriter, req *http.Request, _ request) bool {
				if tt.to != "" {
					w.Header().Set("Location", strings.NewReplacer("OTHER", other.URL, "HOST", req.Host).Replace(tt.to))
				}
				w.WriteHeader(http.StatusTemporaryRedirect)
				return true
			}}).serve(t)
			one := all[name]
			one.server, one.pieces = entry{"url": r.URL + "/mcp", "headers": entry{"X-Key": "secret"}}, []string{tt.text}
			all[name] = one
		}
		all.at(t, setup{})
		if got := visits.Load(); got != 0 {
			t.Errorf("the other server was asked %d times, want never", got)
		}
	})
	t.Run("from https to http", func(t *testing.T) {
		certificate, file := certificate(t, time.Now().AddDate(1, 0, 0))
		plain := new(badremote).serve(t)
		r := (&badremote{take: func(w http.ResponseWriter, req *http.Request, _ request) bool {
			http.Redirect(w, req, plain.URL+"/mcp", http.StatusPermanentRedirect)
			return true
		}}).begin(t, withTLS(certificate))
		unready{"": {entry{"url": r.URL + "/mcp"}, []string{"redirected to another origin, http://", "slash at its end"}}}.at(t,
			setup{env: []string{"SSL_CERT_FILE=" + file}})
		if got := plain.count("initialize"); got != 0 {
			t.Errorf("the message went on without TLS %d times", got)
		}
	})
}
