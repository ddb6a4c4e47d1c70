package commandsrv

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// A stream tells of a turn as it goes on: events of type trace and text, and in the end one of type output or error. It
// is lines of JSON, or server-sent events if the request accepts those.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	sse     bool
	begun   bool
	gone    context.CancelFunc
}

// newStream returns a stream and the context of its request, which ends when its reader is gone or takes nothing any
// more. Call gone in the end.
func newStream(w http.ResponseWriter, r *http.Request) (*stream, context.Context) {
	ctx, gone := context.WithCancel(r.Context())
	return &stream{w: w, control: http.NewResponseController(w), sse: strings.Contains(r.Header.Get("Accept"), "text/event-stream"), gone: gone}, ctx
}

// rest has the stream be quiet for as long as the turn is: over HTTP/2 a time to write that is over ends a stream to which
// nothing is written.
func (st *stream) rest() { _ = st.control.SetWriteDeadline(time.Time{}) }

// tell sends what happens in a turn.
func (st *stream) tell(ev event) { st.send(ev.kind(), ev.encode()) }

// serveStream is invoke_agent as a stream. What is wrong before the first event has a status of its own.
func (s *Server) serveStream(w http.ResponseWriter, r *http.Request) {
	o, c := s.operations[kindAgent], callerOf(r)
	raw, f := readRequest(w, r, o)
	var a arguments
	if f == nil {
		a, f = o.read(c, raw)
	}
	if f != nil {
		writeFault(w, f)
		return
	}
	at, f := s.find(r.Context(), c, a)
	if f != nil {
		writeFault(w, f)
		return
	}
	asked, f := s.asked(c, at, a, agentRequest)
	if f != nil {
		writeFault(w, f)
		return
	}
	st, ctx := newStream(w, r)
	defer st.gone()
	c.tell = st.tell
	patient(w, a) // for a fault before the first event
	output, f := s.carryOut(ctx, c, at, asked, waitOf(a))
	switch {
	case f == nil:
		st.send("output", output)
	case st.begun:
		st.send("error", wire.MustEncode(f))
	default:
		writeFault(w, f)
	}
}

// send sends one event. One that cannot be sent is lost with the connection; the turn goes on.
func (st *stream) send(kind string, data json.RawMessage) {
	if !st.begun {
		st.begun = true
		media := "application/x-ndjson"
		if st.sse {
			media = "text/event-stream"
		}
		st.w.Header().Set("Content-Type", media)
		st.w.Header().Set("Cache-Control", "no-store")
		st.w.WriteHeader(http.StatusOK)
	}
	event := wire.NewObject(nil).Text("type", kind).Raw("data", data).End()
	if st.sse {
		event = append(append([]byte("event: "+kind+"\ndata: "), event...), '\n')
	}
	_ = st.control.SetWriteDeadline(time.Now().Add(sendTime)) // a recorder of a test has none
	_, err := st.w.Write(append(event, '\n'))
	if err == nil {
		err = st.control.Flush()
	}
	st.rest()
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		st.gone()
	}
}
