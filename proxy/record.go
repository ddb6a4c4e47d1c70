package proxy

import (
	"bytes"

	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Calls is the record of what clients have asked for; nil if nothing is recorded.
func (p *Proxy) Calls() *calls.Log { return p.root.opts.Calls }

// Calls is the record of what clients have asked for; nil if nothing is recorded.
func (h *HTTP) Calls() *calls.Log { return h.root.Calls() }

// guestName is the client of calls of other programs.
const guestName = "workbench call"

// isCall reports whether a request is recorded that goes to no server.
func isCall(method string) bool {
	return method == "tools/call" || method == "prompts/get" || method == "resources/read"
}

// records reports whether the request is to be recorded, and how.
func (f *flight) records() bool { return f.recording != calls.Off }

// keepArguments keeps the arguments of the request, if arguments and results are recorded. They are charged to the client
// until it is answered.
func (f *flight) keepArguments(arguments []byte) {
	if f.recording != calls.Full || len(arguments) == 0 {
		return
	}
	left := len(arguments) > calls.MaxValue || !f.hold(len(arguments))
	var kept []byte
	masked := false
	if !left {
		kept, masked = f.s.p.clean(arguments)
	}
	f.s.p.root.opts.Calls.Note(&f.record, func(r *calls.Call) { r.Arguments, r.Masked, r.ArgumentsLeft = kept, masked, left })
}

// clean gives a JSON value of its own, without secrets, and reports whether there were any.
func (p *Proxy) clean(raw []byte) (kept []byte, masked bool) {
	if kept, masked = p.masks().JSON(raw); !masked {
		kept = bytes.Clone(raw)
	}
	return kept, masked
}

// noteAsked takes what the record has of the request itself.
func (f *flight) noteAsked(c *call) {
	f.record.User, f.record.Session = f.s.who.Name, f.s.number
	from := f.out.From()
	if f.record.Address = from.Address; from.Guest {
		f.record.Client = guestName
	}
	f.record.Full = f.recording == calls.Full
	f.record.Method, f.record.In, f.record.Request = c.MethodName, len(c.Raw), calls.Cut(string(f.id))
	if isCall(c.MethodName) {
		f.keepArguments(c.Bytes(c.Args))
	}
}

// noteBegun records that a request is worked on here.
func (f *flight) noteBegun(c *call) {
	if !f.records() || !isCall(c.MethodName) {
		return
	}
	target, ok := wire.Unquote(c.Bytes(c.Name))
	if !ok {
		target, _ = wire.Unquote(c.Bytes(c.URI))
	}
	f.noteTarget(target)
}

// noteTarget records what the request asks for.
func (f *flight) noteTarget(target string) {
	if f.records() {
		target = f.s.p.masks().Text(calls.Cut(target))
		f.s.p.root.opts.Calls.Note(&f.record, func(r *calls.Call) { r.Tool = target })
	}
}

// refuse answers a call, of what is named by target, with an error.
func (s *Session) refuse(c *call, target string, err error) {
	if f := s.take(c); f != nil {
		f.noteTarget(target)
		f.fail(err)
	}
}

// noteSent records that a request goes to a server. target is what it asks for, by the server's own name.
func (f *flight) noteSent(c *call, srv *toolbox.Server, target string) {
	if !f.records() {
		return
	}
	target = f.s.p.masks().Text(calls.Cut(target))
	var trace calls.Trace
	if f.span != nil {
		trace = calls.Trace(f.span.SpanContext().TraceID())
	} else if c.HasMeta() {
		trace = traceOf(c)
	}
	f.s.p.root.opts.Calls.Note(&f.record, func(r *calls.Call) {
		r.Toolbox, r.Server, r.Tool, r.Trace = srv.Toolbox, srv.Name, target, trace
		if c.Token.Present() {
			r.Progress = calls.Cut(string(c.Bytes(c.Token)))
		}
	})
}

// traceOf is the trace that the client's request belongs to, if that says so.
func traceOf(c *call) calls.Trace {
	var out [1]wire.Span
	if wire.Find(c.Raw, c.Meta, []string{metaTraceparent}, out[:]) != nil {
		return calls.Trace{}
	}
	token := c.Bytes(out[0]) // "00-TRACE-SPAN-FLAGS"
	if len(token) < 37 || token[0] != '"' || token[3] != '-' {
		return calls.Trace{}
	}
	trace, _ := calls.ParseTrace(token[4:36])
	return trace
}

// noteEnded records the end of the request; reply is what the client gets, if it gets one.
func (f *flight) noteEnded(o outcome, reply []byte) {
	if !f.records() || !f.record.Begun() && !isCall(f.record.Method) {
		return
	}
	log, srv, masks := f.s.p.root.opts.Calls, f.server.Load(), f.s.p.masks()
	if !f.record.Begun() {
		log.Note(&f.record, func(*calls.Call) {})
	}
	log.End(&f.record, func(r *calls.Call) {
		r.Outcome, r.Out = o.String(), len(reply)
		bad := o != answered && o != cancelled
		if srv != nil && bad {
			r.Stderr = srv.WroteSince(r.Began())
		}
		if reply == nil || !bad && f.recording != calls.Full {
			return
		}
		var m wire.Message // not before: most calls need none
		if wire.Scan(reply, &m) != nil {
			return
		}
		if bad {
			r.Error = foreign.NewText(masks.Text(faultIn(&m))).String()
		}
		if f.recording != calls.Full {
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
		r.Result, _ = f.s.p.clean(result)
	})
}

// maxFault is how much of what went wrong is looked at: more than is kept, so that no secret is cut in two.
const maxFault = 16 << 10

// faultIn is what a reply says of what went wrong: the message of an error, or the text of a result that says it is one.
func faultIn(m *wire.Message) string {
	if m.Kind != wire.Result {
		var out [2]wire.Span
		if wire.Find(m.Raw, m.Error, []string{"code", "message"}, out[:]) != nil {
			return ""
		}
		text, _ := wire.Unquote(m.Bytes(out[1]))
		return text[:min(len(text), maxFault)] + " (code " + string(m.Bytes(out[0])) + ")"
	}
	content, err := wire.FindPath(m.Raw, m.Result, "content")
	if err != nil || !content.Present() || m.Raw[content.Start] != '[' {
		return ""
	}
	for item := range wire.Elements(m.Raw, content) {
		if text, err := wire.FindPath(m.Raw, item, "text"); err == nil && text.Present() {
			fault, _ := wire.Unquote(m.Bytes(text))
			return fault[:min(len(fault), maxFault)]
		}
	}
	return ""
}
