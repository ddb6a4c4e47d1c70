package httpfront_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workbench/workbench/proxy/httpfront"
)

const token = "a-token-of-a-test-0123456789-0123456789-abc"

// Whoever comes under another name is turned away before the token is looked at, and before the body, which is never
// sent here, is read.
func TestFaultC1C2_HostAndOrigin(t *testing.T) {
	t.Parallel()
	w := newWeb(t, oneBox, webOptions{http: httpfront.Options{Token: token, Hosts: []string{"box.example", "port.example:99"}, Origins: []string{"https://app.example"}}})
	_, port, _ := net.SplitHostPort(w.address)
	const passed, refused, malformed = "401", "403", "400" // 401: only the token is missing
	for _, tt := range []struct{ host, origin, want string }{
		{"127.0.0.1:P", "", passed},
		{"localhost:P", "", passed},
		{"[::1]:P", "", passed},
		{"box.example", "", passed},
		{"box.example:P", "", passed},
		{"port.example:99", "", passed},
		{"127.0.0.1:P", "http://127.0.0.1:P", passed},
		{"localhost:P", "http://localhost:P", passed},
		{"[::1]:P", "http://[::1]:P", passed},
		{"127.0.0.1:P", "https://app.example", passed},

		{"evil.example", "", refused},
		{"evil.example:P", "", refused},
		{"127.0.0.1", "", refused},
		{"127.0.0.1:1", "", refused},
		{"127.0.0.1:P0", "", refused},
		{"localhost", "", refused},
		{"localhost.:P", "", refused},
		{"LOCALHOST:P", "", refused},
		{"localhost:0P", "", refused},
		{"localhost.evil.example:P", "", refused},
		{"127.0.0.1.evil.example:P", "", refused},
		{"evil-127.0.0.1:P", "", refused},
		{"[::1].evil.example:P", "", refused},
		{"[::1]", "", refused},
		{"::1:P", "", refused},
		{"[0:0:0:0:0:0:0:1]:P", "", refused},
		{"[::ffff:127.0.0.1]:P", "", refused},
		{"[::]:P", "", refused},
		{"0.0.0.0:P", "", refused},
		{"127.1:P", "", refused},
		{"127.0.1:P", "", refused},
		{"0177.0.0.1:P", "", refused},
		{"2130706433:P", "", refused},
		{"0x7f000001:P", "", refused},
		{"127.0.0.2:P", "", refused},
		{"user@127.0.0.1:P", "", malformed},
		{"127.0.0.1:P@evil.example", "", malformed},
		{"127.0.0.1:P,evil.example", "", refused},
		{"port.example", "", refused},
		{"port.example:P", "", refused},
		{"sub.box.example", "", refused},
		{"box.example.", "", refused},
		{"127.0.0.1:P evil", "", malformed},
		{"127.0.0.1:P\r\nHost: evil.example", "", malformed},
		{"", "", refused},

		{"127.0.0.1:P", "null", refused},
		{"127.0.0.1:P", " ", refused}, // present and empty
		{"127.0.0.1:P", "http://evil.example", refused},
		{"127.0.0.1:P", "http://evil.example:P", refused},
		{"127.0.0.1:P", "http://localhost:P", refused}, // not the host that was asked
		{"127.0.0.1:P", "https://127.0.0.1:P", refused},
		{"127.0.0.1:P", "http://127.0.0.1", refused},
		{"127.0.0.1:P", "http://127.0.0.1:1", refused},
		{"127.0.0.1:P", "http://127.0.0.1:P/", refused},
		{"127.0.0.1:P", "http://127.0.0.1:P.evil.example", refused},
		{"127.0.0.1:P", "http://127.0.0.1:P@evil.example", refused},
		{"127.0.0.1:P", "http://127.0.0.1:P http://evil.example", refused},
		{"127.0.0.1:P", "http://127.0.0.1:P\r\nOrigin: http://evil.example", refused},
		{"127.0.0.1:P", "http://127.0.0.1:P\r\nOrigin: http://127.0.0.1:P", refused},
		{"127.0.0.1:P", "HTTP://127.0.0.1:P", refused},
		{"127.0.0.1:P", "127.0.0.1:P http://127.0.0.1:P", refused},
		{"box.example", " ", refused},
		{"127.0.0.1:P", "127.0.0.1:P", refused},
		{"127.0.0.1:P", "file://", refused},
		{"127.0.0.1:P", "https://app.example.evil.example", refused},
		{"127.0.0.1:P", "https://evil-app.example", refused},
		{"127.0.0.1:P", "https://app.example:443", refused},
		{"127.0.0.1:P", "http://app.example", refused},
		{"box.example", "http://box.example", refused}, // a name that a page could have
		{"evil.example", "https://app.example", refused},
		{"evil.example", "http://evil.example", refused},
	} {
		t.Run(tt.host+" "+tt.origin, func(t *testing.T) {
			text := "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: */*\r\nContent-Length: 1000\r\nHost: " + tt.host + "\r\n"
			if tt.origin != "" {
				text += "Origin: " + strings.TrimSpace(tt.origin) + "\r\n"
			}
			text = strings.NewReplacer("P0", port+"0", "0P", "0"+port, ":P", ":"+port).Replace(text + "\r\n")
			text = strings.Replace(text, ":"+port+"OST /mcp", "POST /mcp", 1)
			if got := w.raw(text); got != tt.want {
				t.Errorf("got %s, want %s, of %q", got, tt.want, text)
			}
		})
	}
	for _, tt := range []struct{ name, text, want string }{
		{"no Host", "GET /healthz HTTP/1.1\r\n\r\n", malformed},
		{"no Host, HTTP/1.0", "GET /mcp HTTP/1.0\r\n\r\n", refused},
		{"a target of another host", "GET http://evil.example/healthz HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n\r\n", refused},
		{"a target in full", "GET http://127.0.0.1:" + port + "/healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", refused},
		{"an image of another site", "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nSec-Fetch-Site: cross-site\r\n\r\n", refused},
		{"an image of another port", "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nSec-Fetch-Site: same-site\r\n\r\n", refused},
		{"a word twice", "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nSec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n\r\n", refused},
		{"an address that was typed", "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nSec-Fetch-Site: none\r\n\r\n", passed},
		{"a page that is let in", "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nOrigin: https://app.example\r\nSec-Fetch-Site: cross-site\r\n\r\n", passed},
		{"a link to the page", "GET /ui/ HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n\r\n", "404"},
		{"a frame with the page", "GET /ui/ HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n\r\n", refused},
		{"a script of another site that reads the page", "GET /ui/ HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n\r\n", refused},
		{"a link to something else", "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n\r\n", refused},
		{"a form that is sent to the page", "POST /ui/api/enter HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n\r\n", refused},
		{"health", "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n\r\n", "200"},
		{"readiness", "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n\r\n", "200"},
		{"a host in a header of proxies", "POST /mcp HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: 127.0.0.1:" + port + "\r\n\r\n", refused},
		{"two lengths", "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", malformed},
		{"a folded header", "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nX: a\r\n b: c\r\n\r\n", passed},
		{"a header too long", "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nX: " + strings.Repeat("x", 40<<10) + "\r\n\r\n", "431"},
		{"an upgrade", "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAAA\r\n\r\n", passed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := w.raw(tt.text); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// A page of an origin that is allowed may ask for anything that its token is good for, and reads what it is answered
// with, a refusal too.
func TestHTTPPagesOfAllowedOrigins(t *testing.T) {
	const app = "Origin: https://app.example"
	w := newWeb(t, oneBox, webOptions{http: httpfront.Options{Token: token, Origins: []string{"https://app.example"}}})
	ask := []string{"Authorization:", "Accept:", "Access-Control-Request-Method: DELETE", "Access-Control-Request-Headers: authorization,mcp-param-x"}
	resp, text := w.got("OPTIONS", "/mcp/box", append(ask, app)...)
	head := resp.Header
	if resp.StatusCode != 204 || text != "" || head.Get("Access-Control-Allow-Origin") != "https://app.example" || head.Get("Access-Control-Allow-Methods") != "DELETE" ||
		head.Get("Access-Control-Allow-Headers") != "authorization,mcp-param-x" || head.Get("Access-Control-Allow-Credentials") != "" || head.Get("Vary") != "Origin" {
		t.Errorf("a preflight: got %d %q %v", resp.StatusCode, text, head)
	}
	for _, header := range [][]string{ask, append(ask, "Origin: http://"+w.address), {app}} {
		if resp, _ := w.got("OPTIONS", "/mcp", header...); resp.StatusCode != 405 && resp.StatusCode != 401 {
			t.Errorf("OPTIONS with %q: got %d, want it to be a request as others are", header, resp.StatusCode)
		}
	}
	if resp, _ := w.got("OPTIONS", "/mcp", append(ask, "Origin: https://evil.example")...); resp.StatusCode != 403 || resp.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a preflight of another page: got %d %v", resp.StatusCode, resp.Header)
	}
	for _, auth := range []string{"Authorization:", "X: y"} {
		resp, _ := w.got("GET", "/mcp", auth, app)
		if resp.Header.Get("Access-Control-Allow-Origin") != "https://app.example" || resp.Header.Get("Access-Control-Expose-Headers") != "*" {
			t.Errorf("%s: got %d %v", auth, resp.StatusCode, resp.Header)
		}
	}
	if resp, _ := w.got("GET", "/mcp"); resp.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a program got %v", resp.Header)
	}
}

// One slash at the end of an address is one that people write.
func TestHTTPSlashAtTheEnd(t *testing.T) {
	w := newWeb(t, oneBox, webOptions{})
	for path, want := range map[string]int{"/mcp/": 200, "/mcp/box/": 200, "/mcp//": 404, "/mcp/box//": 404, "/mcp/none/": 404, "/": 404} {
		if got, text := w.status("POST", path, fmt.Sprintf(hello, "2025-11-25")); got != want {
			t.Errorf("%s: got %d %s, want %d", path, got, text, want)
		}
	}
}

// A supervisor asks by whatever address it has, and is answered.
func TestFaultU4_ProbesByAnyAddress(t *testing.T) {
	w := newWeb(t, oneBox, webOptions{http: httpfront.Options{Token: token}})
	for _, tt := range []struct{ name, text, want string }{
		{"an address", "GET /healthz HTTP/1.1\r\nHost: 10.1.2.3:80\r\n\r\n", "200"},
		{"a name", "GET /readyz HTTP/1.1\r\nHost: pod.example\r\nOrigin: http://pod.example\r\n\r\n", "200"},
		{"none", "GET /healthz HTTP/1.0\r\n\r\n", "200"},
		{"the head alone", "HEAD /healthz HTTP/1.1\r\nHost: pod.example\r\n\r\n", "200"},
		{"another method", "POST /healthz HTTP/1.1\r\nHost: pod.example\r\nContent-Length: 0\r\n\r\n", "405"},
		{"what is no probe", "GET /metrics HTTP/1.1\r\nHost: pod.example\r\n\r\n", "403"},
		{"a path below one", "GET /healthz/ HTTP/1.1\r\nHost: pod.example\r\n\r\n", "403"},
	} {
		if got := w.raw(tt.text); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestFaultC3C4_Token(t *testing.T) {
	var log syncBuffer
	w := newWeb(t, oneBox, webOptions{log: &log, http: httpfront.Options{Token: token}})
	body := fmt.Sprintf(hello, "2025-11-25")
	for _, tt := range []struct {
		name, path, header string
		want               int
	}{
		{"right", "/mcp", "Authorization: Bearer " + token, 200},
		{"scheme in lower case", "/mcp", "Authorization: bearer " + token, 200},
		{"missing", "/mcp", "Authorization:", 401},
		{"wrong", "/mcp", "Authorization: Bearer " + strings.Repeat("x", len(token)), 401},
		{"the beginning", "/mcp", "Authorization: Bearer " + token[:len(token)-1], 401},
		{"more than it", "/mcp", "Authorization: Bearer " + token + "x", 401},
		{"two spaces", "/mcp", "Authorization: Bearer  " + token, 401},
		{"no token", "/mcp", "Authorization: Bearer", 401},
		{"no scheme", "/mcp", "Authorization: " + token, 401},
		{"another scheme", "/mcp", "Authorization: Basic " + token, 401},
		{"a token without a signature", "/mcp", "Authorization: Bearer eyJhbGciOiJub25lIn0.e30.", 401},
		{"a token for another audience", "/mcp", "Authorization: Bearer " + signed(`{"aud":"https://other.example/mcp","scope":"mcp"}`), 401},
		{"a token without the scope", "/mcp", "Authorization: Bearer " + signed(`{"aud":"http://127.0.0.1/mcp","scope":"other"}`), 401},
		{"in the address", "/mcp?token=" + token + "&access_token=" + token, "X: y", 401},
		{"in another header", "/mcp", "X-Api-Key: " + token, 401},
		{"in a cookie", "/mcp", "Cookie: token=" + token, 401},
		{"a toolbox that does not exist is not told without it", "/mcp/none", "X: y", 401},
		{"nor one that does", "/mcp/box", "X: y", 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := t.Context()
			resp := w.do(ctx, "POST", tt.path, body, tt.header)
			defer resp.Body.Close()
			var text bytes.Buffer
			_, _ = text.ReadFrom(resp.Body)
			if resp.StatusCode != tt.want {
				t.Errorf("got %d, want %d", resp.StatusCode, tt.want)
			}
			if challenge := resp.Header.Get("WWW-Authenticate"); (tt.want == 401) != strings.HasPrefix(challenge, "Bearer ") {
				t.Errorf("the challenge is %q", challenge)
			}
			if strings.Contains(text.String(), token) {
				t.Errorf("the answer holds the token: %s", text.String())
			}
		})
	}
	if got, text := w.status("GET", "/mcp", "", "Authorization: Bearer "+token, "Authorization: Bearer "+token); got != 400 {
		t.Errorf("a GET without a session: got %d %s, want 400", got, text)
	}
	w.client.CloseIdleConnections()
	if err := w.stop(); err != nil {
		t.Error(err)
	}
	if strings.Contains(log.String(), token[:20]) {
		t.Errorf("the log holds the token:\n%s", log.String())
	}
}

// signed is a JSON Web Token of another issuer.
func signed(claims string) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"HS256"}`)) + "." + encode([]byte(claims)) + "." + encode([]byte("signature"))
}

// The token that a client shows does not reach the servers behind.
func TestHTTPTokenStays(t *testing.T) {
	w := newWeb(t, oneBox, webOptions{http: httpfront.Options{Token: token}})
	auth := "Authorization: Bearer " + token
	body, header := modernCall(1, "params", `{}`, "")
	_, got := w.status("POST", "/mcp/box", body, append(header, auth)...)
	if !strings.Contains(got, `progressToken`) || strings.Contains(got, token) {
		t.Errorf("the server saw %s, want its params without the token", got)
	}
}

func TestHTTPNames(t *testing.T) {
	for _, tt := range []struct {
		name, piece string
		opts        httpfront.Options
	}{
		{"a host in capitals", "host name", httpfront.Options{Hosts: []string{"Box.example"}}},
		{"a host with a scheme", "host name", httpfront.Options{Hosts: []string{"http://box.example"}}},
		{"a host with a port of 0", "host name", httpfront.Options{Hosts: []string{"box.example:0"}}},
		{"any host", "host name", httpfront.Options{Hosts: []string{"*"}}},
		{"no host", "host name", httpfront.Options{Hosts: []string{""}}},
		{"an origin with a path", "not an origin", httpfront.Options{Origins: []string{"https://app.example/"}}},
		{"an origin of no scheme", "not an origin", httpfront.Options{Origins: []string{"app.example"}}},
		{"any origin", "not an origin", httpfront.Options{Origins: []string{"*"}}},
		{"null", "not an origin", httpfront.Options{Origins: []string{"null"}}},
		{"an origin of another scheme", "not an origin", httpfront.Options{Origins: []string{"ftp://app.example"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.Addr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7777}
			_, err := newFront(tt.opts)
			if err == nil || !strings.Contains(err.Error(), tt.piece) {
				t.Errorf("got error %v, want one with %q", err, tt.piece)
			}
		})
	}
}

// syncBuffer is a buffer that several goroutines write to.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
