package httpfront

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/jsontype"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
)

// post is the outlet of one POST: a reply that comes first is the whole body of the response; if anything comes before
// it, or it is long in coming, the response is a stream. It is never used for a second request, since what belongs to
// the first may still be on its way.
type post struct {
	visit
	buffers  *wire.Buffers
	exchange exchange
	body     *[]byte     // that the exchange was read from
	id       []byte      // of the request
	closing  func() bool // whether the program ends
	streams  *streams    // nil in the modern era
	debt     *debt
	prime    bool
	listens  bool // it lasts until somebody ends it; a call is finished that was let in
	reader   reader

	mu     sync.Mutex
	stream *stream // nil until a message comes before the reply
	reply  *[]byte // where there is no stream, the reply, for which debt is charged
	over   bool
	left   bool // the client is gone
}

func newPost(v visit, buffers *wire.Buffers) *post {
	return &post{visit: v, buffers: buffers, body: buffers.Get(), reader: reader{wake: make(chan struct{}, 1)}}
}

// handled gives the body back, which nobody needs while the reply is waited for.
func (p *post) handled() {
	if p.body != nil {
		p.buffers.Put(p.body)
		p.body, p.exchange = nil, exchange{}
	}
}

// From implements proxy.Outlet.
func (p *post) From() proxy.Origin { return proxy.Origin{Address: p.address} }

// Message implements proxy.Outlet. Of what is too late for a stream of its own, a legacy client gets all but progress on
// the stream of what belongs to no request: whoever asks waits for an answer.
func (p *post) Message(msg []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if st := p.upgradeLocked(); st != nil {
		st.add(msg)
	} else if p.streams != nil && !isProgress(msg) {
		p.streams.standing.add(msg)
	}
}

func isProgress(msg []byte) bool {
	var m wire.Message
	return wire.Scan(msg, &m) == nil && m.IsMethod("notifications/progress")
}

// Behind implements proxy.Outlet.
func (p *post) Behind() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.debt.isMuch() || p.stream != nil && p.stream.behind()
}

// Finish implements proxy.Outlet. A request that has no reply because the program ends is answered with that.
func (p *post) Finish(reply []byte) {
	if reply == nil && p.id != nil && p.closing() {
		reply = wire.AppendError(nil, p.id, wire.CodeInternal, "workbench is shutting down"+unknown, nil)
	}
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
		if !p.debt.keep(len(reply)) {
			reply = p.debt.leftOut(reply)
			p.debt.keep(len(reply))
		}
		p.debt.answer(len(reply))
		p.reply = p.buffers.Get()
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
			p.stream = &stream{debt: p.debt}
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

// respond writes the response to p. stays is asked at each sign of life of a stream whether it is to go on.
func (p *post) respond(w http.ResponseWriter, r *http.Request, life *pulse, stays func() bool) response {
	quiet := life.timer()
	select {
	case <-p.reader.wake:
	case <-r.Context().Done():
	case <-quiet.C:
		p.upgrade()
	}
	quiet.Stop() // nothing is left in its channel then
	life.timers.Put(quiet)
	p.mu.Lock()
	st, reply, over := p.stream, p.reply, p.over
	p.left = st == nil && !over
	p.mu.Unlock()
	switch {
	case st != nil:
		whole := st.serve(r.Context(), w, &p.reader, life.every, stays)
		if p.streams == nil {
			st.leave()
		}
		if whole {
			return responseWhole
		}
	case reply != nil:
		defer func() {
			p.debt.answer(-len(*reply))
			p.debt.drop(len(*reply))
			p.buffers.Put(reply)
		}()
		head := w.Header()
		head.Set("Content-Type", "application/json")
		if len(*reply) > 2000 { // net/http counts a short one itself
			head.Set("Content-Length", strconv.Itoa(len(*reply)))
		}
		if p.streams == nil {
			w.WriteHeader(replyStatus(*reply))
		}
		// An error says that nobody reads it.
		if len(*reply) > maxWrite {
			_ = write(w, http.NewResponseController(w), *reply)
		} else {
			_, _ = w.Write(*reply)
		}
		return responseWhole
	case over:
		return responseNone
	}
	return responseBroken
}

// pulse says when clients are to be shown a sign of life.
type pulse struct {
	every  time.Duration
	timers sync.Pool // of *time.Timer
}

func (l *pulse) timer() *time.Timer {
	if t, ok := l.timers.Get().(*time.Timer); ok {
		t.Reset(l.every)
		return t
	}
	return time.NewTimer(l.every)
}

// replyStatus is the HTTP status that revision 2026-07-28 has for a reply.
func replyStatus(reply []byte) int {
	// An error stands near the beginning of a message in any order of its members that is found; long results are not
	// read for it.
	if !bytes.Contains(reply[:min(len(reply), 256)], []byte(`"error"`)) {
		return http.StatusOK
	}
	var m wire.Message
	if wire.Scan(reply, &m) != nil || m.Kind != wire.Failure {
		return http.StatusOK
	}
	switch code, _ := jsontype.Int(wire.Get(reply, m.Error, "code")); code {
	case wire.CodeMethodNotFound:
		return http.StatusNotFound
	case eras.HeaderMismatch, eras.MissingCapability, eras.UnsupportedVersion, wire.CodeParse, wire.CodeInvalidRequest:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
