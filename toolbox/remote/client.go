package remote

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// connectTime bounds the making of a connection to a remote server, and then the agreement on TLS.
const connectTime = 10 * time.Second

// A connection of HTTP/2 carries all requests to a server, and stays when one of them is given up. On a connection that
// brings nothing for quietTime the server is asked by a ping whether it is there, and without an answer within pongTime
// the connection is closed.
const (
	quietTime = 30 * time.Second
	pongTime  = 15 * time.Second
)

// keptConns is how many connections to one host are kept for the next calls, and keptTime for how long: less than the
// minute after which load balancers close them, because a call that is sent in that moment is lost.
const (
	keptConns = 64
	keptTime  = 50 * time.Second
)

// maxHeader is the longest header of a response that is read, in bytes. The header is held for as long as the response
// lasts, and charged to nobody.
const maxHeader = 64 << 10

// Client makes a client for remote servers, which toolboxes may share. Proxies are those of environ, KEY=VALUE
// (HTTPS_PROXY, HTTP_PROXY, NO_PROXY), and never for this machine itself.
func Client(environ []string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:                  proxyOf(environ),
		OnProxyConnectResponse: proxyAnswered,
		DialContext:            (&net.Dialer{Timeout: connectTime}).DialContext,
		TLSHandshakeTimeout:    connectTime,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: quietTime, PingTimeout: pongTime},
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConnsPerHost:    keptConns,
		IdleConnTimeout:        keptTime,
	}}
}

// proxyOf finds the proxy of a request by variables of an environment.
func proxyOf(environ []string) func(*http.Request) (*url.URL, error) {
	lookup := func(names ...string) string {
		for _, name := range names {
			for _, entry := range slices.Backward(environ) {
				if v, ok := strings.CutPrefix(entry, name+"="); ok && v != "" {
					return v
				}
			}
		}
		return ""
	}
	find := (&httpproxy.Config{
		HTTPProxy:  lookup("HTTP_PROXY", "http_proxy"),
		HTTPSProxy: lookup("HTTPS_PROXY", "https_proxy"),
		NoProxy:    lookup("NO_PROXY", "no_proxy"),
	}).ProxyFunc()
	return func(req *http.Request) (*url.URL, error) { return find(req.URL) }
}

// proxyAnswered words that a proxy does not connect to a server, of which net/http would say no more than the status.
func proxyAnswered(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return Unreached(fmt.Errorf("the proxy answered with HTTP %d %s and does not connect to the host; %s", resp.StatusCode, http.StatusText(resp.StatusCode), proxyAdvice))
}

// maxRedirects bounds how often a remote server sends us on.
const maxRedirects = 5

// SameOrigin is how redirects are followed: it lets a remote server send us on within its origin only: the headers of
// the configuration, credentials among them, and the messages are meant for no other.
func SameOrigin(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case first.URL.Scheme == "https" && req.URL.Scheme == "http" && req.URL.Hostname() == first.URL.Hostname():
		return fmt.Errorf("redirected to another origin, %s, which is not followed; servers that do not know of the TLS of the proxy before them redirect so where the url has a slash at its end and should not, or should", foreign.NewName("http://"+req.URL.Host))
	case req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host:
		return fmt.Errorf("redirected to another origin, %s, which is not followed; if that is the server, write it as its url", foreign.NewName(req.URL.Scheme+"://"+req.URL.Host))
	case req.Method != first.Method:
		return fmt.Errorf("redirected from %s to %s, which would lose the message", first.Method, req.Method)
	case len(via) > maxRedirects:
		return fmt.Errorf("redirected more than %d times", maxRedirects)
	}
	return nil
}
