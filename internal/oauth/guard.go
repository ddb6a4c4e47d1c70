package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/mcp-workbench/workbench/internal/thishost"
)

// Bounds of the requests that metadata leads to.
const (
	requestTime  = 10 * time.Second
	maxHops      = 5
	maxBody      = 1 << 20
	maxHeader    = 64 << 10
	maxKeptConns = 2
)

// guard makes the requests that metadata leads to, and refuses those that it must not lead to.
type guard struct {
	local  bool            // the server is on this machine, so its authorization server may be
	named  map[string]bool // hosts that the configuration names
	proxy  func(*http.Request) (*url.URL, error)
	direct *http.Transport // checks each address before it is connected to
	far    *http.Transport // through a proxy, which looks names up itself
}

// newGuard makes the client of a server. named are addresses that the configuration holds, the server's first.
func newGuard(opts Options, named ...string) *http.Client {
	g := &guard{named: make(map[string]bool), proxy: opts.Proxy}
	for i, address := range named {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			g.named[strings.ToLower(u.Hostname())] = true
			g.local = g.local || i == 0 && isLoopback(u.Hostname())
		}
	}
	g.direct = &http.Transport{
		DialContext:            g.dial(opts.Resolver),
		TLSClientConfig:        opts.TLS.Clone(), // Transport.Clone writes to it, and others have theirs by it meanwhile
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConnsPerHost:    maxKeptConns,
		IdleConnTimeout:        requestTime,
	}
	g.far = g.direct.Clone()
	g.far.DialContext, g.far.Proxy, g.far.OnProxyConnectResponse = nil, opts.Proxy, opts.ProxyAnswered
	return &http.Client{Transport: g, Timeout: requestTime, CheckRedirect: hop}
}

// hop lets documents be moved, and nothing else: the other requests hold secrets, which are meant for the address that
// they were sent to. What headers a server is asked with are not for another origin.
func hop(req *http.Request, via []*http.Request) error {
	first := via[0] // whose headers each hop gets
	switch {
	case first.Method != http.MethodGet:
		return http.ErrUseLastResponse
	case len(via) > maxHops:
		return fmt.Errorf("redirected more than %d times", maxHops)
	case req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host:
		req.Header = http.Header{"Accept": first.Header["Accept"]}
	}
	return nil
}

// RoundTrip makes one request; a redirect is another.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := g.check(req.URL); err != nil {
		return nil, err
	}
	transport := g.direct
	if g.proxy != nil {
		if via, err := g.proxy(req); err != nil {
			return nil, err
		} else if via != nil {
			transport = g.far
		}
	}
	resp, err := transport.RoundTrip(req)
	if err == nil {
		resp.Body = &shortBody{ReadCloser: resp.Body, left: maxBody}
	}
	return resp, err
}

// CloseIdleConnections closes the connections that no request uses.
func (g *guard) CloseIdleConnections() {
	g.direct.CloseIdleConnections()
	g.far.CloseIdleConnections()
}

// check refuses addresses by what they say. What their names stand for is checked when it is connected to.
func (g *guard) check(u *url.URL) error {
	host := u.Hostname()
	switch {
	case host == "" || u.User != nil:
		return errors.New("not the address of a web server")
	case u.Scheme == "http" && g.local && isLoopback(host):
	case u.Scheme != "https":
		return fmt.Errorf("%s://%s is not https", u.Scheme, u.Host)
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return g.checkIP(host, ip)
	}
	return nil
}

// dial connects to the addresses of a name that may be connected to. They are checked after the name was looked up, so
// that a name that means something else a moment later changes nothing.
func (g *guard) dial(resolver *net.Resolver) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		d := net.Dialer{Resolver: resolver, Control: func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			return g.checkIP(host, at.Addr())
		}}
		return d.DialContext(ctx, network, address)
	}
}

// checkIP refuses the address of a host if metadata must not lead there.
func (g *guard) checkIP(host string, ip netip.Addr) error {
	ip = ip.WithZone("").Unmap()
	switch {
	case g.named[strings.ToLower(host)]:
		return nil // the user's own word
	case ip.IsLoopback() && g.local:
		return nil
	case isPublic(ip):
		return nil
	}
	return fmt.Errorf("%s is at %s, which is not a public address; if that is right, name it as the issuer in the configuration", host, ip)
}

// isPublic reports whether an address is one of the public internet.
func isPublic(ip netip.Addr) bool {
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	for _, special := range specialRanges() {
		if special.Contains(ip) {
			return false
		}
	}
	return true
}

// specialRanges are those of the registries of special-purpose addresses (RFC 6890) that netip has no word for and that
// may lead into a network of one's own: shared, protocol, benchmarking and reserved addresses, and IPv6 ranges that
// hold an IPv4 address.
func specialRanges() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"),
		netip.MustParsePrefix("100.64.0.0/10"),
		netip.MustParsePrefix("192.0.0.0/24"),
		netip.MustParsePrefix("198.18.0.0/15"),
		netip.MustParsePrefix("240.0.0.0/4"),
		netip.MustParsePrefix("::/96"),
		netip.MustParsePrefix("64:ff9b::/96"),
		netip.MustParsePrefix("64:ff9b:1::/48"),
		netip.MustParsePrefix("2001::/32"),
		netip.MustParsePrefix("2002::/16"),
		netip.MustParsePrefix("fec0::/10"),
	}
}

// isLoopback reports whether a host is this machine by its very name (RFC 6761, section 6.3).
func isLoopback(host string) bool {
	return thishost.Is(host) || strings.HasSuffix(strings.ToLower(host), ".localhost")
}

// shortBody fails when it is longer than it may be, instead of ending early.
type shortBody struct {
	io.ReadCloser
	left int
}

func (b *shortBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, fmt.Errorf("more than %d bytes", maxBody)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	b.left -= n
	if b.left < 0 {
		return n - 1, fmt.Errorf("more than %d bytes", maxBody)
	}
	return n, err
}
