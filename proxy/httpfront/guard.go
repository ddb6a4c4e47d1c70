package httpfront

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// guard decides who may speak at all. It reads nothing but the request's first line and header.
type guard struct {
	hosts   map[string]bool
	own     map[string]string // the origin of each loopback host
	origins map[string]bool   // those that are allowed on any host
}

// newGuard checks the names it is given: a name that can never match is a mistake of the user's.
func newGuard(opts *Options) (guard, error) {
	g := guard{hosts: make(map[string]bool), own: make(map[string]string), origins: make(map[string]bool)}
	scheme, usual := "http", "80"
	if opts.TLS != nil {
		scheme, usual = "https", "443"
	}
	address, port, err := net.SplitHostPort(opts.Addr.String())
	if err != nil {
		return g, fmt.Errorf("the address %q has no port: %w", opts.Addr, err)
	}
	allow := func(name string) (added []string) {
		added = []string{net.JoinHostPort(strings.Trim(name, "[]"), port)}
		if port == usual {
			added = append(added, name) // clients leave it out
		}
		for _, host := range added {
			g.hosts[host] = true
		}
		return added
	}
	for _, name := range []string{"localhost", "127.0.0.1", "[::1]"} {
		for _, host := range allow(name) {
			g.own[host] = scheme + "://" + host
		}
	}
	if ip, err := netip.ParseAddr(address); err == nil && !ip.IsUnspecified() {
		if ip.Is6() {
			address = "[" + address + "]"
		}
		allow(address)
	}
	for _, name := range opts.Hosts {
		if !isHost(name) {
			return g, fmt.Errorf("%q is not a host name: want a name or an address in lower case, with or without a port", name)
		}
		g.hosts[name] = true
		if _, _, err := net.SplitHostPort(name); err != nil {
			allow(name)
		}
	}
	for _, origin := range opts.Origins {
		if u, err := url.Parse(origin); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Scheme+"://"+u.Host != origin || !isHost(u.Host) {
			return g, fmt.Errorf("%q is not an origin: want scheme://host or scheme://host:port in lower case, as in https://app.example", origin)
		}
		g.origins[origin] = true
	}
	return g, nil
}

// isHost reports whether name could be the value of a Host header.
func isHost(name string) bool {
	host := name
	if h, port, err := net.SplitHostPort(name); err == nil {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
		host = h
	} else if inner, ok := strings.CutPrefix(name, "["); ok {
		host = strings.TrimSuffix(inner, "]")
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Is4() || strings.HasPrefix(name, "[")
	}
	ok := func(c rune) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' }
	return host != "" && !strings.ContainsFunc(host, func(c rune) bool { return !ok(c) })
}

// check refuses what a web page of another site may have sent: by DNS rebinding, which shows in Host, or straight,
// which shows in Origin, or where that is not sent, as for an image, in Sec-Fetch-Site (Fetch Metadata). Names are
// compared to the letter; a client that speaks to us sends what it was given.
func (g *guard) check(r *http.Request) *refusal {
	if !strings.HasPrefix(r.RequestURI, "/") {
		return refuse(http.StatusForbidden, "the request line must have a path after the method, such as /mcp, and not a whole address as for a proxy, which workbench is not")
	}
	if !g.hosts[r.Host] {
		return refuse(http.StatusForbidden, fmt.Sprintf("the host of the request, %q, is not one that is served here (workbench serve --allow-host adds one)", foreign.NewName(r.Host)))
	}
	origins, present := r.Header["Origin"]
	switch {
	case !present && (!slices.ContainsFunc(r.Header["Sec-Fetch-Site"], isForeign) || isVisit(r)):
		return nil
	case len(origins) == 1 && origins[0] != "" && (g.own[r.Host] == origins[0] || g.origins[origins[0]]):
		return nil
	}
	return refuse(http.StatusForbidden, "the origin of the request is not one that is allowed here (workbench serve --allow-origin adds one)")
}

// maxPreflight is how long a browser may keep the answer to a preflight, in seconds. Chromium keeps none longer.
const maxPreflight = "7200"

// share lets pages of an allowed origin read their answers, which browsers leave to the server (the CORS protocol of the
// Fetch standard). It reports whether the request was only the question, sent before one that no form could send,
// whether that may come, and answers it. What a page may do is not settled here but by the token of its request.
func (g *guard) share(w http.ResponseWriter, r *http.Request) (preflight bool) {
	origin := r.Header.Get("Origin")
	if !g.origins[origin] {
		return false
	}
	head := w.Header()
	head.Set("Access-Control-Allow-Origin", origin)
	head.Add("Vary", "Origin")
	method := r.Header.Get("Access-Control-Request-Method")
	if r.Method != http.MethodOptions || method == "" {
		head.Set("Access-Control-Expose-Headers", "*")
		return false
	}
	head.Set("Access-Control-Allow-Methods", method)
	if names := r.Header.Values("Access-Control-Request-Headers"); len(names) > 0 {
		head.Set("Access-Control-Allow-Headers", strings.Join(names, ", "))
	}
	head.Set("Access-Control-Max-Age", maxPreflight)
	w.WriteHeader(http.StatusNoContent)
	return true
}

// isVisit reports whether a person has followed a link to our page, on whichever page that stood: what is read so is the
// same for everybody. A frame is another destination.
func isVisit(r *http.Request) bool {
	return r.Method == http.MethodGet && isPage(r.URL.Path) && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// isPage reports whether a path is that of the page for people, or of what belongs to it.
func isPage(path string) bool { return path == "/ui" || strings.HasPrefix(path, "/ui/") }

// isForeign reports whether a value of Sec-Fetch-Site says that a page made the request which is not of this origin.
func isForeign(site string) bool { return site != "none" && site != "same-origin" }

// accepts reports whether an Accept header admits all the given types, each of the form type/subtype.
func accepts(header []string, types ...string) bool {
	return !slices.ContainsFunc(types, func(want string) bool {
		main, _, _ := strings.Cut(want, "/")
		for _, line := range header {
			for entry := range strings.SplitSeq(line, ",") {
				kind, params, _ := strings.Cut(strings.TrimSpace(entry), ";")
				kind = strings.ToLower(strings.TrimSpace(kind))
				if (kind == want || kind == main+"/*" || kind == "*/*") && !isZeroQuality(params) {
					return false
				}
			}
		}
		return true
	})
}

// isZeroQuality reports whether the parameters of a media range say that it is not acceptable.
func isZeroQuality(params string) bool {
	for param := range strings.SplitSeq(params, ";") {
		if q, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(param)), "q="); ok {
			n, err := strconv.ParseFloat(q, 64)
			return err != nil || n == 0
		}
	}
	return false
}
