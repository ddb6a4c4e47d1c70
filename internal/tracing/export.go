package tracing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/pause"
)

// exporter sends spans to a collector. That it cannot is logged: the program has other things to do. The SDK has it
// send one batch at a time.
type exporter struct {
	settings *settings
	client   *http.Client
	log      zerolog.Logger
	failing  bool // the last batch was not taken, which was said
}

func newExporter(s *settings, log zerolog.Logger) *exporter {
	return &exporter{settings: s, log: log, client: &http.Client{
		// The headers, of which some are secret, are for that address alone.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// maxTries is how often one batch is sent to a collector that is busy.
const maxTries = 3

// ExportSpans implements sdk.SpanExporter.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	body, err := json.Marshal(request(spans))
	if err != nil {
		return err
	}
	rest := time.Second
	for try := 1; ; try++ {
		again, err := e.send(ctx, body)
		if err == nil || !again || try == maxTries {
			e.tell(err)
			return nil
		}
		_ = pause.For(ctx, rest)
		rest *= 2
	}
}

// tell logs that spans are lost, loudly for the first of a row.
func (e *exporter) tell(err error) {
	if err != nil {
		level := zerolog.WarnLevel
		if e.failing {
			level = zerolog.DebugLevel
		}
		e.log.WithLevel(level).AnErr(logkey.Err, err).Msg("traces cannot be sent")
	}
	e.failing = err != nil
}

// send makes one attempt; again says that another may do better.
func (e *exporter) send(ctx context.Context, body []byte) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, e.settings.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.settings.endpoint, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	for k, v := range e.settings.headers {
		req.Header.Set(k, v)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := e.client.Do(req)
	if err != nil {
		if in, ok := errors.AsType[*url.Error](err); ok {
			err = in.Err // without the address, which may have a key in it
		}
		return false, fmt.Errorf("collector %s: %w", req.URL.Host, err)
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be used again
	switch resp.StatusCode {
	case http.StatusOK, http.StatusAccepted:
		return false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	return again, fmt.Errorf("collector %s: it answered with %s to OTLP in JSON at %s", req.URL.Host, resp.Status, req.URL.Path)
}

// Shutdown implements sdk.SpanExporter.
func (e *exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

// The JSON form of opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest: ids in hexadecimal, 64-bit
// integers as strings, enumerations as numbers.
type (
	exportRequest struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   attributes   `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
		SchemaURL  string       `json:"schemaUrl,omitempty"`
	}
	attributes struct {
		Attributes []keyValue `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope        `json:"scope"`
		Spans []exportSpan `json:"spans"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	exportSpan struct {
		TraceID    string     `json:"traceId"`
		SpanID     string     `json:"spanId"`
		TraceState string     `json:"traceState,omitempty"`
		Parent     string     `json:"parentSpanId,omitempty"`
		Flags      uint32     `json:"flags"`
		Name       string     `json:"name"`
		Kind       int        `json:"kind"`
		Start      string     `json:"startTimeUnixNano"`
		End        string     `json:"endTimeUnixNano"`
		Attributes []keyValue `json:"attributes"`
		Status     spanStatus `json:"status"`
	}
	spanStatus struct {
		Code int `json:"code,omitempty"`
	}
	keyValue struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	value struct {
		String string `json:"stringValue"`
	}
)

// Flags of a span besides those of its trace: that it is known whether the parent is remote, and that it is.
const (
	flagRemoteKnown = 1 << 8
	flagRemote      = 1 << 9
)

// statusError is STATUS_CODE_ERROR.
const statusError = 2

// request puts spans into the form that collectors read. They are all of one provider and one tracer.
func request(spans []sdk.ReadOnlySpan) exportRequest {
	first := spans[0]
	all := scopeSpans{Scope: scope{first.InstrumentationScope().Name, first.InstrumentationScope().Version}}
	for _, s := range spans {
		at, parent := s.SpanContext(), s.Parent()
		one := exportSpan{
			TraceID:    at.TraceID().String(),
			SpanID:     at.SpanID().String(),
			TraceState: at.TraceState().String(),
			Flags:      uint32(at.TraceFlags()) | flagRemoteKnown,
			Name:       s.Name(),
			Kind:       int(s.SpanKind()), // the SDK counts them as the protocol does
			Start:      strconv.FormatInt(s.StartTime().UnixNano(), 10),
			End:        strconv.FormatInt(s.EndTime().UnixNano(), 10),
			Attributes: keyValues(s.Attributes()),
		}
		if parent.SpanID().IsValid() {
			one.Parent = parent.SpanID().String()
		}
		if parent.IsRemote() {
			one.Flags |= flagRemote
		}
		if s.Status().Code == codes.Error {
			one.Status.Code = statusError
		}
		all.Spans = append(all.Spans, one)
	}
	return exportRequest{[]resourceSpans{{
		Resource:   attributes{keyValues(first.Resource().Attributes())},
		ScopeSpans: []scopeSpans{all},
		SchemaURL:  first.Resource().SchemaURL(),
	}}}
}

// keyValues are attributes, which are all strings here.
func keyValues(list []attribute.KeyValue) []keyValue {
	out := make([]keyValue, len(list))
	for i, a := range list {
		out[i] = keyValue{string(a.Key), value{a.Value.String()}}
	}
	return out
}
