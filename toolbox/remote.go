package toolbox

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// httpErrorBody is how much of an error page is quoted.
const httpErrorBody = 300

// StatusError is an HTTP status that a remote server answered with.
type StatusError struct {
	Status     int
	Text       string // the beginning of the body
	RetryAfter string
	Challenge  string // WWW-Authenticate
}

func (e *StatusError) Error() string {
	s := fmt.Sprintf("HTTP %d %s", e.Status, http.StatusText(e.Status))
	switch e.Status {
	case http.StatusUnauthorized:
		s += `: the server wants a login; set its "headers" in the configuration (for example "Authorization": "Bearer ${TOKEN}")`
	case http.StatusNotFound:
		s += ": is the url right?"
	}
	if e.RetryAfter != "" {
		s += "; retry after " + e.RetryAfter
	}
	if e.Text != "" {
		s += ": " + e.Text
	}
	return s
}

// statusError reads a response that is an error.
func statusError(resp *http.Response) *StatusError {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, httpErrorBody))
	return &StatusError{
		Status:     resp.StatusCode,
		Text:       strings.Join(strings.Fields(string(text)), " "),
		RetryAfter: resp.Header.Get("Retry-After"),
		Challenge:  resp.Header.Get("WWW-Authenticate"),
	}
}

// maxRedirects bounds how often a remote server sends us on.
const maxRedirects = 5

// sameOrigin lets a remote server send us on within its origin only: the
// headers of the configuration, credentials among them, and the messages are
// meant for no other.
func sameOrigin(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host:
		return fmt.Errorf("redirected to another origin, %s://%s, which is not followed; if that is the server, write it as its url", req.URL.Scheme, req.URL.Host)
	case req.Method != first.Method:
		return fmt.Errorf("redirected from %s to %s, which would lose the message", first.Method, req.Method)
	case len(via) > maxRedirects:
		return fmt.Errorf("redirected more than %d times", maxRedirects)
	}
	return nil
}

// scanLoose reads a message that may hold line breaks between its tokens.
func scanLoose(data []byte, m *wire.Message) error {
	data = bytes.TrimSpace(data)
	if bytes.IndexByte(data, '\n') >= 0 || bytes.IndexByte(data, '\r') >= 0 {
		data = wire.Compact(nil, data)
	}
	return wire.Scan(data, m)
}
