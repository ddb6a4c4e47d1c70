package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/trail"
)

// visitor is what is known of who makes a request over HTTP, in its context.
type visitor struct {
	tell    func(trail.Event)
	tallies *tallies
	noted   *refusals
	address string
	user    string // once that is known
}

// refusals logs requests that are turned away: so many each minute, for whoever knocks at a gateway is not to fill its log.
type refusals struct {
	log  zerolog.Logger
	mu   sync.Mutex
	from time.Time // the minute
	seen int       // in it
}

// loggedRefusals is how many are logged each minute.
const loggedRefusals = 10

// note logs one for a token, a right, a host or an origin; other requests are no attempt to get in.
func (n *refusals) note(v *visitor, r *http.Request, status int, why string) {
	if status != http.StatusUnauthorized && status != http.StatusForbidden {
		return
	}
	n.mu.Lock()
	missed := 0
	if now := time.Now(); now.Sub(n.from) > time.Minute {
		n.from, missed, n.seen = now, max(0, n.seen-loggedRefusals), 0
	}
	n.seen++
	over := n.seen > loggedRefusals
	n.mu.Unlock()
	if over {
		return
	}
	line := n.log.Info().AnErr(logkey.Err, errors.New(foreign.NewText(why).String())).
		Str(logkey.Detail, fmt.Sprintf("%d to %s %s at %s from %s", status, foreign.NewName(r.Method), shownPath(r), foreign.NewName(r.Host), v.address))
	if missed > 0 {
		line.Int(logkey.Dropped, missed)
	}
	line.Msg("a request was turned away")
}

type visitorKey struct{}

// known returns the request with its visitor.
func (h *HTTP) known(r *http.Request) *http.Request {
	v := &visitor{tell: h.root.opts.Trail, tallies: &h.root.tallies, noted: &h.refusals, address: clientAddress(r, h.opts.Proxies)}
	return r.WithContext(context.WithValue(r.Context(), visitorKey{}, v))
}

// visitorOf is that of a request; nil if nobody wants to know.
func visitorOf(r *http.Request) *visitor {
	v, _ := r.Context().Value(visitorKey{}).(*visitor)
	return v
}

// refused notes that a request is turned away.
func (v *visitor) refused(r *http.Request, no *refusal) {
	TellOf(r, trail.Event{Event: trail.Refused, User: v.user, Status: no.status, Err: no.error.Message})
}

// TellOf tells an event of a request that this front was given, whose address, method and path it adds.
func TellOf(r *http.Request, e trail.Event) {
	v := visitorOf(r)
	if v == nil {
		return
	}
	if e.Event == trail.Refused {
		v.tallies.refuse(e.Status)
		v.noted.note(v, r, e.Status, e.Err)
	}
	if v.tell == nil {
		return
	}
	e.Address, e.Method, e.Path = v.address, foreign.NewName(r.Method).String(), shownPath(r).String()
	e.Err = foreign.NewText(e.Err).String()
	v.tell(e)
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

// shownPath is the path of a request as it is written down: of those under which requests for runs come, the rest is a secret.
func shownPath(r *http.Request) foreign.Name {
	if strings.HasPrefix(r.URL.Path, hooksPath) {
		return foreign.NewName(hooksPath + "…")
	}
	return foreign.NewName(r.URL.Path)
}
