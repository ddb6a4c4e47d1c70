package proxy

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/trail"
)

// visitor is what is known of who makes a request over HTTP, in its context.
type visitor struct {
	tell    func(trail.Event)
	tallies *tallies
	address string
	user    string // once that is known
}

type visitorKey struct{}

// known returns the request with its visitor.
func (h *HTTP) known(r *http.Request) *http.Request {
	v := &visitor{tell: h.root.opts.Trail, tallies: &h.root.tallies, address: clientAddress(r, h.opts.Proxies)}
	return r.WithContext(context.WithValue(r.Context(), visitorKey{}, v))
}

// visitorOf is that of a request; nil if nobody wants to know.
func visitorOf(r *http.Request) *visitor {
	v, _ := r.Context().Value(visitorKey{}).(*visitor)
	return v
}

// refused notes that a request is turned away.
func (v *visitor) refused(r *http.Request, no *refusal) {
	v.tallies.refuse(no.status)
	if v.tell != nil {
		v.tell(trail.Event{Event: trail.Refused, User: v.user, Address: v.address, Method: foreign.NewName(r.Method).String(),
			Path: foreign.NewName(r.URL.Path).String(), Status: no.status, Err: foreign.NewText(no.error.Message).String()})
	}
}

// clientAddress is the address of the client, without its port. What X-Forwarded-For says is believed of those alone who are
// trusted, and of what they say as far as those again are: the last address that is not one of theirs is the client's.
func clientAddress(r *http.Request, trusted []netip.Prefix) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	at, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	at = at.Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && isTrusted(at, trusted); i-- {
		hop := strings.TrimSpace(hops[i])
		if host, _, err := net.SplitHostPort(hop); err == nil {
			hop = host
		}
		next, err := netip.ParseAddr(strings.Trim(hop, "[]"))
		if err != nil {
			break
		}
		at = next.Unmap().WithZone("")
	}
	return at.String()
}

func isTrusted(at netip.Addr, trusted []netip.Prefix) bool {
	for _, p := range trusted {
		if p.Contains(at) {
			return true
		}
	}
	return false
}
