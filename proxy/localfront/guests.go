package localfront

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/mcp-workbench/workbench/internal/incoming"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/toolbox"
)

// guestScopes is where the scopes of guests begin, which no client's request has.
const guestScopes = 1 << 63

// guests are all calls of other programs.
type guests struct {
	proxy *proxy.Proxy
	max   int           // bytes of a message
	last  atomic.Uint64 // scope
}

// Guests answers other programs of the same user, which call what the client of this process has open: each in a
// request of its own, beside the client's. It is made once for a proxy; maxMessage of 0 is the usual one.
//
//	GET /tools?toolbox=B&server=S   the definitions, a JSON array; 404 if the toolbox is not open or the server not ready
//	POST /call?toolbox=B&server=S   a tools/call of revision 2026-07-28; the messages that belong to it, each on a line,
//	                                the reply the last; hanging up cancels it
//	POST /answer                    the response to a question of the server among these
//
// What a server asks during such a call is asked of the guest alone. Nothing is opened or started for a guest, so that
// the client sees nothing of it.
func Guests(p *proxy.Proxy, maxMessage int) http.Handler {
	if maxMessage == 0 {
		maxMessage = wire.DefaultMaxMessage
	}
	gs := &guests{proxy: p, max: maxMessage}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /tools", gs.tools)
	mux.HandleFunc("POST /call", gs.call)
	mux.HandleFunc("POST /answer", gs.answer)
	return mux
}

// tools answers with what a server offers.
func (gs *guests) tools(w http.ResponseWriter, r *http.Request) {
	_, srv := gs.host(r)
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
}

// host finds the session and the server that a request means.
func (gs *guests) host(r *http.Request) (*proxy.Session, *toolbox.Server) {
	return gs.proxy.Host(r.FormValue("toolbox"), r.FormValue("server"))
}

// message reads the one message of a request.
func (gs *guests) message(w http.ResponseWriter, r *http.Request) (*incoming.Request, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(gs.max)))
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

// call serves a tools/call.
func (gs *guests) call(w http.ResponseWriter, r *http.Request) {
	s, _ := gs.host(r)
	if s == nil {
		http.NotFound(w, r)
		return
	}
	m, err := gs.message(w, r)
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
	scope := guestScopes | gs.last.Add(1)
	defer s.Visit()()
	s.Handle(m, out, scope)
	select {
	case <-out.done:
	case <-r.Context().Done():
		s.Abandon(scope, m.Bytes(m.ID))
		return
	}
	_ = box.Flush(r.Context())
}

// answer hands on what a guest answers to a question that it was sent.
func (gs *guests) answer(w http.ResponseWriter, r *http.Request) {
	m, err := gs.message(w, r)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case gs.proxy.AnswerOfGuest(&m.Message):
		w.WriteHeader(http.StatusAccepted)
	default:
		http.NotFound(w, r)
	}
}

// guest is the outlet of one request of another program.
type guest struct {
	box  *wire.Outbox
	done chan struct{}
}

func (g *guest) Message(msg []byte) { _ = g.box.Send(msg) } // one that is gone is abandoned
func (g *guest) Behind() bool       { return false }
func (g *guest) From() proxy.Origin { return proxy.Origin{Guest: true} }

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
		return 0, proxy.ErrClosed
	}
	n, err := f.w.Write(b)
	return n, errors.Join(err, f.control.Flush())
}
