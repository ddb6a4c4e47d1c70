package remote

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/internal/oauth"
	"github.com/mcp-workbench/workbench/toolbox/launch"
)

// Options are what requests to a server are made with.
type Options struct {
	// Toolbox and Server are its names, for what a person is to run.
	Toolbox, Server string
	HTTP            *http.Client
	// Logins are the tokens for servers that want one; nil means that there are none.
	Logins *oauth.Store
	// Environ is our environment, KEY=VALUE, for the proxies of logins.
	Environ []string
	// Secret runs the programs that print tokens; nil means that there are none.
	Secret func(context.Context, config.Secret) (string, error)
	// Renewed hears that the login was renewed by this process, or why it could not be; nil means nobody does.
	Renewed func(error)
	// Masks are told the tokens.
	Masks *mask.Set
	// Hiding has what the words of the server are to be told without.
	Hiding *atomic.Pointer[launch.Hiding]
}

// exchange makes single HTTP exchanges, and words what comes of them without the secrets of the server.
type exchange struct {
	opts     Options
	answered atomic.Bool // the server has: it speaks what its url says
}

// send makes one HTTP exchange, redirects included.
func (x *exchange) send(req *http.Request) (*http.Response, error) {
	return x.told(x.opts.HTTP.Do(req))
}

// told gives the outcome of an exchange as it may be told.
func (x *exchange) told(resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, x.opts.Hiding.Load().Error(explain(err, x.answered.Load()))
	}
	x.answered.Store(true)
	return resp, nil
}

// EndTime is how long the end of a response is waited for behind what was wanted of it, and EndBytes how many bytes of
// that are read.
const (
	EndTime  = time.Second
	EndBytes = 64 << 10
)

// Finish closes the body of a response that all has been had of. What there is to its end is read before, since a
// connection is not used again whose last response was not read whole: streams and mere notes of receipt end behind
// what counts.
func Finish(body io.ReadCloser) {
	late := time.AfterFunc(EndTime, func() { _ = body.Close() })
	defer late.Stop()
	_, _ = io.CopyN(io.Discard, body, EndBytes)
	_ = body.Close()
}

// httpErrorBody is how much of an error page is quoted.
const httpErrorBody = 300

// Refusal reads a response that is no reply.
func (x *exchange) Refusal(resp *http.Response) *StatusError {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, httpErrorBody))
	text := x.opts.Hiding.Load().Text(strings.Join(strings.Fields(string(body)), " "))
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
