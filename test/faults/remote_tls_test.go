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
	good, ended := time.Now().AddDate(1, 0, 0), time.Now().AddDate(0, 0, -1)
	for name, tt := range map[string]struct {
		ends    time.Time
		host    string
		trusted bool
		pieces  []string // of the error; none if all is well
	}{
		"good":          {good, "127.0.0.1", true, nil},
		"not trusted":   {good, "127.0.0.1", false, []string{"certificate is not trusted", "your own authority"}},
		"expired":       {ended, "127.0.0.1", true, []string{"certificate is not trusted", "expired"}},
		"of other host": {good, "localhost", true, []string{"certificate is not trusted", "localhost"}},
	} {
		t.Run(name, func(t *testing.T) {
			certificate, file := certificate(t, tt.ends)
			r := new(badremote).begin(t, func(s *httptest.Server) {
				s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
				s.StartTLS()
			})
			how := setup{sick: entry{"url": strings.Replace(r.URL, "127.0.0.1", tt.host, 1) + "/mcp"}, env: []string{"SSL_CERT_DIR=" + t.TempDir()}}
			if tt.trusted {
				how.env = append(how.env, "SSL_CERT_FILE="+file)
			}
			if tt.pieces == nil {
				newRemoteBed(t, r, how).works()
				return
			}
			unready(t, how, tt.pieces...)
			if got := r.count("initialize"); got != 0 {
				t.Errorf("the server was sent %d messages, want none", got)
			}
		})
	}
	t.Run("no TLS", func(t *testing.T) {
		r := new(badremote).serve(t)
		unready(t, setup{sick: entry{"url": strings.Replace(r.URL, "http:", "https:", 1)}}, "is its url http and not https?")
	})
}

// What was meant for one origin goes to no other, the credentials least of all.
func TestFaultF8_Redirects(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ to, text string }{
		"in a loop":            {"/mcp?again", "redirected more than 5 times"},
		"to another":           {"OTHER/mcp", "redirected to another origin, http://127.0.0.1:"},
		"to a private address": {"http://169.254.169.254/latest", "redirected to another origin, http://169.254.169.254"},
		"to a file":            {"file:///etc/passwd", "redirected to another origin"},
		"to https":             {"https://HOST/mcp", "redirected to another origin, https://"},
		"nowhere":              {"", "HTTP 307"},
	} {
		t.Run(name, func(t *testing.T) {
			var visits atomic.Int32
			other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
			t.Cleanup(other.Close)
			r := (&badremote{take: func(w http.ResponseWriter, req *http.Request, _ request) bool {
				if tt.to != "" {
					w.Header().Set("Location", strings.NewReplacer("OTHER", other.URL, "HOST", req.Host).Replace(tt.to))
				}
				w.WriteHeader(http.StatusTemporaryRedirect)
				return true
			}}).serve(t)
			unready(t, setup{sick: entry{"url": r.URL + "/mcp", "headers": entry{"X-Key": "secret"}}}, tt.text)
			if got := visits.Load(); got != 0 {
				t.Errorf("the other server was asked %d times, want never", got)
			}
		})
	}
	t.Run("from https to http", func(t *testing.T) {
		certificate, file := certificate(t, time.Now().AddDate(1, 0, 0))
		plain := new(badremote).serve(t)
		r := (&badremote{take: func(w http.ResponseWriter, req *http.Request, _ request) bool {
			http.Redirect(w, req, plain.URL+"/mcp", http.StatusPermanentRedirect)
			return true
		}}).begin(t, func(s *httptest.Server) {
			s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
			s.StartTLS()
		})
		unready(t, setup{sick: entry{"url": r.URL + "/mcp"}, env: []string{"SSL_CERT_FILE=" + file}},
			"redirected to another origin, http://", "slash at its end")
		if got := plain.count("initialize"); got != 0 {
			t.Errorf("the message went on without TLS %d times", got)
		}
	})
}
