package httpfront

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/trail"
)

// visitors tell of requests over HTTP: of each as it comes in, who makes it.
type visitors struct {
	tell    func(trail.Event) // nil if nobody wants to know
	count   func(status int)  // of a request that is turned away
	trusted []netip.Prefix    // who is believed about X-Forwarded-For
	log     refusals
}

// visitor is what is known of who makes a request, in its context.
type visitor struct {
	*visitors
	address string
	user    string // once that is known
}

// refusals logs requests that are turned away: so many each minute, for whoever knocks at a gateway is not to fill its
// log.
type refusals struct {
	log  zerolog.Logger
	mu   sync.Mutex
	from time.Time // the minute
	seen int       // in it
}

// loggedRefusals is how many are logged each minute.
const loggedRefusals = 10

// note logs one for a token, a right, a host or an origin; other requests are no attempt to get in.
func (n *refusals) note(address string, r *http.Request, status int, why string) {
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		n.tell(why, fmt.Sprintf("%d to %s %s at %s from %s", status, foreign.NewName(r.Method), shownPath(r), foreign.NewName(r.Host), address))
	}
}

// misled logs one that spoke TLS to a port without it.
func (n *refusals) misled(address string) { n.tell(spokeTLS, "https from "+address) }

func (n *refusals) tell(why, what string) {
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
	line := n.log.Info().AnErr(logkey.Err, errors.New(foreign.NewText(why).String())).Str(logkey.Detail, what)
	if missed > 0 {
		line.Int(logkey.Dropped, missed)
	}
	line.Msg("a request was turned away")
}

type visitorKey struct{}

// meet returns the request with its visitor.
func (vs *visitors) meet(r *http.Request) *http.Request {
	v := &visitor{visitors: vs, address: clientAddress(r, vs.trusted)}
	return r.WithContext(context.WithValue(r.Context(), visitorKey{}, v))
}

// visitorOf is that of a request; nil if nobody wants to know.
func visitorOf(r *http.Request) *visitor { return visitorIn(r.Context()) }

func visitorIn(ctx context.Context) *visitor {
	v, _ := ctx.Value(visitorKey{}).(*visitor)
	return v
}

// TellOf tells an event of a request that this front was given, whose address, method and path it adds.
func TellOf(r *http.Request, e trail.Event) {
	v := visitorOf(r)
	if v == nil {
		return
	}
	if e.Event == trail.Refused {
		e.User = cmp.Or(e.User, v.user)
		v.count(e.Status)
		v.log.note(v.address, r, e.Status, e.Err)
	}
	if v.tell == nil {
		return
	}
	e.Address, e.Method, e.Path = v.address, foreign.NewName(r.Method).String(), shownPath(r).String()
	e.Err = foreign.NewText(e.Err).String()
	v.tell(e)
}

// isProxy reports whether a request came straight from a proxy that is believed.
func (vs *visitors) isProxy(remote string) bool {
	at, err := netip.ParseAddrPort(remote)
	return err == nil && isTrusted(at.Addr().Unmap(), vs.trusted)
}

// clientAddress is the address of the client, without its port. What X-Forwarded-For says is believed of those alone
// who are trusted, and of what they say as far as those again are: the last address that is not one of theirs is the
// client's.
func clientAddress(r *http.Request, trusted []netip.Prefix) string {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	at := from.Addr().Unmap()
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
	return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(at) })
}

// hooksPath begins the paths of Options.Hooks.
const hooksPath = "/hooks/"

// shownPath is the path of a request as it is written down: of those under which requests for runs come, the rest is a
// secret.
func shownPath(r *http.Request) foreign.Name {
	if strings.HasPrefix(r.URL.Path, hooksPath) {
		return foreign.NewName(hooksPath + "…")
	}
	return foreign.NewName(r.URL.Path)
}
