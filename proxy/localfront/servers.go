package localfront

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/status"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Servers answers what is asked about single servers, of which a name may mean several: each session has its own.
//
//	POST /servers/restart?server=S&toolbox=B   what became of each: status.Restarts
//	GET /servers/lines?server=S&toolbox=B&n=N  what they wrote to standard error: a status.Line a line, the oldest first
//	GET /servers/lines?…&follow                those, and then each that is written
//
// Without a toolbox the servers of that name of all are meant. It is not found if there is none.
func Servers(p *proxy.Proxy) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /servers/restart", func(w http.ResponseWriter, r *http.Request) { restart(p, w, r) })
	mux.HandleFunc("GET /servers/lines", func(w http.ResponseWriter, r *http.Request) { lines(p, w, r) })
	return mux
}

// named finds the servers that a request means.
func named(p *proxy.Proxy, r *http.Request) []proxy.Running {
	return p.Running(r.FormValue("toolbox"), r.FormValue("server"))
}

// restart has servers started anew.
func restart(p *proxy.Proxy, w http.ResponseWriter, r *http.Request) {
	all := named(p, r)
	if all == nil {
		http.NotFound(w, r)
		return
	}
	done := status.Restarts{Restarts: []status.Restart{}}
	for _, srv := range all {
		one := status.Restart{Session: srv.Session, Toolbox: srv.Toolbox, Server: srv.Name, Before: string(srv.Status().State)}
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
func lines(p *proxy.Proxy, w http.ResponseWriter, r *http.Request) {
	all := named(p, r)
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
			kept = append(kept, lineOf(srv, line))
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
	known := make(map[*toolbox.Server]context.CancelFunc) // what ends the following of each
	for look := time.NewTicker(lookAgain); ; {
		for i, srv := range all {
			if known[srv.Server] != nil {
				continue
			}
			following, end := context.WithCancel(ctx)
			known[srv.Server] = end
			last := uint64(0)
			if i < len(after) {
				last = after[i]
			}
			followers.Go(func() {
				if follow(following, srv, last, &out) != nil {
					cancel()
				}
			})
		}
		after = nil
		select {
		case <-look.C:
			all = named(p, r)
			for srv, end := range known {
				if isOver(srv) && !slices.ContainsFunc(all, func(one proxy.Running) bool { return one.Server == srv }) {
					end()
					delete(known, srv)
				}
			}
		case <-ctx.Done():
			look.Stop()
			return
		}
	}
}

// isOver reports whether a server that nobody has open any more writes nothing more.
func isOver(srv *toolbox.Server) bool {
	st := srv.Status().State
	return st != toolbox.Ready && !st.IsStarting()
}

// follow writes each line of a server after that of the number, until ctx ends.
func follow(ctx context.Context, srv proxy.Running, last uint64, out *lineWriter) error {
	for over := false; !over; {
		select {
		case <-srv.Lines().Changed(last):
		case <-ctx.Done():
			over = true // what was written before is told
		}
		var lines []calls.Line
		var missed uint64
		lines, last, missed = srv.Lines().After(last)
		said := make([]status.Line, 0, len(lines)+1)
		if missed > 0 {
			said = append(said, status.Line{Missed: missed, Session: srv.Session, Toolbox: srv.Toolbox, Server: srv.Name})
		}
		for _, line := range lines {
			said = append(said, lineOf(srv, line))
		}
		if err := out.write(said...); err != nil {
			return err
		}
	}
	return nil
}

func lineOf(srv proxy.Running, line calls.Line) status.Line {
	return status.Line{Line: line, Session: srv.Session, Toolbox: srv.Toolbox, Server: srv.Name}
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
