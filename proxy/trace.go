package proxy

import (
	"bytes"
	"context"
	"strconv"

	"github.com/mcp-workbench/workbench/internal/eras"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Attributes of spans that no convention has.
const (
	attrToolbox = attribute.Key("workbench.toolbox")
	attrServer  = attribute.Key("workbench.server")
	attrOutcome = attribute.Key("workbench.outcome")
)

// Members of _meta that carry the trace (W3C Trace Context).
const (
	metaTraceparent = "traceparent"
	metaTracestate  = "tracestate"
)

// span is the trace's part of one forwarded request, as the semantic conventions for MCP have it: the server's side of
// what the client did. Arguments, results and uris are not in it, as they may be secret.
type span struct {
	trace.Span
	parent wire.Span // the value of the client's traceparent
	torn   bool      // they cannot be told apart from others of their names
}

// newSpan begins the span of a request, below the one that the client's _meta names.
func newSpan(t trace.Tracer, r *request, c *call, srv *toolbox.Server, edits []wire.Edit) *span {
	var in [2]wire.Span
	sp := new(span)
	if c.HasMeta() {
		sp.torn = wire.Find(c.Raw, c.Meta, []string{metaTraceparent, metaTracestate}, in[:]) != nil
	}
	carrier := make(propagation.MapCarrier)
	if !sp.torn {
		sp.parent = in[0]
		carrier[metaTraceparent], _ = wire.Unquote(c.Bytes(in[0]))
		carrier[metaTracestate], _ = wire.Unquote(c.Bytes(in[1]))
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), carrier)

	name := c.MethodName
	attrs := []attribute.KeyValue{
		semconv.McpMethodNameKey.String(c.MethodName),
		semconv.JSONRPCRequestIDKey.String(string(bytes.Trim(r.id, `"`))),
		attrToolbox.String(srv.Toolbox),
		attrServer.String(srv.Name),
	}
	if r.out.From().Pipe {
		attrs = append(attrs, semconv.NetworkTransportPipe)
	} else {
		attrs = append(attrs, semconv.NetworkTransportTCP)
	}
	if target := itemName(c, edits); target != "" {
		name += " " + target
		if r.tool {
			attrs = append(attrs, semconv.GenAIOperationNameExecuteTool, semconv.GenAIToolNameKey.String(target))
		} else {
			attrs = append(attrs, semconv.GenAIPromptNameKey.String(target))
		}
	}
	_, sp.Span = t.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attrs...))
	return sp
}

// itemName is the name that its server gives to the tool or prompt asked for.
func itemName(c *call, edits []wire.Edit) string {
	if c.MethodName != "tools/call" && c.MethodName != "prompts/get" {
		return ""
	}
	token := c.Bytes(c.Name)
	for _, e := range edits {
		if e.Span == c.Name {
			token = e.New
		}
	}
	name, _ := wire.Unquote(token)
	return name
}

// note takes the code of an error reply.
func (s *span) note(m *wire.Message) {
	if m.Kind != wire.Failure {
		return
	}
	if text := string(m.Get(m.Error, "code")); text != "" {
		s.SetAttributes(semconv.ErrorTypeKey.String(text), semconv.RPCResponseStatusCode(text))
	}
}

// finish ends the span.
func (s *span) finish(o outcome) {
	s.SetAttributes(attrOutcome.String(o.String()))
	switch o {
	case answered, cancelled:
	case failed: // of what kind is noted
		s.SetStatus(codes.Error, "")
	default:
		s.SetAttributes(semconv.ErrorTypeKey.String(o.String()))
		s.SetStatus(codes.Error, "")
	}
	s.End()
}

// carry gives the request with this span in place of the client's, so that what the server does is below it; the other
// members stay as they are.
func (s *span) carry(c *call, edits []wire.Edit) (*call, []wire.Edit) {
	if s.torn {
		return c, edits // the server is to see what was sent
	}
	c, edits = c.edited(s.edit(c), edits)
	if s.SpanContext().TraceState().Len() > 0 {
		return c, edits
	}
	if state, _ := wire.FindPath(c.Raw, c.Meta, metaTracestate); state.Present() {
		// The tracestate belongs to a trace that cannot be read.
		c, edits = c.edited(wire.Edit{Span: state, New: []byte(`""`)}, edits)
	}
	return c, edits
}

// edit gives what puts the span into the request.
func (s *span) edit(c *call) wire.Edit {
	at := s.SpanContext()
	value := `"00-` + at.TraceID().String() + "-" + at.SpanID().String() + "-" + at.TraceFlags().String() + `"`
	member := strconv.Quote(metaTraceparent) + ":" + value
	switch {
	case s.parent.Present():
		return wire.Edit{Span: s.parent, New: []byte(value)}
	case c.HasMeta():
		return eras.InsertMember(c.Raw, c.Meta, []byte(member))
	case !c.Meta.Present() && c.Params.Present():
		return eras.InsertMember(c.Raw, c.Params, []byte(`"_meta":{`+member+"}"))
	default:
		return wire.Edit{} // there is no place for it
	}
}

// edited gives the call as it is after an edit to its bytes, and the edits that are still to be made to it.
func (c *call) edited(e wire.Edit, edits []wire.Edit) (*call, []wire.Edit) {
	after := *c
	after.Request, edits = c.With(e, edits)
	return &after, edits
}
