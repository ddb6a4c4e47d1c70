package commandsrv

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// A stream tells of a turn as it goes on: events of type trace, and in the end
// one of type output or error. It is lines of JSON, or server-sent events if
// the request accepts those.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	sse     bool
}

// serveStream is invoke_agent as a stream. What is wrong before the turn begins
// has a status of its own.
func (s *Server) serveStream(w http.ResponseWriter, r *http.Request) {
	o := s.operations[kindAgent]
	raw, f := readRequest(w, r, o)
	var a arguments
	if f == nil {
		a, f = readArguments(raw, o.params)
	}
	if f != nil {
		writeFault(w, f)
		return
	}
	c := callerOf(r)
	at, asked, f := s.asked(r.Context(), c, a, agentRequest)
	if f != nil {
		writeFault(w, f)
		return
	}
	st := &stream{w: w, control: http.NewResponseController(w), sse: strings.Contains(r.Header.Get("Accept"), "text/event-stream")}
	begin := func() {
		kind := "application/x-ndjson"
		if st.sse {
			kind = "text/event-stream"
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusOK)
	}
	begun := false
	send := func(kind string, data json.RawMessage) {
		if !begun {
			begun = true
			begin()
		}
		st.send(kind, data)
	}
	c.trace = func(ev command.TraceEvent) { send("trace", encode(ev)) }
	_ = st.control.SetWriteDeadline(time.Now().Add(waitOf(a) + sendTime))
	output, f := s.carryOut(r.Context(), c, at, asked, waitOf(a))
	switch {
	case f == nil:
		send("output", output)
	case begun:
		send("error", encode(f))
	default:
		writeFault(w, f)
	}
}

// send sends one event.
func (st *stream) send(kind string, data json.RawMessage) {
	event := append([]byte(`{"type":"`+kind+`","data":`), data...)
	event = append(event, '}')
	if st.sse {
		event = append(append([]byte("event: "+kind+"\ndata: "), event...), '\n')
	}
	if _, err := st.w.Write(append(event, '\n')); err == nil {
		_ = st.control.Flush()
	}
}
