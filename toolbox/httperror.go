package toolbox

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"syscall"
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

// statusError reads a response that is no reply.
func (s *Server) statusError(resp *http.Response) *StatusError {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, httpErrorBody))
	text := s.hidden.Load().Text(strings.Join(strings.Fields(string(body)), " "))
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

// unreachedError is why a request was certainly not carried out: it did not get to
// the server.
type unreachedError struct{ error }

func (e unreachedError) Unwrap() error { return e.error }

// isUndone reports whether a request that failed with err was certainly not
// carried out, because it did not get there or was refused.
func isUndone(err error) bool {
	var status *StatusError
	return errors.As(err, new(unreachedError)) || errors.As(err, &status) && (status.Status/100 == 4 || !status.Next.IsZero())
}

// proxyAdvice is what to do about a proxy.
const proxyAdvice = "mend HTTPS_PROXY or HTTP_PROXY in the environment of workbench, or name the host in NO_PROXY"

// saysTLS reports whether an error of a request without TLS is what comes of sending it to a server that speaks TLS.
func saysTLS(failed *url.Error, err error) bool {
	if failed == nil || !strings.HasPrefix(failed.URL, "http://") {
		return false
	}
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) || strings.Contains(err.Error(), "malformed HTTP")
}

// trustAdvice is how an authority comes to be trusted on a system.
func trustAdvice(goos string) string {
	if goos == "windows" || goos == "darwin" {
		return "add that to those that the system trusts"
	}
	return "name that one's file in SSL_CERT_FILE"
}

// explain words why a request brought no response. The address is left out, for
// it may hold a secret.
func explain(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	var (
		cert    *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		notTLS  tls.RecordHeaderError
		name    *net.DNSError
		dial    *net.OpError
	)
	switch {
	case errors.As(err, &dial) && dial.Op == "proxyconnect":
		return unreachedError{fmt.Errorf("the proxy cannot be reached; %s: %w", proxyAdvice, err)}
	case errors.As(err, &unknown):
		return unreachedError{fmt.Errorf("its certificate is not trusted: %w; if it is of an authority of your own, %s", err, trustAdvice(runtime.GOOS))}
	case errors.As(err, &cert):
		return unreachedError{fmt.Errorf("its certificate is not trusted: %w", err)}
	case errors.As(err, &notTLS), errors.Is(err, http.ErrSchemeMismatch):
		return unreachedError{fmt.Errorf("it speaks no TLS; is its url http and not https? %w", err)}
	case errors.As(err, &name):
		return unreachedError{fmt.Errorf("the host %q cannot be found: is its url right, and this machine on the network? %w", foreign.NewName(name.Name), err)}
	case errors.As(err, &dial) && dial.Op == "dial":
		switch {
		case dial.Timeout():
			return unreachedError{fmt.Errorf("no connection within %s: %w", connectTime, err)}
		case errors.Is(err, syscall.ECONNREFUSED):
			return unreachedError{fmt.Errorf("nothing listens at %s: start the server, or mend the port in its url: %w", dial.Addr, err)}
		}
		return unreachedError{err}
	case saysTLS(failed, err):
		return fmt.Errorf("it broke off the connection; if it speaks TLS, its url is https and not http: %w", err)
	}
	return err
}
