package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/status"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Servers answers what is asked about single servers, of which a name may mean several: each session has its own.
//
//	POST /servers/restart?server=S&toolbox=B   what became of each: status.Restarts
//	GET /servers/lines?server=S&toolbox=B&n=N  what they wrote to standard error: a status.Line a line, the oldest first
//	GET /servers/lines?…&follow                those, and then each that is written
//
// Without a toolbox the servers of that name of all are meant. It is not found if there is none.
func (p *Proxy) Servers() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /servers/restart", p.restart)
	mux.HandleFunc("GET /servers/lines", p.lines)
	return mux
}

// running is a server of a session; session is "" if sessions share it.
type running struct {
	session string
	user    string // whose session it is
	*toolbox.Server
}

// named finds the servers of open toolboxes that a request means.
func (p *Proxy) named(r *http.Request) []running {
	return p.opened(r.FormValue("toolbox"), r.FormValue("server"))
}

// opened finds the servers of a name in open toolboxes, or in those of one name.
func (p *Proxy) opened(box, name string) (all []running) {
	add := func(session, user string, b *toolbox.Toolbox) {
		if box != "" && b.Name != box {
			return
		}
		for _, srv := range b.Servers() {
			known := slices.ContainsFunc(all, func(one running) bool { return one.Server == srv })
			if srv.Name == name && !known && (session == "" || !p.isShared(srv)) {
				all = append(all, running{session, user, srv})
			}
		}
	}
	sessions := p.root.live()
	slices.SortFunc(sessions, func(a, b *Session) int { return a.since.Compare(b.since) })
	for _, s := range sessions {
		for _, b := range s.shelf.Opened() {
			add(s.number, s.who.Name, b.Toolbox)
		}
	}
	for _, b := range p.root.view.Load().Commons {
		if b.Opened() {
			add("", "", b)
		}
	}
	return all
}

// Restart has a server started anew that somebody has open; for who may act for others, wherever it is open. It reports false
// if that is nowhere, and the error says why it is not started.
func (p *Proxy) Restart(who principal.Principal, toolbox, server string) (found bool, err error) {
	for _, srv := range p.opened(toolbox, server) {
		if who.Admin || who.May(toolbox) && srv.session != "" && srv.user == who.Name {
			found = true
			err = errors.Join(err, srv.Restart())
		}
	}
	return found, err
}

// restart has servers started anew.
func (p *Proxy) restart(w http.ResponseWriter, r *http.Request) {
	all := p.named(r)
	if all == nil {
		http.NotFound(w, r)
		return
	}
	done := status.Restarts{Restarts: []status.Restart{}}
	for _, srv := range all {
		one := status.Restart{Session: srv.session, Toolbox: srv.Toolbox, Server: srv.Name, Before: string(srv.Status().State)}
		if err := srv.Restart(); err != nil {
			one.Error = err.Error()
		}
		done.Restarts = append(done.Restarts, one)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(done)
}

// lookAgain is how often servers are looked for that were opened meanwhile, while their lines are followed.
const lookAgain = time.Second

// lines tells what servers wrote to standard error.
func (p *Proxy) lines(w http.ResponseWriter, r *http.Request) {
	all := p.named(r)
	if all == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := lineWriter{lines: json.NewEncoder(w), control: http.NewResponseController(w)}
	var kept []status.Line
	after := make([]uint64, len(all))
	for i, srv := range all {
		var lines []calls.Line
		lines, after[i], _ = srv.Lines().After(0)
		for _, line := range lines {
			kept = append(kept, srv.line(line))
		}
	}
	slices.SortStableFunc(kept, func(a, b status.Line) int { return a.Time.Compare(b.Time.Time) })
	if n, err := strconv.Atoi(r.FormValue("n")); err == nil && n > 0 && len(kept) > n {
		kept = kept[len(kept)-n:]
	}
	if out.write(kept...) != nil || !r.Form.Has("follow") {
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	var followers sync.WaitGroup
	defer followers.Wait()
	known := make(map[*toolbox.Server]bool)
	for look := time.NewTicker(lookAgain); ; {
		for i, srv := range all {
			if known[srv.Server] {
				continue
			}
			known[srv.Server] = true
			last := uint64(0)
			if i < len(after) {
				last = after[i]
			}
			followers.Go(func() {
				if srv.follow(ctx, last, &out) != nil {
					cancel()
				}
			})
		}
		after = nil
		select {
		case <-look.C:
			all = p.named(r)
		case <-ctx.Done():
			look.Stop()
			return
		}
	}
}

// follow writes each line of a server after that of the number.
func (srv running) follow(ctx context.Context, last uint64, out *lineWriter) error {
	for {
		select {
		case <-srv.Lines().Changed(last):
		case <-ctx.Done():
			return ctx.Err()
		}
		var lines []calls.Line
		var missed uint64
		lines, last, missed = srv.Lines().After(last)
		said := make([]status.Line, 0, len(lines)+1)
		if missed > 0 {
			said = append(said, status.Line{Missed: missed, Session: srv.session, Toolbox: srv.Toolbox, Server: srv.Name})
		}
		for _, line := range lines {
			said = append(said, srv.line(line))
		}
		if err := out.write(said...); err != nil {
			return err
		}
	}
}

func (srv running) line(line calls.Line) status.Line {
	return status.Line{Line: line, Session: srv.session, Toolbox: srv.Toolbox, Server: srv.Name}
}

// lineWriter writes lines of several servers.
type lineWriter struct {
	mu      sync.Mutex
	lines   *json.Encoder
	control *http.ResponseController
}

func (w *lineWriter) write(lines ...status.Line) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, line := range lines {
		if err := w.lines.Encode(line); err != nil {
			return err
		}
	}
	return w.control.Flush()
}
