package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/tokenfile"
)

// served is the program serving over HTTP.
type served struct {
	url   string
	ended chan int
	stop  func()

	mu    sync.Mutex
	lines []string // of the log
}

// log is what was logged up to now.
func (s *served) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

func (s *served) note(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
}

// serveForTest runs serve --http and waits for the address that it logs.
func serveForTest(t *testing.T, environ []string, args ...string) *served {
	t.Helper()
	return runForTest(t, environ, append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...)
}

// runForTest does so for another command that serves over HTTP.
func runForTest(t *testing.T, environ []string, args ...string) *served {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	read, write := io.Pipe()
	s := &served{ended: make(chan int, 1), stop: stop}
	go func() {
		code := run(ctx, args, cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: write}, environ)
		_ = write.Close()
		s.ended <- code
	}()
	log := bufio.NewScanner(read)
	for log.Scan() {
		s.note(log.Text())
		var line struct{ URL, Message string }
		if json.Unmarshal(log.Bytes(), &line) == nil && line.URL != "" {
			s.url = line.URL
			break
		}
	}
	if s.url == "" {
		t.Fatalf("it did not log its address, but %q, and ended with %d", s.log(), <-s.ended)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for log.Scan() {
			s.note(log.Text())
		}
	}()
	t.Cleanup(func() {
		stop()
		if code := <-s.ended; code != cli.ExitDone {
			t.Errorf("the exit code is %d, want 0", code)
		}
		<-drained
	})
	return s
}

const greeting = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`

// post sends the greeting and returns the status and the body of the answer.
func (s *served) post(t *testing.T, client *http.Client, token string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.url, strings.NewReader(greeting))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return answer(t, client, req)
}

// answer makes a request and returns the status and the body of the answer.
func answer(t *testing.T, client *http.Client, req *http.Request) (int, string) {
	t.Helper()
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestServeHTTP(t *testing.T) {
	environ := []string{"XDG_STATE_HOME=" + t.TempDir(), "WORKBENCH_CONFIG=" + emptyConfig(t)}
	s := serveForTest(t, environ)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if got, body := s.post(t, client, ""); got != 401 {
		t.Errorf("without the token: got %d %s, want 401", got, body)
	}
	var out bytes.Buffer
	if code := run(t.Context(), []string{"token"}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: io.Discard}, environ); code != cli.ExitDone {
		t.Fatalf("workbench token ended with %d", code)
	}
	token := strings.TrimSpace(out.String())
	if got, body := s.post(t, client, token); got != 200 || !strings.Contains(body, "serverInfo") {
		t.Errorf("with the token that workbench token prints: got %d %s, want 200", got, body)
	}
	if log := s.log(); strings.Contains(log, token) || !strings.Contains(log, `"token_file":`) {
		t.Errorf("the log must say where the token is, and not what it is:\n%s", log)
	}
	address := strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/mcp")
	var fault bytes.Buffer
	if code := run(t.Context(), []string{"serve", "--http", address, "--log-level", "off"}, cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: &fault}, environ); code != cli.ExitFault || !strings.Contains(fault.String(), "another program uses the port") {
		t.Errorf("the same port again: got exit code %d and %q", code, &fault)
	}
}

// What a client shows workbench is nothing to the servers behind it: they get what the configuration has for them.
func TestServeHTTPKeepsTheToken(t *testing.T) {
	var mu sync.Mutex
	var sent []http.Header
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, req.Header)
		w.WriteHeader(http.StatusForbidden)
	}))
	defer far.Close()
	path := filepath.Join(t.TempDir(), "workbench-config.json")
	text := `{"toolboxes":{"box":{"mcpServers":{"far":{"url":"` + far.URL + `","headers":{"X-Key":"k"}}}}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"XDG_STATE_HOME=" + t.TempDir(), "XDG_CACHE_HOME=" + t.TempDir(), "WORKBENCH_CONFIG=" + path}
	s := serveForTest(t, environ)
	var out bytes.Buffer
	if code := run(t.Context(), []string{"token"}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: io.Discard}, environ); code != cli.ExitDone {
		t.Fatalf("workbench token ended with %d", code)
	}
	token := strings.TrimSpace(out.String())
	const open = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"box"},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}}}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url, strings.NewReader(open))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer " + token,
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "workbench_open_toolbox",
	} {
		req.Header.Set(k, v)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || !bytes.Contains(body, []byte("HTTP 403")) {
		t.Fatalf("got %d, %v, %s, want that the server refused us", resp.StatusCode, err, body)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, header := range sent {
		if text := fmt.Sprint(header); strings.Contains(text, token) || header.Get("Authorization") != "" || header.Get("X-Key") != "k" {
			t.Errorf("the server was sent %v, want X-Key and nothing of the client's", text)
		}
	}
}

func TestServeHTTPWithoutToken(t *testing.T) {
	s := serveForTest(t, []string{"WORKBENCH_CONFIG=" + emptyConfig(t)}, "--no-token")
	if got, body := s.post(t, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, ""); got != 200 {
		t.Errorf("got %d %s, want 200", got, body)
	}
}

// With a certificate, what is spoken is TLS 1.2 or later, and HTTP/2 if the client likes. A certificate that is
// replaced is that of the next connections.
func TestFaultC15_TLS(t *testing.T) {
	t.Parallel()
	cert, key, pool := certificate(t)
	s := serveForTest(t, []string{"WORKBENCH_CONFIG=" + emptyConfig(t)}, "--no-token", "--tls-cert", cert, "--tls-key", key)
	if !strings.HasPrefix(s.url, "https://") {
		t.Errorf("the address is %s, want https", s.url)
	}
	for _, http2 := range []bool{false, true} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: http2}
		if got, body := s.post(t, &http.Client{Transport: transport}, ""); got != 200 {
			t.Errorf("HTTP/2 %t: got %d %s, want 200", http2, got, body)
		}
		transport.CloseIdleConnections()
	}
	old := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	address := strings.TrimSuffix(strings.TrimPrefix(s.url, "https://"), "/mcp")
	if c, err := tls.Dial("tcp", address, old); err == nil {
		_ = c.Close()
		t.Error("TLS 1.1 was accepted")
	}

	next, nextKey, nextPool := certificate(t)
	for file, to := range map[string]string{next: cert, nextKey: key} {
		if err := os.Rename(file, to); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		c, err := tls.Dial("tcp", address, &tls.Config{RootCAs: nextPool})
		if err == nil {
			_ = c.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the certificate that was put in its place is not used: %v", err)
		}
	}
}

// Of two files one is replaced first: until they fit, the pair before goes on.
func TestCertificateIsReplaced(t *testing.T) {
	var log bytes.Buffer
	cert, key, _ := certificate(t)
	c := &certificatePair{files: [2]string{cert, key}, log: zerolog.New(&log)}
	if err := c.load(); err != nil {
		t.Fatal(err)
	}
	first := c.pair
	get := func() *tls.Certificate {
		t.Helper()
		c.looked = time.Time{}
		pair, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		return pair
	}
	next, nextKey, _ := certificate(t)
	do(t, os.Rename(next, cert))
	for range 2 {
		if get() != first {
			t.Error("a pair that does not fit was taken")
		}
	}
	if got := strings.Count(log.String(), "cannot be read again"); got != 1 {
		t.Errorf("it was said %d times, want 1: %s", got, &log)
	}
	do(t, os.Rename(nextKey, key))
	second := get()
	if second == first || get() != second {
		t.Error("the new pair was not taken, or more than once")
	}
	do(t, os.Remove(key))
	if get() != second {
		t.Error("without a key the pair before does not go on")
	}
}

// A pair that could not be used is looked at again, though nothing says that its files have changed: they may have been
// given other rights.
func TestCertificateIsMended(t *testing.T) {
	var log bytes.Buffer
	cert, key, _ := certificate(t)
	other, otherKey, _ := certificate(t)
	read := func(path string) []byte {
		text, err := os.ReadFile(path)
		do(t, err)
		return append(text, bytes.Repeat([]byte{'\n'}, 4096-len(text))...)
	}
	right, wrong := read(key), read(otherKey)
	do(t, os.WriteFile(key, right, 0o600))
	c := &certificatePair{files: [2]string{cert, key}, log: zerolog.New(&log)}
	do(t, c.load())
	first := c.pair
	do(t, os.Rename(other, cert))
	c.looked = time.Time{}
	if pair, err := c.get(nil); pair != first || err != nil {
		t.Errorf("got %v, %v, want the pair before", pair, err)
	}
	info, err := os.Stat(key)
	do(t, err)
	do(t, os.WriteFile(key, wrong, 0o600))
	do(t, os.Chtimes(key, info.ModTime(), info.ModTime()))
	c.looked = time.Time{}
	if pair, err := c.get(nil); pair == first || err != nil {
		t.Errorf("got the pair before, %v, want the new one", err)
	}
}

// Two that start at once have the same token.
func TestTokenTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "token")
	got := make(chan string)
	for range 20 {
		go func() {
			token, err := tokenfile.Load(path)
			if err != nil {
				token = fmt.Sprintf("error %v", err)
			}
			got <- token
		}()
	}
	first := <-got
	for range 19 {
		if other := <-got; other != first {
			t.Errorf("got %q and %q, want one token", first, other)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".token-*")); len(left) > 0 {
		t.Errorf("files were left behind: %q", left)
	}
}

// emptyConfig is a configuration without toolboxes.
func emptyConfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "workbench-config.json")
	if err := os.WriteFile(path, []byte(`{"toolboxes":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// certificate makes one for 127.0.0.1 that signs itself.
func certificate(t *testing.T) (certFile, keyFile string, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	bits, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pool = x509.NewCertPool()
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	pool.AppendCertsFromPEM(certPEM)
	for file, text := range map[string][]byte{certFile: certPEM, keyFile: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: bits})} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile, pool
}

// A server that runs knows the tokens that are made and revoked beside it.
func TestServeHTTPTokens(t *testing.T) {
	t.Parallel()
	environ := []string{"XDG_STATE_HOME=" + t.TempDir(), "WORKBENCH_CONFIG=" + emptyConfig(t)}
	s := serveForTest(t, environ)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	token := func(args ...string) string {
		t.Helper()
		var out, fault bytes.Buffer
		if code := run(t.Context(), append([]string{"token"}, args...), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &fault}, environ); code != cli.ExitDone {
			t.Fatalf("workbench token %q ended with %d and %s", args, code, &fault)
		}
		return strings.TrimSpace(out.String())
	}
	// It looks at most once a second. A GET without a session makes none.
	until := func(want int, secret string) string {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
			req, err := http.NewRequestWithContext(t.Context(), "GET", s.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Accept", "text/event-stream")
			req.Header.Set("Authorization", "Bearer "+secret)
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err := errors.Join(err, resp.Body.Close()); err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode == want {
				return string(body)
			}
			if time.Now().After(end) {
				t.Fatalf("got %d %s, want %d in the end", resp.StatusCode, body, want)
			}
		}
	}
	ci := token("create", "ci")
	until(400, ci)
	token("revoke", "ci")
	if body := until(401, ci); !strings.Contains(body, "revoked") {
		t.Errorf("got %s, want it to say that it may have been revoked", body)
	}
	until(400, token())
	if log := s.log(); strings.Contains(log, ci) {
		t.Errorf("the log holds the token:\n%s", log)
	}
}

// A token of the issuer that the configuration trusts lets in, to the toolboxes of its scopes.
func TestServeHTTPIssuer(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "workbench-config.json")
	for file, text := range map[string]string{
		"id.pem": string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})),
		"workbench-config.json": `{"http": {"jwt": {"issuer": "https://id.example", "audience": "workbench", "keyFile": "id.pem"}},
			"toolboxes": {"one": {"mcpServers": {}}, "two": {"mcpServers": {}}}}`,
	} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := serveForTest(t, []string{"XDG_STATE_HOME=" + t.TempDir(), "WORKBENCH_CONFIG=" + path})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, tt := range []struct {
		audience string
		want     int
		piece    string
	}{{"workbench", 200, "Toolboxes:\\n\\none ("}, {"another", 401, "another audience"}} {
		token, err := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{
			"iss": "https://id.example", "aud": tt.audience, "sub": "ada", "exp": time.Now().Add(time.Hour).Unix(), "scope": "workbench:toolbox:one",
		}).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		got, body := s.post(t, client, token)
		if got != tt.want || !strings.Contains(body, tt.piece) || strings.Contains(body, "two (") {
			t.Errorf("for %s: got %d %s, want %d, %q and nothing of the toolbox two", tt.audience, got, body, tt.want, tt.piece)
		}
	}
}

// What is to be pasted into clients has the token that they need, wherever it is kept.
func TestEntriesNameTheFileOfTheToken(t *testing.T) {
	for file, want := range map[string]string{"": `"Authorization: Bearer $(workbench token)"`, "/my tokens/one": `"Authorization: Bearer $(workbench token --token-file '/my tokens/one')"`} {
		if got := entries("http://127.0.0.1:7777/mcp", true, file); !strings.Contains(got, want) {
			t.Errorf("token in %q: got %s, want %s in it", file, got, want)
		}
	}
}
