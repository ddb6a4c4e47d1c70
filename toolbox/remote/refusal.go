package remote

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// httpErrorBody is how much of an error page is quoted.
const httpErrorBody = 300

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

// Refusal reads a response that is no reply.
func (r *Requester) Refusal(resp *http.Response) *StatusError {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, httpErrorBody))
	text := r.opts.Hiding.Load().Text(strings.Join(strings.Fields(string(body)), " "))
	e := &StatusError{Status: resp.StatusCode, Kind: foreign.NewName(resp.Header.Get("Content-Type")), Text: foreign.NewText(text)}
	switch e.Status {
	case http.StatusUnauthorized:
		e.Advice = `the server wants a login; set its "headers" in the configuration (for example "Authorization": "Bearer ${TOKEN}")`
	case http.StatusNotFound:
		e.Advice = "is the url right?"
		if strings.HasSuffix(strings.TrimSuffix(resp.Request.URL.Path, "/"), "/sse") {
			e.Advice = `the address takes no messages: it may speak the older transport ("type": "sse")`
		}
	case http.StatusMethodNotAllowed:
		e.Advice = `the address takes no messages: its url may lack its end, such as /mcp, or it speaks the older transport ("type": "sse")`
	case http.StatusForbidden:
		e.Advice = `the server knows who asks and refuses it: the token or key in its "headers" may lack a right, or it refuses this machine`
	case http.StatusInternalServerError:
		e.Advice = "the server itself has failed: its own log says why"
	case http.StatusBadRequest:
		if strings.Contains(e.Text.String(), "HTTPS") { // as web servers say it
			e.Advice = "it speaks TLS; is its url https and not http?"
		}
	case http.StatusProxyAuthRequired:
		e.Advice = proxyAdvice
	}
	return e
}

// retryAfter reads how long a server wants to be left alone (RFC 9110, section
// 10.2.3); 0 if it does not say.
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
