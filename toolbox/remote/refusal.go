package remote

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// StatusError is an HTTP answer of a remote server that is no reply.
type StatusError struct {
	Status int
	Kind   foreign.Name // the content type
	Text   foreign.Text // the beginning of the body
	Advice string       // what to do next; may be empty
	Next   time.Time    // when the server is asked again, for 429 and 503; else zero
}

func (e *StatusError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP %d %s", e.Status, http.StatusText(e.Status))
	if e.Status < 300 {
		fmt.Fprintf(&b, " with the content type %q, want application/json or text/event-stream: a web page is no MCP server; is the url right?", e.Kind)
	}
	if e.Advice != "" {
		b.WriteString(": " + e.Advice)
	}
	if d := time.Until(e.Next); d > 0 {
		fmt.Fprintf(&b, "; it is asked again in %s", d.Round(time.Second/10))
	}
	if !e.Text.IsEmpty() {
		fmt.Fprintf(&b, ": %q", e.Text)
	}
	return b.String()
}

// StatusOf gives the HTTP status by which a remote server refused a request that failed with err; 0 where none did.
func StatusOf(err error) int {
	if refused, ok := errors.AsType[*StatusError](err); ok {
		return refused.Status
	}
	return 0
}

// IsPassing reports whether the server may answer otherwise soon: it is in trouble, or has too much to do.
func (e *StatusError) IsPassing() bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	}
	return e.Status >= http.StatusInternalServerError && e.Status != http.StatusNotImplemented
}

// retryAfter reads how long a server wants to be left alone (RFC 9110, section 10.2.3); 0 if it does not say.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// proxyAdvice is what to do about a proxy.
const proxyAdvice = "correct HTTPS_PROXY or HTTP_PROXY in the environment of workbench, or name the host in NO_PROXY"
