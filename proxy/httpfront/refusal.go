package httpfront

import (
	"net/http"

	"github.com/mcp-workbench/workbench/internal/reqbody"
	"github.com/mcp-workbench/workbench/internal/trail"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// refusal is a request that is answered with an HTTP status, and a body that is a JSON-RPC error.
type refusal struct {
	status int
	header [2]string // name and value of one more header, if any
	id     []byte    // of the request, if it was read
	error  wire.Error
	read   bool // so that one without an id was no request
}

// refuseMessage refuses a request for what is wrong with the message in it; nil if nothing is.
func refuseMessage(err error) *refusal {
	if err == nil {
		return nil
	}
	bad := wire.AsError(err)
	return &refusal{status: http.StatusBadRequest, id: bad.ID, error: *bad}
}

// refuse refuses a request for what is wrong with its transport.
func refuse(status int, message string) *refusal {
	return &refusal{status: status, error: wire.Error{Code: wire.CodeInvalidRequest, Message: message}}
}

func refuseMethod(allowed string) *refusal {
	no := refuse(http.StatusMethodNotAllowed, "the method is not one of "+allowed)
	no.header = [2]string{"Allow", allowed}
	return no
}

// later tells the client after how many seconds it may try again.
func (no *refusal) later(seconds string) *refusal {
	no.header = [2]string{"Retry-After", seconds}
	return no
}

func refuseClosing() *refusal {
	return refuse(http.StatusServiceUnavailable, "workbench is shutting down").later("5")
}

// write answers. Where the request was not read, its error, which has no id then, is not called a message: some clients
// take any message for the reply, and would go on waiting for the one with the id of their request.
func (no *refusal) write(w http.ResponseWriter, r *http.Request) {
	kind := "application/json"
	if !no.read {
		kind = "text/plain; charset=utf-8"
	}
	no.send(w, r, kind, no.body())
}

// writePlain is write for those who speak no JSON-RPC.
func (no *refusal) writePlain(w http.ResponseWriter, r *http.Request) {
	no.send(w, r, "application/json", wire.AppendFault(nil, no.status, no.error.Message, []byte("{}")))
}

func (no *refusal) send(w http.ResponseWriter, r *http.Request, kind string, body []byte) {
	if no.status >= http.StatusBadRequest {
		TellOf(r, trail.Event{Event: trail.Refused, Status: no.status, Err: no.error.Message})
	}
	h := w.Header()
	if no.header[0] != "" {
		h.Set(no.header[0], no.header[1])
	}
	if !no.read {
		reqbody.Leave(w, r)
	}
	h.Set("Content-Type", kind)
	w.WriteHeader(no.status)
	_, _ = w.Write(body)
}

// body is the error; the schema of revision 2025-11-25 and later has no null for an id that is not known.
func (no *refusal) body() []byte {
	if no.id != nil {
		return wire.AppendError(nil, no.id, no.error.Code, no.error.Message, no.error.Data)
	}
	told := wire.AppendFault(nil, no.error.Code, no.error.Message, no.error.Data)
	return wire.NewObject(nil).Text("jsonrpc", "2.0").Raw("error", told).End()
}
