package tracing_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"github.com/mcp-workbench/workbench/internal/tracing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// environ is an environment to look up.
type environ map[string]string

func (e environ) lookup(name string) (string, bool) {
	v, ok := e[name]
	return v, ok
}

// posted is what a collector got.
type posted struct {
	path   string
	header http.Header
	body   map[string]any
}

// collector answers with that status.
func collector(t *testing.T, status int) (url string, got chan posted) {
	t.Helper()
	got = make(chan posted, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := posted{path: r.URL.Path, header: r.Header}
		text, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(text, &p.body)
		}
		if err != nil {
			t.Errorf("a body that is not JSON: %v", err)
		}
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		got <- p
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

// traceOne makes one span in that environment and sends it.
func traceOne(t *testing.T, env environ) (trace.SpanContext, string) {
	t.Helper()
	var log bytes.Buffer
	tracer, stop, err := tracing.Start(env.lookup, "1.2", zerolog.New(&log))
	if err != nil || tracer == nil {
		t.Fatalf("got %v, %v, want a tracer", tracer, err)
	}
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, Remote: true})
	at := time.Unix(1, 5)
	_, s := tracer.Start(trace.ContextWithSpanContext(context.Background(), parent), "tools/call x",
		trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(at), trace.WithAttributes(attribute.String("a", `b"c`)))
	s.SetStatus(codes.Error, "")
	s.End(trace.WithTimestamp(at.Add(time.Second)))
	stop()
	return s.SpanContext(), log.String()
}

// What goes to the collector is what the protocol's JSON form says, so that every collector takes it.
func TestSpansAreSent(t *testing.T) {
	url, got := collector(t, http.StatusOK)
	at, log := traceOne(t, environ{
		"OTEL_EXPORTER_OTLP_ENDPOINT": url + "/",
		"OTEL_EXPORTER_OTLP_HEADERS":  "X-Key=a%20b, x-other = c",
		"OTEL_RESOURCE_ATTRIBUTES":    "deployment.environment.name=test",
	})
	p := <-got
	if p.path != "/v1/traces" || p.header.Get("Content-Type") != "application/json" || p.header.Get("X-Key") != "a b" || p.header.Get("X-Other") != "c" {
		t.Errorf("got a request to %s with %v", p.path, p.header)
	}
	text, err := json.Marshal(p.body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"traceId":"01000000000000000000000000000000"`, `"parentSpanId":"0200000000000000"`, `"spanId":"` + at.SpanID().String() + `"`,
		`"flags":769`, `"kind":2`, `"name":"tools/call x"`, `"startTimeUnixNano":"1000000005"`, `"endTimeUnixNano":"2000000005"`,
		`"status":{"code":2}`, `{"key":"a","value":{"stringValue":"b\"c"}}`,
		`{"key":"service.name","value":{"stringValue":"workbench"}}`, `{"key":"service.version","value":{"stringValue":"1.2"}}`,
		`{"key":"deployment.environment.name","value":{"stringValue":"test"}}`, `"scope":{"name":"workbench","version":"1.2"}`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("got\n%s\nwant it to have %s", text, want)
		}
	}
	if log != "" {
		t.Errorf("got the log %s, want none", log)
	}
}

// A collector that refuses is not asked again, nor another that it points to, and is named in the log.
func TestCollectorsThatDoNotTakeSpans(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		log    string
	}{
		"refuses":   {http.StatusUnauthorized, "it answered with 401 Unauthorized"},
		"redirects": {http.StatusTemporaryRedirect, "it answered with 307"},
	} {
		t.Run(name, func(t *testing.T) {
			url, got := collector(t, test.status)
			_, log := traceOne(t, environ{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": url + "/own?key=canary"})
			if len(got) != 1 {
				t.Errorf("got %d requests, want 1", len(got))
			}
			if p := <-got; p.path != "/own" {
				t.Errorf("got a request to %s, want /own as it is", p.path)
			}
			if !strings.Contains(log, test.log) || !strings.Contains(log, `"level":"warn"`) || strings.Contains(log, "canary") {
				t.Errorf("got the log %s, want a warning with %q", log, test.log)
			}
		})
	}
	t.Run("absent", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		_, log := traceOne(t, environ{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": server.URL + "/own?key=canary"})
		if !strings.Contains(log, "collector "+strings.TrimPrefix(server.URL, "http://")) || strings.Contains(log, "canary") {
			t.Errorf("got the log %s, want a warning that names the collector and nothing secret", log)
		}
	})
}

// busy answers with these statuses in turn and counts.
type busy struct {
	statuses []int
	asked    int
}

func (b *busy) RoundTrip(*http.Request) (*http.Response, error) {
	status := b.statuses[b.asked]
	b.asked++
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Body: http.NoBody}, nil
}

// A collector that is busy is asked again, a few times, and only the first of the batches that it did not take is
// spoken of.
func TestBusyCollector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &busy{statuses: []int{503, 429, 200, 503, 502, 504, 503, 503, 503}}
		var log bytes.Buffer
		e := tracing.NewExporter(b, zerolog.New(&log))
		spans := tracetest.SpanStubs{{Name: "x"}}.Snapshots()
		for i, want := range []struct {
			asked, warnings int
		}{{3, 0}, {6, 1}, {9, 1}} {
			if err := e.ExportSpans(t.Context(), spans); err != nil {
				t.Errorf("batch %d: got %v, want nil", i, err)
			}
			if warnings := strings.Count(log.String(), `"level":"warn"`); b.asked != want.asked || warnings != want.warnings {
				t.Errorf("batch %d: got %d requests and %d warnings, want %d and %d", i, b.asked, warnings, want.asked, want.warnings)
			}
		}
	})
}

// Nothing is set up unless the environment asks for it, and what it asks for that cannot be is named.
func TestStart(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for name, test := range map[string]struct {
		env  environ
		on   bool
		want string // in the error
	}{
		"nothing":           {environ{}, false, ""},
		"empty":             {environ{endpoint: "", "OTEL_TRACES_EXPORTER": ""}, false, ""},
		"none":              {environ{endpoint: "http://localhost:1", "OTEL_TRACES_EXPORTER": "none"}, false, ""},
		"disabled":          {environ{endpoint: "http://localhost:1", "OTEL_SDK_DISABLED": "TRUE"}, false, ""},
		"metrics alone":     {environ{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://localhost:1"}, false, ""},
		"endpoint":          {environ{endpoint: "http://localhost:1"}, true, ""},
		"exporter":          {environ{"OTEL_TRACES_EXPORTER": "otlp"}, true, ""},
		"several exporters": {environ{"OTEL_TRACES_EXPORTER": "console,otlp"}, true, ""},
		"other exporter":    {environ{"OTEL_TRACES_EXPORTER": "zipkin"}, false, `OTEL_TRACES_EXPORTER is "zipkin": want otlp or none`},
		"grpc":              {environ{endpoint: "http://localhost:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, false, "OTEL_EXPORTER_OTLP_PROTOCOL is grpc"},
		"grpc for others":   {environ{endpoint: "http://localhost:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"}, true, ""},
		"no scheme":         {environ{endpoint: "localhost:4318"}, false, endpoint + " is no address"},
		"timeout":           {environ{endpoint: "http://localhost:1", "OTEL_EXPORTER_OTLP_TIMEOUT": "10s"}, false, `OTEL_EXPORTER_OTLP_TIMEOUT is "10s": want a number of milliseconds`},
		"headers":           {environ{endpoint: "http://localhost:1", "OTEL_EXPORTER_OTLP_HEADERS": "a=b,canary"}, false, "OTEL_EXPORTER_OTLP_HEADERS: entry 2 is not KEY=VALUE"},
		"attributes":        {environ{endpoint: "http://localhost:1", "OTEL_RESOURCE_ATTRIBUTES": "a=%zz"}, false, "OTEL_RESOURCE_ATTRIBUTES: entry 1 is not KEY=VALUE"},
	} {
		t.Run(name, func(t *testing.T) {
			tracer, stop, err := tracing.Start(test.env.lookup, "1", zerolog.Nop())
			defer stop()
			if (tracer != nil) != test.on {
				t.Errorf("got the tracer %v, want one: %t", tracer, test.on)
			}
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error %v, want %q in it", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("got %v, with a value that may be secret", err)
			}
		})
	}
}
