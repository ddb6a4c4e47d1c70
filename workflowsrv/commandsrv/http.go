package commandsrv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/reqbody"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Bounds of a request over HTTP.
const (
	maxBody  = 1 << 20
	bodyTime = 15 * time.Second
	// sendTime is how long one piece of an answer may take to be sent.
	sendTime = 30 * time.Second
)

// ServeHTTP serves the operations, each with its method and path, as described by /openapi.json. The user is the
// principal of the request's context.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !ServeProbe(w, r, r.URL.Path, s.checks) {
		s.route(r)(w, r)
	}
}

// Checks are what has to be well for a server to work: whether it is, by name.
type Checks map[string]bool

// ServeProbe answers the requests to a path that are a supervisor's, and reports whether one is. They are for
// everybody, and tell nothing but the checks.
func ServeProbe(w http.ResponseWriter, r *http.Request, path string, checks func(context.Context) Checks) bool {
	switch {
	case path != pathAlive && path != pathReady:
		return false
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		refuseMethod(w, path, http.MethodGet)
	case path == pathAlive:
		writeJSON(w, http.StatusOK, []byte(`{"status":"alive"}`))
	default:
		ctx, cancel := context.WithTimeout(r.Context(), probeTime)
		defer cancel()
		status, said, all := http.StatusOK, "ready", checks(ctx)
		for _, well := range all {
			if !well {
				status, said = http.StatusServiceUnavailable, "not_ready"
			}
		}
		writeJSON(w, status, wire.MustEncode(map[string]any{"status": said, "checks": all}))
	}
	return true
}

// probeTime is how long a supervisor waits.
const probeTime = 5 * time.Second

func refuseMethod(w http.ResponseWriter, path, method string) {
	w.Header().Set("Allow", method)
	writeFault(w, faultf(http.StatusMethodNotAllowed, "%s takes %s", path, method))
}

const (
	pathAlive   = "/probes/healthz"
	pathReady   = "/probes/readyz"
	pathOpenAPI = "/openapi.json"
	pathStream  = "/invoke_agent_stream"
	pathTurns   = "/turns/"
)

// route finds what serves a request.
func (s *Server) route(r *http.Request) http.HandlerFunc {
	path, method := r.URL.Path, http.MethodGet
	var serve http.HandlerFunc
	switch key, isTurn := strings.CutPrefix(path, pathTurns); {
	case path == pathOpenAPI:
		serve = func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, s.openAPI()) }
	case path == pathStream:
		method, serve = http.MethodPost, s.serveStream
	case isTurn && strings.HasSuffix(key, "/events") && strings.Count(key, "/") == 1:
		serve = func(w http.ResponseWriter, r *http.Request) { s.serveEvents(w, r, strings.TrimSuffix(key, "/events")) }
	case isTurn && key != "" && !strings.Contains(key, "/") && r.Method == http.MethodDelete:
		method, serve = r.Method, func(w http.ResponseWriter, r *http.Request) { s.stopTurn(w, r, key) }
	case isTurn && key != "" && !strings.Contains(key, "/"):
		serve = func(w http.ResponseWriter, r *http.Request) { s.serveTurn(w, r, key) }
	default:
		for _, o := range s.table {
			if o.path == path {
				method, serve = o.method, func(w http.ResponseWriter, r *http.Request) { s.serveOperation(w, r, o) }
			}
		}
	}
	switch {
	case serve == nil:
		return func(w http.ResponseWriter, _ *http.Request) {
			Refuse(w, http.StatusNotFound, fmt.Sprintf("there is nothing at %s; GET %s describes what there is", cut.Short(path), pathOpenAPI))
		}
	case r.Method != method && !(r.Method == http.MethodHead && method == http.MethodGet):
		if strings.HasPrefix(path, pathTurns) && !strings.HasSuffix(path, "/events") {
			method += ", " + http.MethodDelete
		}
		return func(w http.ResponseWriter, _ *http.Request) { refuseMethod(w, path, method) }
	}
	return serve
}

// checks say whether the server can work: its workflow is loaded, or it would not be here, its store can be written,
// and it is not closed.
func (s *Server) checks(ctx context.Context) Checks {
	return Checks{"workflow": true, "store": s.store.Try(ctx) == nil, "open": s.life.Err() == nil}
}

func callerOf(r *http.Request) *caller {
	return &caller{who: principal.From(r.Context()), client: "http"}
}

func (s *Server) serveOperation(w http.ResponseWriter, r *http.Request, o *operation) {
	c := callerOf(r)
	var a arguments
	var result json.RawMessage
	raw, f := readRequest(w, r, o)
	if f == nil {
		a, f = o.read(c, raw)
	}
	if f == nil {
		patient(w, a)
		result, f = s.carryOn(r.Context(), o, c, a)
	}
	if f != nil {
		writeFault(w, f)
		return
	}
	writeJSON(w, http.StatusOK, result)
}

// patient lets the answer of an operation be as late as its caller wants to wait for it; the front's own limit is
// shorter.
func patient(w http.ResponseWriter, a arguments) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(waitOf(a) + sendTime)) // a recorder of a test has none
}

// readRequest reads the arguments of an operation: the body of a POST, the query of a GET.
func readRequest(w http.ResponseWriter, r *http.Request, o *operation) ([]byte, *Fault) {
	if o.method == http.MethodGet {
		return queryArguments(r, o)
	}
	if kind := r.Header.Get("Content-Type"); kind != "" {
		if media, _, err := mime.ParseMediaType(kind); err != nil || media != "application/json" {
			return nil, faultf(http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
		}
	}
	body, err := reqbody.Read(w, r, callerOf(r).who.Name, nil, maxBody, bodyTime)
	if err != nil {
		return nil, faultf(err.Status, "%v (at most %d bytes)", err, maxBody)
	}
	return body, nil
}

// queryArguments makes an object of a query. A number stands there as it is in JSON.
func queryArguments(r *http.Request, o *operation) ([]byte, *Fault) {
	object := []byte{'{'}
	for name, values := range r.URL.Query() {
		if len(values) > 1 {
			return nil, invalid("%s is given %d times", cut.Short(name), len(values))
		}
		object = append(wire.AppendQuote(wire.Comma(object), name), ':')
		if number := o.param(name).takes("integer"); number && json.Valid([]byte(values[0])) {
			object = append(object, values[0]...)
			continue
		}
		object = wire.AppendQuote(object, values[0])
	}
	return append(object, '}'), nil
}

func (o *operation) param(name string) param {
	for _, p := range o.params {
		if p.name == name {
			return p
		}
	}
	return param{}
}

// turnState is what has become of a turn.
type turnState struct {
	TurnKey        string          `json:"turn_key"`
	ConversationID string          `json:"conversation_id"`
	ExecState      store.Progress  `json:"exec_state"`
	Kind           string          `json:"kind"`
	StartedAt      int64           `json:"started_at"`         // in milliseconds since 1970, like the next
	EndedAt        int64           `json:"ended_at,omitempty"` // absent while it is running, and of a lost turn until that is entered
	Output         json.RawMessage `json:"output,omitempty"`   // what the operation would have returned
	Error          json.RawMessage `json:"error,omitempty"`    // in its place, if it failed
}

// serveTurn tells the owner of a turn what has become of it.
func (s *Server) serveTurn(w http.ResponseWriter, r *http.Request, key string) {
	owner := ownerIn(r)
	found, err := s.result(r.Context(), owner, key)
	if err != nil {
		s.noTurn(w, owner, key, err)
		return
	}
	writeJSON(w, http.StatusOK, stateOf(found))
}

func stateOf(found store.Result) []byte {
	t := found.Turn
	state := turnState{TurnKey: t.Key, ConversationID: found.Conversation, ExecState: found.Progress, Kind: t.Kind, StartedAt: t.Started.UnixMilli()}
	if !t.Ended.IsZero() {
		state.EndedAt = t.Ended.UnixMilli()
	}
	output, f := endOf(t)
	switch {
	case f != nil:
		state.Error = wire.MustEncode(f)
	case len(output) > 0 && output[0] == '{':
		state.Output = withTraces(output, wire.MustEncode(append([]json.RawMessage{}, t.Traces...)))
	}
	return wire.MustEncode(state)
}

// noTurn says why nothing can be told of a turn.
func (s *Server) noTurn(w http.ResponseWriter, owner, key string, err error) {
	f := faultOf(err)
	if errors.Is(err, store.ErrNotFound) {
		f.Message = "there is no such turn, or it ended too long ago"
	}
	f.Data = FaultData{UserID: owner, TurnKey: key}
	s.failed("get_turn", f)
	writeFault(w, f)
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

// Refuse answers a request that reaches no server, as a server would.
func Refuse(w http.ResponseWriter, status int, message string) {
	writeFault(w, faultf(status, "%s", message))
}

func writeFault(w http.ResponseWriter, f *Fault) {
	if f.Code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	writeJSON(w, f.Code, wire.MustEncode(f))
}
