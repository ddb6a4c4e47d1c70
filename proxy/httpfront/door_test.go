package httpfront_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/httpfront"
)

// book is a list of tokens.
type book struct {
	mu  sync.Mutex
	all map[string]principal.Principal
}

// newBook has the tokens "alice", "alice-dev" and so on.
func newBook() *book {
	return &book{all: map[string]principal.Principal{
		"alice":       {Name: "alice"},
		"alice-again": {Name: "alice"},
		"alice-admin": {Name: "alice", Admin: true},
		"alice-box":   {Name: "alice", Toolboxes: []string{"box"}},
		"bob":         {Name: "bob"},
		"bob-box":     {Name: "bob", Toolboxes: []string{"box", "gone", "box"}},
		"carol-none":  {Name: "carol", Toolboxes: []string{}},
	}}
}

func (b *book) Verify(_ context.Context, token string) (principal.Principal, error) {
	if token == "broken" {
		return principal.Principal{}, errors.New("secret reason")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.all[token]
	if !ok {
		return p, &principal.DeniedError{Reason: "no such \"token\"\né"}
	}
	return p, nil
}

func (b *book) revoke(token string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.all, token)
}

func bearer(token string) string { return "Authorization: Bearer " + token }

func TestHTTPCallers(t *testing.T) {
	var log syncBuffer
	figures := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("figures")) })
	w := newWeb(t, oneBox, webOptions{log: &log, http: httpfront.Options{Token: token, Tokens: newBook(), Metrics: figures}})
	const (
		bare      = `Bearer realm="workbench"`
		unknown   = bare + `, error="invalid_token", error_description="no such 'token'??"`
		malformed = bare + `, error="invalid_token", error_description="the Authorization header must be there once, with Bearer and a token"`
		scope     = bare + `, error="insufficient_scope", error_description="metrics need admin rights; workbench token create --admin makes a token that has them"`
	)
	greet := fmt.Sprintf(hello, "2025-11-25")
	for _, tt := range []struct {
		name, method, path, auth string
		want                     int
		challenge, piece         string
	}{
		{"the token of the front", "POST", "/mcp", bearer(token), 200, "", `\n\nother (1 servers)`},
		{"a token for all", "POST", "/mcp", bearer("alice"), 200, "", `\n\nother (1 servers)`},
		{"a token for one toolbox", "POST", "/mcp", bearer("alice-box"), 200, "", `Toolboxes:\n\nbox (1`},
		{"this one directly", "POST", "/mcp/box", bearer("alice-box"), 200, "", "serverInfo"},
		{"another one directly", "POST", "/mcp/other", bearer("alice-box"), 404, "", `there is no toolbox \"other\" here`},
		{"one that is not there", "POST", "/mcp/none", bearer("alice-box"), 404, "", `there is no toolbox \"none\" here`},
		{"one that is not there, of a token for it", "POST", "/mcp/gone", bearer("bob-box"), 404, "", `there is no toolbox \"gone\" here`},
		{"a token for none", "POST", "/mcp", bearer("carol-none"), 200, "", "serverInfo"},
		{"a token for none, directly", "POST", "/mcp/box", bearer("carol-none"), 404, "", "there is no toolbox"},

		{"no token", "POST", "/mcp", "Authorization:", 401, bare, "workbench token prints it"},
		{"an unknown token", "POST", "/mcp", bearer("mallory"), 401, unknown, `no such \"token\"`},
		{"another scheme", "POST", "/mcp", "Authorization: Basic alice", 401, malformed, "Bearer"},
		{"no scheme", "POST", "/mcp", "Authorization: alice", 401, malformed, "Bearer"},
		{"an empty token", "POST", "/mcp", "Authorization: Bearer", 401, bare + `, error="invalid_token", error_description="the token is not that of this server; workbench token prints it"`, "workbench token"},
		{"a toolbox that may not be known of", "POST", "/mcp/none", bearer("mallory"), 401, unknown, "no such"},
		{"a token that cannot be checked", "POST", "/mcp", bearer("broken"), 503, "", "cannot be checked at present"},

		{"figures for the token of the front", "GET", "/metrics", bearer(token), 200, "", "figures"},
		{"figures for an admin", "GET", "/metrics", bearer("alice-admin"), 200, "", "figures"},
		{"figures for another", "GET", "/metrics", bearer("alice"), 403, scope, "admin rights"},
		{"figures for nobody", "GET", "/metrics", "Authorization:", 401, bare, "token"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp := w.do(t.Context(), tt.method, tt.path, greet, tt.auth)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			text := string(body)
			if resp.StatusCode != tt.want || resp.Header.Get("WWW-Authenticate") != tt.challenge || !strings.Contains(text, tt.piece) {
				t.Errorf("got %d, %q and %s\nwant %d, %q and %q", resp.StatusCode, resp.Header.Get("WWW-Authenticate"), text, tt.want, tt.challenge, tt.piece)
			}
			if strings.Contains(text, "secret reason") {
				t.Errorf("got %s, want the reason in the log alone", text)
			}
			if tt.auth == bearer("alice-box") && strings.Contains(text, "other (1") {
				t.Errorf("got %s, want nothing of a toolbox that is not for this token", text)
			}
		})
	}
	if got := log.String(); !strings.Contains(got, "secret reason") || strings.Contains(got, "broken") {
		t.Errorf("got the log %s, want the reason and no token", got)
	}
}

// What a token is not for is not there, in either era.
func TestHTTPScope(t *testing.T) {
	t.Parallel()
	w := newWeb(t, oneBox, webOptions{http: httpfront.Options{Token: token, Tokens: newBook()}})
	session := w.begin("/mcp", "2025-11-25", bearer("alice-box"))
	for name, tt := range map[string]struct{ tool, arguments, want string }{
		"open its own":        {"workbench_open_toolbox", `{"toolbox_name":"box"}`, `"servers_connected":1`},
		"open another":        {"workbench_open_toolbox", `{"toolbox_name":"other"}`, `toolbox \"other\" not found`},
		"use a tool of it":    {"workbench_use_tool", `{"toolbox_name":"other","tool_name":"echo","arguments":{}}`, `toolbox \"other\" not found`},
		"use an exposed name": {"other__s__echo", `{}`, `"error"`},
		"ask how they are":    {"workbench_status", `{}`, `"toolboxes":[{"toolbox":"box"`},
		"search":              {"workbench_find_tools", `{"query": "box"}`, `"servers":[{"toolbox":"box"`},
	} {
		for era, ask := range map[string]func() (int, string){
			"legacy": func() (int, string) {
				return w.status("POST", "/mcp", callOf(1, tt.tool, tt.arguments), session, bearer("alice-box"))
			},
			"modern": func() (int, string) {
				body, header := modernCall(1, tt.tool, tt.arguments, "")
				return w.status("POST", "/mcp", body, append(header, bearer("alice-box"))...)
			},
		} {
			t.Run(name+" "+era, func(t *testing.T) {
				status, text := ask()
				if !strings.Contains(text, tt.want) || (name == "ask how they are" || name == "search") && strings.Contains(text, "other") {
					t.Errorf("got %d %s, want %q", status, text, tt.want)
				}
			})
		}
	}
	if _, text := w.status("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, session, bearer("alice-box")); !strings.Contains(text, `"enum":["box"]`) {
		t.Errorf("got %s, want box alone in the list of what can be opened", text)
	}
}

// A session is its principal's: to all others it is like one that is not there.
func TestHTTPSessionOfAnother(t *testing.T) {
	w := newWeb(t, oneBox, webOptions{http: httpfront.Options{Token: token, Tokens: newBook()}})
	session := w.begin("/mcp", "2025-11-25", bearer("alice"))
	const ask = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for _, tt := range []struct {
		name, token string
		want        int
	}{
		{"its own", "alice", 200},
		{"another token of the same", "alice-again", 200},
		{"one with more rights", "alice-admin", 404},
		{"one with fewer toolboxes", "alice-box", 404},
		{"another principal", "bob", 404},
		{"the token of the front", token, 404},
	} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			if tt.want == 200 && method != "POST" {
				continue // that would be all
			}
			_, none := w.status(method, "/mcp", ask, "Mcp-Session-Id: NONE", bearer("bob"))
			got, text := w.status(method, "/mcp", ask, session, bearer(tt.token))
			if got != tt.want || tt.want == 404 && text != none {
				t.Errorf("%s, %s: got %d %s, want %d", tt.name, method, got, text, tt.want)
			}
		}
	}
}

// Servers inside the program are made for whom they work for, and clients of the modern era share those of their
// principal alone.
func TestHTTPServersOfPrincipals(t *testing.T) {
	var mu sync.Mutex
	var made []string
	inside := func(p principal.Principal, _ config.Server) (wire.Endpoint, error) {
		mu.Lock()
		defer mu.Unlock()
		made = append(made, fmt.Sprint(p.Name, p.Admin))
		return &mcptest.Server{Tools: []string{"echo"}}, nil
	}
	w := newWeb(t, oneBox, webOptions{inside: inside, http: httpfront.Options{Token: token, Tokens: newBook()}})
	for _, tok := range []string{"alice", "bob", "alice-again", token, "alice-admin"} {
		body, header := modernCall(1, "echo", `{}`, "")
		if got, text := w.status("POST", "/mcp/box", body, append(header, bearer(tok))...); got != 200 {
			t.Errorf("%s: got %d %s, want 200", tok, got, text)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if got, want := strings.Join(made, " "), "alicefalse bobfalse default_usertrue alicetrue"; got != want {
		t.Errorf("got servers for %s, want %s", got, want)
	}
}

// A token that is taken back ends the streams that are listened to with it. A call that was let in is finished.
func TestHTTPRevoked(t *testing.T) {
	tokens, hold := newBook(), newHolder()
	w := newWeb(t, oneBox, webOptions{inside: hold.make, http: httpfront.Options{Token: token, Tokens: tokens, KeepAlive: 10 * time.Millisecond}})
	session := w.begin("/mcp", "2025-11-25", bearer("alice"))
	body, header := modernCall(1, "hold", `{}`, "")
	call := w.open("POST", "/mcp/box", body, append(header, bearer("alice"))...)
	<-hold.began
	legacy := w.open("GET", "/mcp", "", session, bearer("alice"))
	modern := w.open("POST", "/mcp", fmt.Sprintf(listen, meta("")), append(listenHeader(), bearer("alice"))...)
	modern.want("notifications/subscriptions/acknowledged")
	other := w.open("GET", "/mcp", "", w.begin("/mcp", "2025-11-25", bearer("bob")), bearer("bob"))
	tokens.revoke("alice")
	for name, stream := range map[string]*messages{"legacy": legacy, "modern": modern} {
		if got := stream.rest(); stream.resp.StatusCode != 200 || len(got) != 0 {
			t.Errorf("%s: got %d and %q, want the end of a stream", name, stream.resp.StatusCode, got)
		}
	}
	if got, _ := w.status("POST", "/mcp", callOf(1, "x", `{}`), session, bearer("alice")); got != 401 {
		t.Errorf("got %d, want 401", got)
	}
	if line, err := other.r.ReadString('\n'); err != nil {
		t.Errorf("got %q and %v, want another's stream to go on", line, err)
	}
	hold.release <- struct{}{}
	call.want(`"id":1,"result"`)
}

// A client without a token is told where to log in, where there is such a place.
func TestHTTPResource(t *testing.T) {
	where := "https://tools.example/mcp"
	w := newWeb(t, oneBox, webOptions{http: httpfront.Options{Token: token, Tokens: newBook(), Resource: &httpfront.Resource{Address: where, Issuer: "https://id.example"}}})
	for _, auth := range []string{"Authorization:", bearer("mallory")} {
		resp := w.do(t.Context(), "POST", "/mcp", fmt.Sprintf(hello, "2025-11-25"), auth)
		_ = resp.Body.Close()
		if got, want := resp.Header.Get("WWW-Authenticate"), `, resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp"`; resp.StatusCode != 401 || !strings.HasSuffix(got, want) {
			t.Errorf("got %d and the challenge %q, want its end %q", resp.StatusCode, got, want)
		}
	}
	const want = `{"authorization_servers":["https://id.example"],"bearer_methods_supported":["header"],"resource":"https://tools.example/mcp","resource_name":"mcp-workbench","scopes_supported":["workbench:toolbox:*"]}`
	for path, status := range map[string]int{"": 200, "/mcp": 200, "/mcp/box": 404, "/": 404} {
		got, text := w.status("GET", "/.well-known/oauth-protected-resource"+path, "")
		if got != status || status == 200 && text != want {
			t.Errorf("%s: got %d %s, want %d %s", path, got, text, status, want)
		}
	}
	if got, _ := w.status("POST", "/.well-known/oauth-protected-resource", "{}"); got != 405 {
		t.Errorf("got %d for a POST, want 405", got)
	}
	for name, r := range map[string]*httpfront.Resource{"none": nil, "no address": {Address: "workbench", Issuer: "https://id.example"}, "no issuer's": {Address: where, Issuer: "id"}} {
		w := newWeb(t, oneBox, webOptions{http: httpfront.Options{Token: token, Resource: r}})
		resp := w.do(t.Context(), "GET", "/.well-known/oauth-protected-resource", "")
		_ = resp.Body.Close()
		refused := w.do(t.Context(), "POST", "/mcp", "{}")
		_ = refused.Body.Close()
		if got := refused.Header.Get("WWW-Authenticate"); resp.StatusCode != 404 || got != `Bearer realm="workbench"` {
			t.Errorf("%s: got %d and the challenge %q, want nothing there", name, resp.StatusCode, got)
		}
	}
}

// Over HTTP/2 a connection is that of many, as behind a proxy: a request that is refused unread costs the others nothing.
func TestRefusedOnASharedConnection(t *testing.T) {
	w := newWeb(t, oneBox, webOptions{http: httpfront.Options{Token: token}})
	srv := httptest.NewUnstartedServer(w.front)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	used := make(map[net.Addr]bool)
	trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { used[c.Conn.LocalAddr()] = true }}
	for i := range 50 {
		bearer, want := token, http.StatusBadRequest // there is no session
		if i%2 == 1 {
			bearer, want = "another", http.StatusUnauthorized
		}
		req, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodPost, srv.URL+"/mcp", strings.NewReader(ping))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = w.address
		for name, value := range map[string]string{"Authorization": "Bearer " + bearer, "Content-Type": "application/json", "Accept": "*/*"} {
			req.Header.Set(name, value)
		}
		resp, err := srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != want || resp.ProtoMajor != 2 {
			t.Fatalf("got %d of %s and %v, want %d", resp.StatusCode, resp.Proto, err, want)
		}
	}
	if len(used) != 1 {
		t.Errorf("it took %d connections, want 1", len(used))
	}
}
