package proxy

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/mcp-workbench/workbench/internal/incoming"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// guestScopes is where the scopes of guests begin, which no client's request has.
const guestScopes = 1 << 63

// Guests answers other programs of the same user, which call what the client of this process has open: each in a request
// of its own, beside the client's.
//
//	GET /tools?toolbox=B&server=S   the definitions, a JSON array; 404 if the toolbox is not open or the server not ready
//	POST /call?toolbox=B&server=S   a tools/call of revision 2026-07-28; the messages that belong to it, each on a line,
//	                                the reply the last; hanging up cancels it
//	POST /answer                    the response to a question of the server among these
//
// What a server asks during such a call is asked of the guest alone. Nothing is opened or started for a guest, so that
// the client sees nothing of it.
func (p *Proxy) Guests() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /tools", func(w http.ResponseWriter, r *http.Request) {
		_, srv := p.host(r)
		if srv == nil {
			http.NotFound(w, r)
			return
		}
		all := []json.RawMessage{}
		for _, it := range srv.Items(toolbox.Tools) {
			all = append(all, it.Raw)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(all)
	})
	mux.HandleFunc("POST /call", p.guestCall)
	mux.HandleFunc("POST /answer", p.guestAnswer)
	return mux
}

// host finds the session that has a ready server, and the server.
func (p *Proxy) host(r *http.Request) (*Session, *toolbox.Server) {
	name := r.FormValue("toolbox")
	for _, s := range p.live() {
		b := s.shelf.Find(name)
		if b == nil || !b.Opened() || s.p.direct() {
			continue
		}
		if srv, ok := b.Server(r.FormValue("server")); ok && srv.Status().State == toolbox.Ready {
			return s, srv
		}
	}
	return nil, nil
}

// guestMessage reads the one message of a request.
func (p *Proxy) guestMessage(w http.ResponseWriter, r *http.Request) (*incoming.Request, error) {
	limit := p.opts.Toolbox.MaxMessage
	if limit == 0 {
		limit = wire.DefaultMaxMessage
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(limit)))
	if err != nil {
		return nil, err
	}
	m := new(incoming.Request)
	if err := wire.Scan(raw, &m.Message); err != nil {
		return nil, err
	}
	if err := wire.Scan(wire.Compact(nil, raw), &m.Message); err != nil { // further on, a message is one line
		return nil, err
	}
	return m, m.Read()
}

func (p *Proxy) guestCall(w http.ResponseWriter, r *http.Request) {
	s, _ := p.host(r)
	if s == nil {
		http.NotFound(w, r)
		return
	}
	m, err := p.guestMessage(w, r)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	case m.Kind != wire.Request || !m.IsMethod("tools/call"):
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	to := &flusher{w: w, control: http.NewResponseController(w)}
	defer to.end()
	box := wire.NewOutbox(to, 0)
	defer box.Close()
	out := &guest{box: box, done: make(chan struct{})}
	scope := guestScopes | p.root.guests.Add(1)
	s.guests.Add(1)
	defer s.guests.Add(-1)
	s.Handle(m, out, scope)
	select {
	case <-out.done:
	case <-r.Context().Done():
		s.Abandon(scope, m.Bytes(m.ID))
		return
	}
	_ = box.Flush(r.Context())
}

// guestAnswer hands on what a guest answers to a question that it was sent.
func (p *Proxy) guestAnswer(w http.ResponseWriter, r *http.Request) {
	m, err := p.guestMessage(w, r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for _, s := range p.live() {
		k := s.asks.find(m.Bytes(m.ID))
		if k == nil || k.carrier == nil {
			continue
		}
		if k.carrier.out.From().Guest {
			s.asks.answer(&m.Message)
			w.WriteHeader(http.StatusAccepted)
			return
		}
	}
	http.NotFound(w, r)
}

// guest is the outlet of one request of another program.
type guest struct {
	box  *wire.Outbox
	done chan struct{}
}

func (g *guest) Message(msg []byte) { _ = g.box.Send(msg) } // one that is gone is abandoned
func (g *guest) Behind() bool       { return false }
func (g *guest) From() Origin       { return Origin{Guest: true} }

func (g *guest) Finish(reply []byte) {
	if reply != nil {
		_ = g.box.Send(reply)
	}
	close(g.done)
}

// flusher writes through to the other side, until the request is over.
type flusher struct {
	w       io.Writer
	control *http.ResponseController

	mu   sync.Mutex // held while something is written
	over bool
}

// end returns when nothing is written any more.
func (f *flusher) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
}

func (f *flusher) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return 0, ErrClosed
	}
	n, err := f.w.Write(b)
	return n, errors.Join(err, f.control.Flush())
}
