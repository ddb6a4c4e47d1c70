package oauth

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// dns is a resolver whose every name has these addresses; lookups counts what it was asked.
func dns(t *testing.T, lookups *atomic.Int32, addresses ...string) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		b := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(b)
			if err != nil {
				return
			}
			lookups.Add(1)
			if reply, err := answer(b[:n], addresses); err == nil {
				_, _ = server.WriteTo(reply, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

func answer(question []byte, addresses []string) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		return nil, err
	}
	m.Response, m.Additionals = true, nil
	q := m.Questions[0]
	for _, text := range addresses {
		ip := netip.MustParseAddr(text)
		h := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}
		switch {
		case ip.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: ip.As4()}})
		case ip.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: ip.As16()}})
		}
	}
	return m.Pack()
}

// private returns addresses that metadata must not lead to.
func private() []string {
	return []string{
		"127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "255.255.255.255", "224.0.0.1",
		"::1", "::", "fe80::1", "fd00::1", "fec0::1", "ff02::1", "::ffff:169.254.169.254", "::169.254.169.254",
		"64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:a9fe:a9fe::1", "2001::1",
	}
}

// Metadata of a server in the internet leads nowhere but into the internet.
func TestFaultF16_PrivateAddresses(t *testing.T) {
	g := newGuard(Options{}, "https://mcp.example.com/mcp").Transport.(*guard)
	for _, ip := range private() {
		host := ip
		if strings.Contains(ip, ":") {
			host = "[" + ip + "]"
		}
		req := httptest.NewRequest(http.MethodGet, "https://"+host+"/", nil)
		if resp, err := g.RoundTrip(req); err == nil || !strings.Contains(err.Error(), "not a public address") {
			t.Errorf("%s: got %v, %v, want it refused", ip, resp, err)
		}
		var lookups atomic.Int32
		dial := g.dial(dns(t, &lookups, ip))
		conn, err := dial(t.Context(), "tcp", "sso.example.com:443")
		if err == nil || lookups.Load() == 0 {
			t.Errorf("a name at %s: got %v, %v after %d lookups, want it refused", ip, conn, err, lookups.Load())
		}
		if err != nil && !strings.Contains(err.Error(), "not a public address") {
			t.Errorf("a name at %s: got %v, want that it is not public", ip, err)
		}
	}
	for _, ip := range []string{"1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8"} {
		if err := g.checkIP("sso.example.com", netip.MustParseAddr(ip)); err != nil {
			t.Errorf("%s: got %v, want it allowed", ip, err)
		}
	}
}

// Other ways of writing an address are names, and what they mean is checked when it is connected to.
func TestFaultF16_OddAddresses(t *testing.T) {
	g := newGuard(Options{}, "https://mcp.example.com/mcp").Transport.(*guard)
	for _, host := range []string{"2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "127.1", "localhost", "a.localhost"} {
		var lookups atomic.Int32
		conn, err := g.dial(dns(t, &lookups, "127.0.0.1"))(t.Context(), "tcp", host+":443")
		if err == nil {
			_ = conn.Close()
			t.Errorf("%s: got a connection, want none", host)
		}
	}
	for _, address := range []string{"http://sso.example.com/", "ftp://sso.example.com/", "file:///etc/passwd", "https://u:p@sso.example.com/", "https:///x", "javascript:alert(1)", "http://localhost/"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := g.RoundTrip(req); err == nil {
			t.Errorf("%s: got %v, want it refused", address, resp)
		}
	}
}

// The user's own word is good for the hosts that it names, and for no others.
func TestFaultF16_NamedHosts(t *testing.T) {
	g := newGuard(Options{}, "https://mcp.corp.example/mcp", "https://SSO.corp.example").Transport.(*guard)
	ip := netip.MustParseAddr("10.0.0.1")
	for host, allowed := range map[string]bool{"mcp.corp.example": true, "sso.corp.example": true, "other.corp.example": false} {
		if err := g.checkIP(host, ip); (err == nil) != allowed {
			t.Errorf("%s: got %v, want it allowed: %v", host, err, allowed)
		}
	}
}

// A server of this machine may send to this machine, and nowhere else that is private.
func TestFaultG85_PrivateAddressesOfLocalServers(t *testing.T) {
	local := newGuard(Options{}, "http://127.0.0.1:1/mcp", "https://sso.corp.example").Transport.(*guard)
	for _, tt := range []struct {
		host, address string
		allowed       bool
	}{
		{"x", "127.0.0.1", true}, {"x", "::1", true}, {"x", "::ffff:127.0.0.1", true}, {"x", "8.8.8.8", true},
		{"x", "10.0.0.1", false}, {"x", "192.168.1.1", false}, {"x", "172.16.0.1", false}, {"x", "fd00::1", false}, {"x", "::ffff:10.0.0.1", false},
		{"x", "169.254.169.254", false}, {"x", "fe80::1", false}, {"x", "100.64.0.1", false}, {"x", "0.0.0.0", false},
		{"sso.corp.example", "10.0.0.1", true}, // named as the issuer
	} {
		if err := local.checkIP(tt.host, netip.MustParseAddr(tt.address)); (err == nil) != tt.allowed {
			t.Errorf("%s at %s: got %v, want it allowed: %v", tt.host, tt.address, err, tt.allowed)
		}
	}
}

// get asks by the client of a server at that address.
func get(t *testing.T, client *http.Client, address string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Key", "secret")
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err == nil {
		t.Cleanup(func() { _ = resp.Body.Close() })
	}
	return resp, err
}

func TestFaultF16_Redirects(t *testing.T) {
	var seen atomic.Value
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { seen.Store(req.Header) }))
	defer other.Close()
	var hops atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("/loop", func(w http.ResponseWriter, req *http.Request) {
		hops.Add(1)
		http.Redirect(w, req, "/loop", http.StatusFound)
	})
	mux.Handle("/other", http.RedirectHandler(other.URL, http.StatusFound))
	mux.Handle("/private", http.RedirectHandler("https://169.254.169.254/", http.StatusFound))
	mux.Handle("/plain", http.RedirectHandler("http://192.0.2.1/", http.StatusFound))
	srv := httptest.NewServer(mux)
	defer srv.Close()
	client := newGuard(Options{}, srv.URL)
	defer client.CloseIdleConnections()

	if _, err := get(t, client, srv.URL+"/loop"); err == nil || hops.Load() != maxHops+1 {
		t.Errorf("a loop: got %v after %d requests, want an error after %d", err, hops.Load(), maxHops+1)
	}
	for path, want := range map[string]string{"/private": "not a public address", "/plain": "not https"} {
		if _, err := get(t, client, srv.URL+path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
	if _, err := get(t, client, srv.URL+"/other"); err != nil {
		t.Fatal(err)
	}
	if h := seen.Load().(http.Header); h.Get("X-Key") != "" || h.Get("Accept") == "" {
		t.Errorf("another origin was sent %v, want none of the headers but Accept", h)
	}
	resp, err := client.Post(srv.URL+"/other", "text/plain", strings.NewReader("secret"))
	if err != nil || resp.StatusCode != http.StatusFound {
		t.Fatalf("a POST: got %v, %v, want it not sent on", resp, err)
	}
	_ = resp.Body.Close()
}

// The settings of TLS are those of all connections to servers, which go on meanwhile: nobody writes to them.
func TestSharedTLS(t *testing.T) {
	shared := new(tls.Config)
	client := newGuard(Options{TLS: shared}, "https://127.0.0.1:1/")
	if _, err := get(t, client, "https://127.0.0.1:1/"); err == nil {
		t.Error("got an answer where nobody listens")
	}
	if shared.NextProtos != nil {
		t.Errorf("the settings were changed to %q", shared.NextProtos)
	}
}

func TestFaultF16_Size(t *testing.T) {
	for size, want := range map[int]bool{maxBody: true, maxBody + 1: false, 10 * maxBody: false} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "{"+strings.Repeat(" ", size-2)+"}")
		}))
		client := newGuard(Options{}, srv.URL)
		c := &places{http: client}
		err := c.fetch(t.Context(), srv.URL, new(struct{}))
		if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "more than 1048576 bytes") {
			t.Errorf("%d bytes: got %v, want all: %v", size, err, want)
		}
		client.CloseIdleConnections()
		srv.Close()
	}
	if got := newGuard(Options{}).Timeout; got != requestTime {
		t.Errorf("requests are given up after %v, want %v", got, requestTime)
	}
}

// No connection that was kept is used after connections were closed.
func TestGuardClosesConnections(t *testing.T) {
	var made atomic.Int32
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			made.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	client := newGuard(Options{}, srv.URL)
	for want := range int32(3) {
		resp, err := get(t, client, srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(resp.Body); err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close() // it is kept for another request now
		client.CloseIdleConnections()
		if got := made.Load(); got != want+1 {
			t.Errorf("got %d connections for %d requests", got, want+1)
		}
	}
}
