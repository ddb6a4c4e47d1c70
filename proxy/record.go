package proxy

import (
	"bytes"

	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// recorder makes the records of the requests of one client.
type recorder struct {
	log           *calls.Log // nil records nothing
	masks         *mask.Set  // take secrets out of what is kept
	user, session string
}

// record is what is kept of one request, and how much.
type record struct {
	calls.Call
	by   *recorder
	mode calls.Mode
}

// on reports whether the request is recorded.
func (r *record) on() bool { return r.mode != calls.Off }

// asked begins the record with what it has of the request itself, before that can be found and ended.
func (r *record) asked(c *call, client string) {
	from := c.out.From()
	r.User, r.Session, r.Client, r.Address = r.by.user, r.by.session, client, from.Address
	if from.Guest {
		r.Client = guestName
	}
	r.Full = r.mode == calls.Full
	r.Method, r.In, r.Request = c.MethodName, len(c.Raw), calls.Cut(string(c.Bytes(c.ID)))
}

// guestName is the client of calls of other programs.
const guestName = "workbench call"

// isCall reports whether a request is recorded that goes to no server.
func isCall(method string) bool {
	return method == "tools/call" || method == "prompts/get" || method == "resources/read"
}

// arguments keeps the arguments of the request, if arguments and results are recorded. They are charged to the client
// until it is answered.
func (r *record) arguments(of *request, arguments []byte) {
	if r.mode != calls.Full || len(arguments) == 0 {
		return
	}
	left := len(arguments) > calls.MaxValue || !of.hold(len(arguments))
	var kept []byte
	masked := false
	if !left {
		kept, masked = r.by.clean(arguments)
	}
	r.by.log.Note(&r.Call, func(r *calls.Call) { r.Arguments, r.Masked, r.ArgumentsLeft = kept, masked, left })
}

// clean gives a JSON value of its own, without secrets, and reports whether there were any.
func (by *recorder) clean(raw []byte) (kept []byte, masked bool) {
	if kept, masked = by.masks.JSON(raw); !masked {
		kept = bytes.Clone(raw)
	}
	return kept, masked
}

// here records that a request is worked on here.
func (r *record) here(c *call) {
	if !r.on() || !isCall(c.MethodName) {
		return
	}
	target, ok := wire.Unquote(c.Bytes(c.Name))
	if !ok {
		target, _ = wire.Unquote(c.Bytes(c.URI))
	}
	r.target(target)
}

// target records what the request asks for.
func (r *record) target(target string) {
	if r.on() {
		target = r.by.masks.Text(calls.Cut(target))
		r.by.log.Note(&r.Call, func(r *calls.Call) { r.Tool = target })
	}
}

// sent records that a request goes to a server. target is what it asks for, by the server's own name, and sp its part
// of a trace, if there is one.
func (r *record) sent(c *call, srv *toolbox.Server, target string, sp *span) {
	if !r.on() {
		return
	}
	target = r.by.masks.Text(calls.Cut(target))
	var trace calls.Trace
	if sp != nil {
		trace = calls.Trace(sp.SpanContext().TraceID())
	} else {
		trace = traceOf(c)
	}
	r.by.log.Note(&r.Call, func(r *calls.Call) {
		r.Toolbox, r.Server, r.Tool, r.Trace = srv.Toolbox, srv.Name, target, trace
		if c.Token.Present() {
			r.Progress = calls.Cut(string(c.Bytes(c.Token)))
		}
	})
}

// traceOf is the trace that the client's request belongs to, if that says so.
func traceOf(c *call) calls.Trace {
	token := c.Get(c.Meta, metaTraceparent) // "00-TRACE-SPAN-FLAGS"
	if len(token) < 37 || token[0] != '"' || token[3] != '-' {
		return calls.Trace{}
	}
	trace, _ := calls.ParseTrace(token[4:36])
	return trace
}

// ended records the end of the request. srv is the server that it went to, if any, and reply what the client gets, if
// it gets one.
func (r *record) ended(o outcome, srv *toolbox.Server, reply []byte) {
	if !r.on() || !r.by.log.Close(&r.Call, isCall(r.Method)) {
		return
	}
	by, mode := r.by, r.mode
	by.log.End(&r.Call, func(r *calls.Call) {
		r.Outcome, r.Out = o.String(), len(reply)
		bad := o != answered && o != cancelled
		if srv != nil && bad {
			r.Stderr = srv.WroteSince(r.Began())
		}
		if reply == nil || !bad && mode != calls.Full {
			return
		}
		var m wire.Message // not before: most calls need none
		if wire.Scan(reply, &m) != nil {
			return
		}
		if bad {
			r.Error = foreign.NewText(by.masks.Text(faultIn(&m))).String()
		}
		if mode != calls.Full {
			return
		}
		result := m.Bytes(m.Result)
		if m.Kind != wire.Result {
			result = m.Bytes(m.Error)
		}
		if len(result) > calls.MaxValue {
			r.ResultLeft = true
			return
		}
		r.Result, _ = by.clean(result)
	})
}

// maxFault is how much of what went wrong is looked at: more than is kept, so that no secret is cut in two.
const maxFault = 16 << 10

// faultIn is what a reply says of what went wrong: the message of an error, or the text of a result that says it is
// one.
func faultIn(m *wire.Message) string {
	if m.Kind != wire.Result {
		text, _ := m.Text(m.Error, "message")
		return text[:min(len(text), maxFault)] + " (code " + string(m.Get(m.Error, "code")) + ")"
	}
	content, _ := wire.FindPath(m.Raw, m.Result, "content")
	for item := range wire.Elements(m.Raw, content) {
		if text := m.Get(item, "text"); text != nil {
			fault, _ := wire.Unquote(text)
			return fault[:min(len(fault), maxFault)]
		}
	}
	return ""
}
