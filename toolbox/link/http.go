package link

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/group"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// httpLink speaks streamable HTTP. Each message is a POST of its own; what the server sends comes on the responses to
// them, and, from servers of the legacy era that offer it, on one GET stream.
//
// It is written on net/http and not on mcp-go's transport, which decodes each message into its own types on the way:
// numbers are rounded, the order of an elicitation form is lost, errors lose their data, and a server's request is cut
// off after 30 s.
type httpLink struct {
	plain
	server  *remote.Requester
	max     int
	r       Receiver
	ctx     context.Context // the link's life: its POSTs outlive the call of Send
	cancel  context.CancelCauseFunc
	tasks   group.Group
	order   order
	session session
	posts   posts
	attend  sync.Once // the stream is opened after the first notification of a session, notifications/initialized
}

// sessionEndWait bounds the DELETE that ends a session, and the ping that asks whether it is known.
const sessionEndWait = 2 * time.Second

var (
	// errSessionEnded says that the remote server does not know our session any more.
	errSessionEnded = errors.New("the remote server ended the session")
	// errEraChanged says that the remote server does not speak the revision of the handshake any more.
	errEraChanged = errors.New("the remote server no longer speaks the agreed protocol version")
)

// HTTP makes a link that connects to a server with each message. Messages of more than max bytes are not taken.
func HTTP(server *remote.Requester, max int) Link {
	l := &httpLink{server: server, max: max}
	l.session.server, l.posts.cancels = server, make(map[uint64]context.CancelFunc)
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	return l
}

func (l *httpLink) Begin(r Receiver) { l.r = r }

// Handshaken notes what was agreed on; the notification that follows opens the stream.
func (l *httpLink) Handshaken(version string) {
	l.server.Greeted(version)
	l.session.agree(version)
}

// Usable takes note of a tool whose arguments are repeated in headers.
func (l *httpLink) Usable(tool string, definition []byte) bool {
	return !l.session.era().IsStateless() || l.session.mirror.note(tool, definition)
}

func (l *httpLink) Nature() Nature { return Nature{OwnStreams: true} }

func (l *httpLink) Send(msg []byte, id uint64) error {
	return l.send(msg, id, func(err error) { l.r.Lost(id, err) })
}

func (l *httpLink) Tell(msg []byte, lost func(error)) error { return l.send(msg, 0, lost) }

// send posts a message on a goroutine of its own: the answer to it is the body of that very response.
func (l *httpLink) send(msg []byte, id uint64, lost func(error)) error {
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	wait, pass, done, err := l.order.turn(len(msg), id != 0)
	if err != nil {
		return err
	}
	body := bytes.Clone(msg)
	ctx, cancel := context.WithCancel(l.ctx)
	refused := l.posts.add(id, cancel)
	arrived := sync.OnceFunc(func() {
		if id == 0 && l.session.era().HasHandshake() {
			l.attend.Do(l.open)
		}
		done()
	})
	if !l.tasks.Begin(func() {
		defer cancel()
		defer arrived()
		deepen()
		wait(ctx)
		err := remote.Unreached(refused)
		switch {
		case refused != nil:
		case id != 0:
			err = l.post(ctx, body, id, arrived)
		default:
			err = patiently(ctx, func() error { return l.post(ctx, body, id, arrived) }, pass)
		}
		l.finish(body, id, err, lost)
	}) {
		cancel()
		done()
		return ErrClosed
	}
	return nil
}

// deepen gives a new goroutine a stack as deep as a POST needs, while next to nothing is on it. A stack that is doubled
// and copied on the way down into net/http takes a twentieth of what a call costs.
//
//go:noinline
func deepen() {
	var room [6 << 10]byte
	runtime.KeepAlive(&room)
}

// finish ends a message, and the link with it if that showed that no more will be answered. Others that are under way
// are waited for.
func (l *httpLink) finish(body []byte, id uint64, err error, lost func(error)) {
	_, version := l.session.get()
	over := l.posts.end(body, id, err, version != "", l.server.HasLogin())
	if gone, ok := errors.AsType[goneError](err); ok {
		over = gone.error
	}
	if over != nil {
		l.r.Draining() // before anybody who hears of the failure tries again
	}
	if err != nil && (id != 0 || l.ctx.Err() == nil) {
		lost(err)
	}
	if over != nil {
		l.cancel(over)
	}
}

// Abandon closes the stream of a request. In the modern era that is how a request is cancelled; in the legacy one it
// only saves reading on.
func (l *httpLink) Abandon(id uint64) { l.posts.cancel(id) }

// post sends one message and takes what comes of it. It calls arrived when the server has taken the message.
func (l *httpLink) post(ctx context.Context, body []byte, id uint64, arrived func()) error {
	req, err := l.session.request(ctx, http.MethodPost, body)
	if err != nil {
		return err
	}
	resp, err := l.server.Do(req)
	if err != nil {
		return err
	}
	if s := resp.Header.Get("Mcp-Session-Id"); s != "" {
		l.session.name(s)
	}
	if resp.StatusCode < 300 {
		arrived()
	}
	err = l.take(ctx, resp, id)
	_ = resp.Body.Close() // nobody who waits for an error waits for its end
	if err != nil && resp.StatusCode < 300 {
		err = remote.Taken(err)
	}
	return err
}

// take reads a response until what it is for has come, and then, unless that failed, what there is to its end.
func (l *httpLink) take(ctx context.Context, resp *http.Response, id uint64) error {
	switch {
	case resp.StatusCode == http.StatusAccepted || resp.StatusCode == http.StatusNoContent:
		if id != 0 {
			return fmt.Errorf("answered a request with HTTP %d and no reply", resp.StatusCode)
		}
		remote.Finish(resp.Body)
		return nil
	case bringsEvents(resp):
		return l.follow(ctx, resp.Body, id)
	case id == 0 && resp.StatusCode < 300:
		remote.Finish(resp.Body)
		return nil
	case kindOf(resp) == "application/json":
		return l.single(resp, id)
	default:
		return l.refused(resp)
	}
}

// roomMax is how much room a reply is given at once because of the length that its server says it has.
const roomMax = 1 << 20

// single reads a response that is one JSON message. A JSON-RPC error may come with an HTTP error status.
func (l *httpLink) single(resp *http.Response, id uint64) error {
	body := io.LimitReader(resp.Body, int64(l.max)+1)
	var data []byte
	var err error
	if n := resp.ContentLength; 0 < n && n <= roomMax {
		whole := bytes.NewBuffer(make([]byte, 0, n+bytes.MinRead))
		_, err = whole.ReadFrom(body)
		data = whole.Bytes()
	} else { // a buffer would double what it has, far beyond the longest message
		data, err = io.ReadAll(body)
	}
	if err != nil {
		return err
	}
	if len(data) > l.max {
		return fmt.Errorf("its reply is over the limit of %d bytes (maxMessage in the configuration)", l.max)
	}
	var m wire.Message
	if err := scanLoose(data, &m); err != nil || (resp.StatusCode >= 300 && m.Kind != wire.Failure) {
		resp.Body = io.NopCloser(bytes.NewReader(data))
		if resp.StatusCode >= 300 {
			return l.refused(resp)
		}
		return fmt.Errorf("its reply is not a message: %v", foreign.NewError(err)) // it is no error of our client's message
	}
	if resp.StatusCode >= 300 {
		if resp.StatusCode == http.StatusBadRequest {
			l.doubt(&m)
		}
		refused := refusedWith(resp.StatusCode, &m)
		if err := l.lost(resp, refused); err != nil {
			return err
		}
		if number, ok := Number(m.Bytes(m.ID)); !ok || number != id {
			return refused
		}
	}
	return l.receive(&m, id)
}

// refusedWith words an HTTP error whose body is a JSON-RPC error that names no request, or another (specification
// 2025-11-25, transports, "Sending Messages to the Server").
func refusedWith(status int, m *wire.Message) error {
	err := fmt.Errorf("HTTP %d %s: %w", status, http.StatusText(status), ReplyError("the request", m))
	if status/100 == 4 {
		err = remote.Unreached(err)
	}
	return err
}

// doubt drains the link if a failure can mean that the server was replaced by one of another era, so that it is asked
// anew. A server that turns out to be what it was has other reasons, and is not asked for them again.
func (l *httpLink) doubt(m *wire.Message) {
	if ReplyError("", m).Code != eras.UnsupportedVersion && string(m.Bytes(m.ID)) != "null" {
		return
	}
	if _, version := l.session.get(); version != "" && l.posts.drain(errEraChanged, func() bool { return l.server.Doubt(version) }) {
		l.r.Draining()
	}
}

// receive hands on what came for request id. The reply to another request is none to this one, and that one's own is on
// its way.
func (l *httpLink) receive(m *wire.Message, id uint64) error {
	if m.Kind == wire.Result || m.Kind == wire.Failure {
		token := string(m.Bytes(m.ID))
		if text, ok := wire.Unquote(m.Bytes(m.ID)); ok {
			token = text // which the connection says is wrong
		}
		if number, ok := Number([]byte(token)); !ok || number != id {
			if token == "" {
				token = "of no id"
			}
			return fmt.Errorf("answered with the reply to another request, %s", foreign.NewName(token))
		}
	}
	l.r.Receive(m, id)
	return nil
}

// refused turns an HTTP error into ours.
func (l *httpLink) refused(resp *http.Response) error {
	refusal := l.server.Refusal(resp)
	if err := l.lost(resp, refusal); err != nil {
		return err
	}
	return refusal
}

// goneError says of a message that the server refused it, since it does not know the session any more. The error in it
// says so of the session.
type goneError struct{ error }

func (e goneError) Error() string {
	return e.error.Error() + "; the request was not carried out, and can be made again"
}

func (e goneError) Unwrap() error { return remote.Unreached(e.error) }

// lost ends the link if a response says that the server does not know our session any more, so that the server is
// started anew; the error is nil if the response does not say so. What answers a message ends the link when that has
// ended: of it alone is known that it was not carried out. A message is answered with 404 then (specification
// 2025-11-25, transports, "Session Management"). Many servers answer with 400 instead, which has other reasons too, as
// 404 to a GET has: whether the session is known they are asked by a ping. A link that drains has been given up.
func (l *httpLink) lost(resp *http.Response, refusal error) error {
	ended := errSessionEnded
	switch status := resp.StatusCode; {
	case !l.session.isNamed(), status != http.StatusNotFound && status != http.StatusBadRequest:
		return nil
	case status == http.StatusNotFound && resp.Request.Method == http.MethodPost:
	case l.posts.drains() || l.isKnown(resp.Request.Context()):
		return nil
	default:
		ended = fmt.Errorf("%w: %v", ended, refusal)
	}
	if resp.Request.Method == http.MethodPost {
		return goneError{ended}
	}
	l.cancel(ended)
	return ended
}

// pingID is the id of the ping that asks whether our session is known; those of all other requests are numbers.
const pingID = `"session"`

// isKnown reports whether the server still knows our session, as far as it says: what refuses a ping without an answer
// to it does not know the session.
func (l *httpLink) isKnown(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, sessionEndWait)
	defer cancel()
	req, err := l.session.request(ctx, http.MethodPost, []byte(`{"jsonrpc":"2.0","id":`+pingID+`,"method":"ping"}`))
	if err != nil {
		return true
	}
	resp, err := l.server.Do(req)
	if err != nil {
		return true
	}
	defer remote.Finish(resp.Body)
	if resp.StatusCode != http.StatusNotFound && resp.StatusCode != http.StatusBadRequest {
		return true
	}
	var m wire.Message
	data, err := io.ReadAll(io.LimitReader(resp.Body, remote.EndBytes))
	return err == nil && scanLoose(data, &m) == nil && string(m.Bytes(m.ID)) == pingID
}

func (l *httpLink) Done() <-chan struct{} { return l.ctx.Done() }
func (l *httpLink) Cause() error          { return context.Cause(l.ctx) }

// Close ends the session at the server, so that nothing of ours is left there.
func (l *httpLink) Close(ctx context.Context) error {
	first := l.tasks.End()
	lost := l.ctx.Err() != nil
	l.cancel(ErrClosed)
	l.tasks.Wait()
	if !first || lost || !l.session.isNamed() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, sessionEndWait)
	defer cancel()
	if req, err := l.session.request(ctx, http.MethodDelete, nil); err == nil {
		if resp, err := l.server.Do(req); err == nil {
			_ = resp.Body.Close()
		}
	}
	return nil
}
