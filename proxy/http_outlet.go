package proxy

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// post is the outlet of one POST: a reply that comes first is the whole body of
// the response; if anything comes before it, or it is long in coming, the
// response is a stream. It is never used for a second request, since what
// belongs to the first may still be on its way.
type post struct {
	visit
	exchange exchange
	body     *[]byte  // that the exchange was read from, a buffer of front's
	streams  *streams // nil in the modern era
	prime    bool
	listens  bool // it lasts until somebody ends it; a call is finished that was let in
	reader   reader

	mu     sync.Mutex
	stream *stream // nil until a message comes before the reply
	reply  *[]byte // where there is no stream, the reply, in a buffer of front's
	over   bool
	left   bool // the client is gone
}

func newPost(v visit) *post {
	return &post{visit: v, body: v.front.buffers.get(), reader: reader{wake: make(chan struct{}, 1)}}
}

// handled gives the body back, which nobody needs while the reply is waited for.
func (p *post) handled() {
	if p.body != nil {
		p.front.buffers.put(p.body)
		p.body, p.exchange = nil, exchange{}
	}
}

// From implements Outlet.
func (p *post) From() Origin { return Origin{Address: p.address} }

// Message implements Outlet.
func (p *post) Message(msg []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if st := p.upgradeLocked(); st != nil {
		st.add(msg)
	}
}

// Behind implements Outlet.
func (p *post) Behind() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stream != nil && p.stream.behind()
}

// Finish implements Outlet.
func (p *post) Finish(reply []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.over = true
	switch {
	case p.stream != nil:
		p.stream.end(reply)
		if p.streams != nil {
			p.streams.finish(p.stream)
		}
	case p.left:
	case reply != nil:
		p.reply = p.front.buffers.get()
		*p.reply = append(*p.reply, reply...)
		fallthrough
	default:
		p.reader.signal()
	}
}

// upgrade makes the response a stream.
func (p *post) upgrade() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.upgradeLocked()
}

// upgradeLocked gives the stream, or nil if it is too late for one.
func (p *post) upgradeLocked() *stream {
	if p.stream == nil && !p.over && !p.left {
		if p.streams != nil {
			p.stream = p.streams.open(p.prime)
		} else {
			p.stream = new(stream)
		}
		p.stream.attach(&p.reader, 0)
	}
	if p.over {
		return nil
	}
	return p.stream
}

// response is how writing one ended.
type response int

const (
	responseWhole  response = iota
	responseBroken          // the client left before its end
	responseNone            // nothing was written: there is no reply
)

// respond writes the response to p.
func (h *HTTP) respond(w http.ResponseWriter, r *http.Request, p *post) response {
	quiet := h.timer()
	select {
	case <-p.reader.wake:
	case <-r.Context().Done():
	case <-quiet.C:
		p.upgrade()
	}
	quiet.Stop() // nothing is left in its channel then
	h.timers.Put(quiet)
	p.mu.Lock()
	st, reply, over := p.stream, p.reply, p.over
	p.left = st == nil && !over
	p.mu.Unlock()
	switch {
	case st != nil && st.serve(r.Context(), w, &p.reader, h.opts.KeepAlive, func() bool { return !p.listens || h.stays(r.Context(), &p.caller) }):
		return responseWhole
	case reply != nil:
		defer p.front.buffers.put(reply)
		head := w.Header()
		head.Set("Content-Type", "application/json")
		if len(*reply) > 2000 { // net/http counts a short one itself
			head.Set("Content-Length", strconv.Itoa(len(*reply)))
		}
		if p.streams == nil {
			w.WriteHeader(replyStatus(*reply))
		}
		_, _ = w.Write(*reply) // an error says that nobody reads it
		return responseWhole
	case st == nil && over:
		return responseNone
	}
	return responseBroken
}

// timer gives a timer that says when the client is to be shown a sign of life.
func (h *HTTP) timer() *time.Timer {
	if t, ok := h.timers.Get().(*time.Timer); ok {
		t.Reset(h.opts.KeepAlive)
		return t
	}
	return time.NewTimer(h.opts.KeepAlive)
}

// replyStatus is the HTTP status that revision 2026-07-28 has for a reply.
func replyStatus(reply []byte) int {
	// An error stands near the beginning of a message in any order of its
	// members that is found; long results are not read for it.
	if !bytes.Contains(reply[:min(len(reply), 256)], []byte(`"error"`)) {
		return http.StatusOK
	}
	var m wire.Message
	if wire.Scan(reply, &m) != nil || m.Kind != wire.Failure {
		return http.StatusOK
	}
	span, err := wire.FindPath(reply, m.Error, "code")
	if err != nil {
		return http.StatusOK
	}
	switch code, _ := strconv.Atoi(string(m.Bytes(span))); code {
	case wire.CodeMethodNotFound:
		return http.StatusNotFound
	case codeHeaderMismatch, codeMissingCapability, eras.UnsupportedVersion, wire.CodeParse, wire.CodeInvalidRequest:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
