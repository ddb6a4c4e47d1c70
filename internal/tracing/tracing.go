// Package tracing sends spans to an OpenTelemetry collector, if the standard variables of the environment ask for it
// (OpenTelemetry specification, "OpenTelemetry Environment Variable Specification" and "OpenTelemetry Protocol
// Exporter"). If they do not, nothing of the SDK is set up.
//
// Spans go as OTLP over HTTP in its JSON form, which collectors take at the same address as the binary one. The
// exporter of the SDK is not used: with gRPC and protocol buffers it makes the program 10 MB larger.
package tracing

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
)

// name is that of the service and of the scope of its spans.
const name = "workbench"

// flushTime bounds sending what is left at the end.
const flushTime = time.Second

// Start begins to trace if the environment asks for it; else, and with an error, the tracer is nil. The error names the
// variable that is wrong and what it may be. stop sends what is left, for which it takes a second at most; it is never
// nil. The sampler and the limits of the SDK are those of its own variables.
func Start(lookup func(string) (string, bool), version string, log zerolog.Logger) (_ trace.Tracer, stop func(), err error) {
	s, err := read(lookup)
	if err != nil || s == nil {
		return nil, func() {}, err
	}
	s.attributes = append(s.attributes, semconv.ServiceVersion(version))
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(newExporter(s, log)),
		sdk.WithResource(resource.NewWithAttributes(semconv.SchemaURL, s.attributes...)),
	)
	return provider.Tracer(name, trace.WithInstrumentationVersion(version)), func() {
		ctx, cancel := context.WithTimeout(context.Background(), flushTime)
		defer cancel()
		_ = provider.Shutdown(ctx) // what cannot be sent now is lost
	}, nil
}

// settings are what the environment says.
type settings struct {
	endpoint   string
	headers    map[string]string
	timeout    time.Duration // of one sending
	attributes []attribute.KeyValue
}

// read gives the settings; nil if there is to be no tracing.
func read(lookup func(string) (string, bool)) (*settings, error) {
	get := func(names ...string) (value, from string) {
		for _, n := range names {
			if v, _ := lookup(n); v != "" { // an empty one is as if it were not set
				return v, n
			}
		}
		return "", ""
	}
	const base, own = "OTEL_EXPORTER_OTLP_", "OTEL_EXPORTER_OTLP_TRACES_"
	if v, _ := get("OTEL_SDK_DISABLED"); strings.EqualFold(v, "true") {
		return nil, nil
	}
	endpoint, from := get(own+"ENDPOINT", base+"ENDPOINT")
	switch which, _ := get("OTEL_TRACES_EXPORTER"); {
	case which == "none", which == "" && endpoint == "":
		return nil, nil
	case which != "" && !slices.Contains(strings.Split(which, ","), "otlp"):
		return nil, fmt.Errorf("OTEL_TRACES_EXPORTER is %q: want otlp or none", which)
	}
	if p, from := get(own+"PROTOCOL", base+"PROTOCOL"); p == "grpc" {
		return nil, fmt.Errorf("%s is grpc, which workbench does not speak: set %sPROTOCOL to http/json and %sENDPOINT to the collector's address for HTTP, as in http://localhost:4318/v1/traces", from, own, own)
	}
	switch {
	case endpoint == "":
		endpoint = "http://localhost:4318/v1/traces"
	case from == base+"ENDPOINT":
		endpoint = strings.TrimSuffix(endpoint, "/") + "/v1/traces"
	}
	if u, err := url.Parse(endpoint); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%s is no address: want one as in http://localhost:4318", from)
	}
	s := &settings{endpoint: endpoint, timeout: 10 * time.Second}
	if v, from := get(own+"TIMEOUT", base+"TIMEOUT"); v != "" {
		ms, err := strconv.Atoi(v)
		if err != nil || ms <= 0 {
			return nil, fmt.Errorf("%s is %q: want a number of milliseconds, as in 10000", from, v)
		}
		s.timeout = time.Duration(ms) * time.Millisecond
	}
	var err error
	v, from := get(own+"HEADERS", base+"HEADERS")
	if s.headers, err = pairs(v); err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	v, from = get("OTEL_RESOURCE_ATTRIBUTES")
	attributes, err := pairs(v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	if v, _ := get("OTEL_SERVICE_NAME"); v != "" {
		attributes[string(semconv.ServiceNameKey)] = v
	} else if attributes[string(semconv.ServiceNameKey)] == "" {
		attributes[string(semconv.ServiceNameKey)] = name
	}
	for k, v := range attributes {
		s.attributes = append(s.attributes, attribute.String(k, v))
	}
	return s, nil
}

// pairs reads KEY=VALUE,KEY=VALUE with percent escapes. What is wrong is said by its place, as values may be secret.
func pairs(text string) (map[string]string, error) {
	all := make(map[string]string)
	n := 0
	for pair := range strings.SplitSeq(text, ",") {
		n++
		if strings.TrimSpace(pair) == "" {
			continue
		}
		k, v, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(v))
		if !ok || err != nil || strings.TrimSpace(k) == "" {
			return nil, fmt.Errorf("entry %d is not KEY=VALUE", n)
		}
		all[strings.TrimSpace(k)] = value
	}
	return all, nil
}
