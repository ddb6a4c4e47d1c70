package remote

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
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/syserr"
)

// Unreached words that a request did not get to the server because of err.
func Unreached(err error) error { return unreachedError{err} }

// unreachedError is why a request was certainly not carried out: it did not get to the server.
type unreachedError struct{ error }

func (e unreachedError) Unwrap() error { return e.error }

// Taken words that a request failed because of err after the server had begun to answer it: whatever else err is, the
// request may have been carried out.
func Taken(err error) error { return takenError{err} }

type takenError struct{ error }

func (e takenError) Unwrap() error { return e.error }

// IsUndone reports whether a request that failed with err was certainly not carried out, because it did not get there
// or was refused.
func IsUndone(err error) bool {
	status, refused := errors.AsType[*StatusError](err)
	return !errors.As(err, new(takenError)) && (errors.As(err, new(unreachedError)) || refused && (status.Status/100 == 4 || !status.Next.IsZero()))
}

// saysTLS reports whether an error of a request without TLS is what comes of sending it to a server that speaks TLS.
func saysTLS(failed *url.Error, err error) bool {
	if failed == nil || !strings.HasPrefix(failed.URL, "http://") {
		return false
	}
	return syserr.IsReset(err) || errors.Is(err, io.EOF) || strings.Contains(err.Error(), "malformed HTTP")
}

// trustAdvice is how an authority comes to be trusted on a system.
func trustAdvice(goos string) string {
	if goos == "windows" || goos == "darwin" {
		return "add the authority to those that the system trusts"
	}
	return "name the authority's file in SSL_CERT_FILE"
}

// explain words why a request brought no response, of a server that has answered before or not. The address is left
// out, for it may hold a secret.
func explain(err error, answered bool) error {
	failed, ok := errors.AsType[*url.Error](err)
	if ok {
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
		return unreachedError{fmt.Errorf("its certificate is not trusted: %w; if your own authority signed it, %s", err, trustAdvice(runtime.GOOS))}
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
		case syserr.IsRefused(err):
			return unreachedError{fmt.Errorf("nothing listens at %s: start the server, or correct the port in its url: %w", dial.Addr, err)}
		}
		return unreachedError{err}
	case !answered && saysTLS(failed, err):
		return fmt.Errorf("it broke off the connection; if it speaks TLS, its url is https and not http: %w", err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), syserr.IsReset(err):
		return fmt.Errorf("it broke off the connection before it answered; it may have ended: %w", err)
	}
	return err
}
