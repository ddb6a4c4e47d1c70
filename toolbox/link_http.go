package toolbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/group"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// httpLink speaks streamable HTTP. Each message is a POST of its own; what the
// server sends comes on the responses to them, and, from servers of the legacy
// era that offer it, on one GET stream.
//
// It is written on net/http and not on mcp-go's transport, which decodes each
// message into its own types on the way: numbers are rounded, the order of an
// elicitation form is lost, errors lose their data, and a server's request is
// cut off after 30 s.
type httpLink struct {
	server *Server
	r      receiver
	ctx    context.Context // the link's life: its POSTs outlive the call of Send
	cancel context.CancelCauseFunc
	tasks  group.Group
	order  order
	mirror mirrors
	attend sync.Once // the stream is opened after the first notification, which is notifications/initialized

	mu      sync.Mutex
	session string
	version string
	posts   map[uint64]context.CancelFunc
	broken  int   // answers of 5xx in a row
	retired error // why it takes no more requests
}

// brokenMax is how many answers of 5xx in a row end the link, so that the
// server is left alone and tried by and by.
const brokenMax = 5

// sessionEndWait bounds the DELETE that ends a session.
const sessionEndWait = 2 * time.Second

// errSessionEnded says that the remote server does not know our session any more.
var errSessionEnded = errors.New("the remote server ended the session")

func (s *Server) dialHTTP() link {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &httpLink{server: s, ctx: ctx, cancel: cancel, posts: make(map[uint64]context.CancelFunc)}
}

func (l *httpLink) Begin(r receiver) { l.r = r }

// Handshaken notes what was agreed on; the notification that follows opens the stream.
func (l *httpLink) Handshaken(version string) {
	l.server.greeted(version)
	l.mu.Lock()
	l.version = version
	if mcp.IsModernProtocol(version) {
		l.session = "" // revision 2026-07-28 has no sessions
	}
	l.mu.Unlock()
}

// Send posts a message on a goroutine of its own: the answer to it is the
// body of that very response.
func (l *httpLink) Send(msg []byte, id uint64) error {
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	body := bytes.Clone(msg)
	ctx, cancel := context.WithCancel(l.ctx)
	wait, done := l.order.turn(id == 0)
	l.mu.Lock()
	retired := l.retired
	if id != 0 && retired == nil {
		l.posts[id] = cancel
	}
	l.mu.Unlock()
	if !l.tasks.Begin(func() {
		defer cancel()
		defer done()
		wait(ctx)
		err := error(unreachedError{retired})
		if retired == nil {
			err = l.post(ctx, body, id)
		}
		if id == 0 {
			l.attend.Do(l.open)
		}
		l.finish(id, err)
	}) {
		cancel()
		done()
		return ErrClosed
	}
	return nil
}

// finish ends a request, and the link with it if that showed that no more will
// be answered. Others that are under way are waited for.
func (l *httpLink) finish(id uint64, err error) {
	l.mu.Lock()
	delete(l.posts, id)
	l.judgeLocked(err)
	retired, last := l.retired, len(l.posts) == 0
	l.mu.Unlock()
	over := retired != nil && last
	if over {
		l.r.Retired() // before anybody who hears of the failure tries again
	}
	if err != nil && id != 0 {
		l.r.Lost(id, err)
	}
	if over {
		l.cancel(retired)
	}
}

// judgeLocked retires the link when the server wants a login or is broken.
// Before the handshake, the start itself fails with the reason.
func (l *httpLink) judgeLocked(err error) {
	var status *StatusError
	switch {
	case err == nil:
		l.broken = 0
		return
	case !errors.As(err, &status) || l.version == "" || l.retired != nil:
		return
	case status.Status >= 500:
		l.broken++
	}
	if status.Status == http.StatusUnauthorized && l.server.remote.login() != nil || l.broken >= brokenMax {
		l.retired = err
	}
}

// Abandon closes the stream of a request. In the modern era that is how a
// request is cancelled; in the legacy one it only saves reading on.
func (l *httpLink) Abandon(id uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if cancel := l.posts[id]; cancel != nil {
		cancel()
	}
}

func (l *httpLink) request(ctx context.Context, method string, body []byte) (*http.Request, error) {
	req, err := l.server.remote.request(ctx, method, l.server.remote.url(), body)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	session, version := l.session, l.version
	l.mu.Unlock()
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	if version != "" {
		req.Header.Set("MCP-Protocol-Version", version)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		l.standardHeaders(req, version, body)
	} else {
		req.Header.Set("Accept", "text/event-stream")
	}
	return req, nil
}

// standardHeaders sets the headers that mirror the body in the modern era.
func (l *httpLink) standardHeaders(req *http.Request, version string, body []byte) {
	var m wire.Message
	if wire.Scan(body, &m) != nil || m.Kind != wire.Request {
		return
	}
	method := string(m.Bytes(m.Method))
	if method == "server/discover" {
		version = mcp.LATEST_PROTOCOL_VERSION
		req.Header.Set("MCP-Protocol-Version", version)
	}
	if !mcp.IsModernProtocol(version) {
		return
	}
	for k, v := range mcp.StandardHeaders(version, mcp.MCPMethod(method), m.Bytes(m.Params)) {
		req.Header.Set(k, v)
	}
	if name := eras.NameMember(method); name == "taskId" {
		id, _ := wire.FindPath(m.Raw, m.Params, name)
		text, _ := wire.Unquote(m.Bytes(id))
		if encoded, ok := mcp.EncodeHeaderValue(text); ok {
			req.Header.Set(mcp.HeaderName, encoded)
		}
	}
	if method == "tools/call" {
		for k, v := range l.mirror.headers(&m) {
			req.Header.Set(k, v)
		}
	}
}

// post sends one message and reads its response to the end.
func (l *httpLink) post(ctx context.Context, body []byte, id uint64) error {
	req, err := l.request(ctx, http.MethodPost, body)
	if err != nil {
		return err
	}
	resp, err := l.server.remote.do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if s := resp.Header.Get("Mcp-Session-Id"); s != "" {
		l.mu.Lock()
		if l.session == "" && !mcp.IsModernProtocol(l.version) {
			l.session = s
		}
		l.mu.Unlock()
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode == http.StatusAccepted || resp.StatusCode == http.StatusNoContent:
		if id != 0 {
			return fmt.Errorf("answered a request with HTTP %d and no reply", resp.StatusCode)
		}
		return nil
	case kind == "text/event-stream" && resp.StatusCode == http.StatusOK:
		return l.follow(ctx, resp.Body, id)
	case kind == "application/json":
		return l.single(resp, id)
	default:
		return l.refused(resp)
	}
}

// single reads a response that is one JSON message. A JSON-RPC error may come
// with an HTTP error status.
func (l *httpLink) single(resp *http.Response, id uint64) error {
	data, err := io.ReadAll(io.LimitReader(resp.Body, int64(l.server.box.opts.MaxMessage)+1))
	if err != nil {
		return err
	}
	if len(data) > l.server.box.opts.MaxMessage {
		return fmt.Errorf("its reply is over the limit of %d bytes (maxMessage in the configuration)", l.server.box.opts.MaxMessage)
	}
	var m wire.Message
	if err := scanLoose(data, &m); err != nil || (resp.StatusCode >= 300 && m.Kind != wire.Failure) {
		resp.Body = io.NopCloser(bytes.NewReader(data))
		if resp.StatusCode >= 300 {
			return l.refused(resp)
		}
		return fmt.Errorf("its reply is not a message: %v", foreign.NewError(err)) // it is no error of our client's message
	}
	if resp.StatusCode == http.StatusNotFound && l.hasSession() {
		return l.refused(resp)
	}
	if resp.StatusCode == http.StatusBadRequest {
		l.doubt(&m)
	}
	if resp.StatusCode >= 300 && id != 0 && string(m.Bytes(m.ID)) == "null" {
		return ReplyError("the request", &m)
	}
	return l.receive(&m, id)
}

// receive hands on what came for request id. The reply to another request is
// none to this one, and that one's own is on its way.
func (l *httpLink) receive(m *wire.Message, id uint64) error {
	if m.Kind == wire.Result || m.Kind == wire.Failure {
		token := string(m.Bytes(m.ID))
		if text, ok := wire.Unquote(m.Bytes(m.ID)); ok {
			token = text // which the connection says is wrong
		}
		if number, ok := numberOf([]byte(token)); !ok || number != id {
			return fmt.Errorf("answered with the reply to another request, %s", foreign.NewName(token))
		}
	}
	l.r.Receive(m, id)
	return nil
}

func (l *httpLink) hasSession() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session != ""
}

// refused turns an HTTP error into ours. A 404 to our session means that it is
// gone: the link ends and the server is started anew (specification
// 2025-11-25, transports, "Session Management").
func (l *httpLink) refused(resp *http.Response) error {
	if resp.StatusCode == http.StatusNotFound && l.hasSession() {
		l.cancel(errSessionEnded)
		return errSessionEnded
	}
	return l.server.statusError(resp)
}

func (l *httpLink) Done() <-chan struct{} { return l.ctx.Done() }
func (l *httpLink) Cause() error          { return context.Cause(l.ctx) }
func (l *httpLink) PID() int              { return 0 }

// Close ends the session at the server, so that nothing of ours is left there.
func (l *httpLink) Close(ctx context.Context) error {
	first := l.tasks.End()
	lost := l.ctx.Err() != nil
	l.cancel(ErrClosed)
	l.tasks.Wait()
	if !first || lost || !l.hasSession() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, sessionEndWait)
	defer cancel()
	if req, err := l.request(ctx, http.MethodDelete, nil); err == nil {
		if resp, err := l.server.remote.do(req); err == nil {
			_ = resp.Body.Close()
		}
	}
	return nil
}
