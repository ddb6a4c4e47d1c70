package commandsrv

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// A Fault is why an operation has no result. Code is the HTTP status that it has over HTTP; over MCP it is the
// structured content of an error.
type Fault struct {
	Code    int       `json:"code"`
	Message string    `json:"message"`
	Data    FaultData `json:"data"`

	cause  error // what the log alone is told; nil: nothing
	logged bool  // the turn that it is about logs it
}

// FaultData say what a [Fault] is about, as far as that is known.
type FaultData struct {
	SessionID      string `json:"session_id,omitempty"`
	UserID         string `json:"user_id,omitempty"`
	ConversationID string `json:"conversation_id,omitempty"`
	TurnKey        string `json:"turn_key,omitempty"`
}

func (f *Fault) Error() string { return fmt.Sprintf("%d: %s", f.Code, f.Message) }

func faultf(code int, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// invalid is the fault of arguments that cannot be used.
func invalid(format string, args ...any) *Fault {
	return faultf(http.StatusUnprocessableEntity, format, args...)
}

// faultOf gives the fault that an error of the engine, a model or the store is.
func faultOf(err error) *Fault {
	var (
		fault     *Fault
		malformed *command.Error
		busy      *store.BusyError
		value     *store.InvalidError
		away      *store.UnreachableError
		damaged   *store.CorruptError
	)
	switch {
	case errors.As(err, &fault):
		return fault
	case errors.As(err, &malformed):
		return faultf(malformed.Code, "%s", malformed.Error())
	case errors.As(err, &busy):
		f := faultf(http.StatusConflict, "another turn of this conversation is running; wait for it, or send the request that began it again to get its result")
		f.Data.TurnKey = busy.Key
		return f
	case errors.As(err, &value):
		return invalid("%s", value.Error())
	case errors.Is(err, store.ErrNotFound):
		return faultf(http.StatusNotFound, "there is no such session, conversation or turn")
	case errors.Is(err, store.ErrNoTurn):
		return invalid("the conversation has no turn yet to give feedback on")
	case errors.Is(err, store.ErrLost), errors.Is(err, store.ErrClosed), errors.As(err, new(*store.ReadOnlyError)), errors.As(err, new(*store.WriteError)), errors.As(err, &away),
		errors.As(err, new(*store.SchemaError)), errors.Is(err, errClosed):
		f := faultf(http.StatusServiceUnavailable, "%s", err)
		if errors.As(err, &away) {
			f.cause = away.Cause
		}
		return f
	case errors.As(err, &damaged) && damaged.Part:
		return faultf(http.StatusInternalServerError, "%s; new_conversation begins another conversation", err)
	case errors.Is(err, context.DeadlineExceeded):
		return faultf(http.StatusInternalServerError, "it took too long: %s", err)
	}
	return faultf(http.StatusInternalServerError, "%s", strings.TrimSpace(err.Error()))
}

var errClosed = errors.New("the server is shutting down")

// faultObject is the schema of a [Fault].
const faultObject = `{"type":"object","properties":{"code":{"type":"integer"},"message":{"type":"string"},"data":{"type":"object","properties":{` +
	`"session_id":{"type":"string"},"user_id":{"type":"string"},"conversation_id":{"type":"string"},"turn_key":{"type":"string"}}}},"required":["code","message","data"]}`
