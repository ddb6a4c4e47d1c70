package page

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/reqbody"
	"github.com/mcp-workbench/workbench/internal/unread"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Action is one thing that the page can ask for.
type Action struct {
	// Admin says that it is for those with admin rights alone.
	Admin bool
	// Follows says that it goes on for as long as somebody looks, and the program runs.
	Follows bool
	// Do carries it out; what it returns is the answer, as JSON. It ends with ctx, which ends when the viewer goes
	// away.
	Do func(ctx context.Context, q *Query) (any, error)
}

// Query is a request for an action.
type Query struct {
	Viewer
	Body []byte // JSON
	// Note tells the viewer of something before the answer. It fails once nobody reads. It is safe for use by several
	// goroutines.
	Note func(v any) error
}

// Refusal is an error with advice for the viewer.
type Refusal struct {
	Reason error
	Hint   string
}

func (r *Refusal) Error() string { return r.Reason.Error() }

// Unwrap gives the reason.
func (r *Refusal) Unwrap() error { return r.Reason }

// Ways in which one comes in.
const (
	ByKey   = "key"   // by an address that a command prints
	ByToken = "token" // by a token that is typed
	Open    = "open"  // without either
)

// ErrOut says that a credential lets nobody in, or no longer.
var ErrOut = errors.New("you are not logged in")

// Options are what a page is made of.
type Options struct {
	// Enter says who comes with a credential; the error says why nobody does.
	Enter func(ctx context.Context, credential string) (Viewer, error)
	// Stays returns an error once a viewer who was let in would not be any more; nil means that they stay.
	Stays func(ctx context.Context, v Viewer) error
	// Told hears who came in by which request (status 200), and who was turned away and why (401, 403); nil means
	// nobody does.
	Told func(r *http.Request, who Viewer, status int, why string)
	// Way is how one comes in.
	Way string
	// Actions are what can be asked for, by their names.
	Actions map[string]Action
	// MaxBody is the longest body of a request, in bytes; 0 = 4 MiB.
	MaxBody int
	// Secure says that browsers come by HTTPS.
	Secure bool
}

// Page is the handler of all that is below /ui/.
type Page struct {
	opts     Options
	files    files
	sessions sessions
	busy     busy
	life     context.Context // until Close
	end      context.CancelFunc
}

// New makes a page.
func New(opts Options) *Page {
	opts.MaxBody = cmp.Or(opts.MaxBody, 4<<20)
	if opts.Told == nil {
		opts.Told = func(*http.Request, Viewer, int, string) {}
	}
	p := &Page{opts: opts, files: readFiles(), sessions: sessions{all: make(map[string]*session)}, busy: busy{of: make(map[string]int)}}
	p.life, p.end = context.WithCancel(context.Background())
	return p
}

// Close lets nobody in any more and ends what goes on for as long as somebody looks. What else was asked for is finished,
// for as long as its request lasts. It does not wait.
func (p *Page) Close() {
	p.sessions.shut()
	p.end()
}

// prefix is where the page is.
const prefix = "/ui/"

const (
	// secretHeader has the secret of a session.
	secretHeader = "X-Workbench-Secret"
	// aliveTime is the time between two signs of life of an answer that is long in coming.
	aliveTime = 10 * time.Second
	// writeTime is how long a browser may take nothing of what is written, and bodyTime how long it may take to send a
	// request.
	writeTime = 30 * time.Second
	bodyTime  = 30 * time.Second
	// maxEntry is how long the request of a browser may be that was not let in yet, in bytes: a credential, which as a
	// header of a request would have as much room.
	maxEntry = 32 << 10
)

// policy lets the page load nothing but its own files, run no script that stands in a document or is made of text, and
// be shown in no frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src data: blob:; " +
	"connect-src 'self'; manifest-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// ServeHTTP serves one request below /ui.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	name, api := strings.CutPrefix(r.URL.Path, prefix+"api/")
	switch {
	case api && r.Method != http.MethodPost:
		h.Set("Allow", http.MethodPost)
		fail(w, http.StatusMethodNotAllowed, "the page's requests use POST")
	case api:
		p.serveAPI(w, r, name)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		fail(w, http.StatusMethodNotAllowed, "the page's files are read by GET")
	case r.URL.Path+"/" == prefix:
		http.Redirect(w, r, prefix, http.StatusPermanentRedirect)
	default:
		p.files.serve(w, r, strings.TrimPrefix(r.URL.Path, prefix))
	}
}

func (p *Page) serveAPI(w http.ResponseWriter, r *http.Request, name string) {
	// A form of another page sends neither this type nor the header with the secret.
	if r.Header.Get("Content-Type") != "application/json" {
		fail(w, http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
		return
	}
	if name == "enter" {
		p.enter(w, r)
		return
	}
	cookie, s := p.find(r)
	if s == nil {
		if cookie != "" { // a browser that was never let in is only asked
			p.opts.Told(r, Viewer{}, http.StatusUnauthorized, ErrOut.Error())
		}
		p.out(w)
		return
	}
	if !p.stays(r.Context(), s) {
		p.sessions.drop(cookie)
		p.opts.Told(r, s.viewer, http.StatusUnauthorized, ErrOut.Error())
		p.out(w)
		return
	}
	if name == "leave" {
		p.sessions.drop(cookie)
		p.setCookie(w, r, "", -1)
		answer(w, http.StatusOK, map[string]any{"done": nil})
		return
	}
	action, ok := p.opts.Actions[name]
	switch {
	case name == "hello":
		answer(w, http.StatusOK, map[string]any{"done": who(s, p.opts.Way)})
		return
	case !ok:
		fail(w, http.StatusNotFound, "there is no such action")
		return
	case action.Admin && !s.viewer.Admin:
		const why = "this needs admin rights"
		p.opts.Told(r, s.viewer, http.StatusForbidden, why)
		fail(w, http.StatusForbidden, why)
		return
	case !p.busy.begin(s.viewer.Name):
		fail(w, http.StatusTooManyRequests, fmt.Sprintf("this user has %d requests under way; close other windows of the page", mostAtOnce))
		return
	}
	defer p.busy.end(s.viewer.Name)
	body, ok := p.body(w, r, s.viewer.Name)
	if ok {
		unread.Serve(w, s.viewer.Name, func(w http.ResponseWriter) { p.act(w, r, s, action, body) })
	}
}

// find gives the session of a request that has both of its secrets.
func (p *Page) find(r *http.Request) (string, *session) {
	cookies := r.CookiesNamed(cookieName(r))
	if len(cookies) != 1 {
		return "", nil
	}
	return cookies[0].Value, p.sessions.find(cookies[0].Value, r.Header.Get(secretHeader), time.Now())
}

// enter lets a viewer in.
func (p *Page) enter(w http.ResponseWriter, r *http.Request) {
	body, ok := p.body(w, r, "")
	if !ok {
		return
	}
	var asked struct {
		Credential string `json:"credential"`
	}
	if json.Unmarshal(body, &asked) != nil {
		fail(w, http.StatusBadRequest, "the request is not understood")
		return
	}
	v, err := p.opts.Enter(r.Context(), asked.Credential)
	if err != nil {
		p.opts.Told(r, Viewer{}, http.StatusUnauthorized, err.Error())
		answer(w, http.StatusUnauthorized, map[string]any{"error": problem(err), "way": p.opts.Way})
		return
	}
	if old, s := p.find(r); s != nil {
		p.sessions.drop(old)
	}
	cookie, s := p.sessions.begin(v, time.Now())
	p.setCookie(w, r, cookie, 0)
	p.opts.Told(r, v, http.StatusOK, "")
	answer(w, http.StatusOK, map[string]any{"done": who(s, p.opts.Way)})
}

// who is what a viewer is told of a session.
func who(s *session, way string) map[string]any {
	return map[string]any{"secret": s.secret, "name": s.viewer.Name, "admin": s.viewer.Admin, "way": way}
}

// out tells a browser that its session is over, or never was.
func (p *Page) out(w http.ResponseWriter) {
	answer(w, http.StatusUnauthorized, map[string]any{"error": problem(ErrOut), "way": p.opts.Way})
}

func (p *Page) setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Value: value, Path: prefix, MaxAge: age, HttpOnly: true, Secure: p.opts.Secure, SameSite: http.SameSiteStrictMode})
}

// cookieName is of its own for each port: a browser keeps the cookies of a host for all of them.
func cookieName(r *http.Request) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		return "workbench-ui-" + port
	}
	return "workbench-ui"
}

// body reads the body of a request of somebody; "" is a browser that was not let in yet.
func (p *Page) body(w http.ResponseWriter, r *http.Request, user string) ([]byte, bool) {
	most := p.opts.MaxBody
	if user == "" {
		most = maxEntry
	}
	body, err := reqbody.Read(w, r, user, nil, most, bodyTime)
	if err != nil {
		fail(w, err.Status, err.Error())
		return nil, false
	}
	return body, true
}

// act has an action carried out and writes what it says, line by line.
func (p *Page) act(w http.ResponseWriter, r *http.Request, s *session, action Action, body []byte) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	if action.Follows {
		defer context.AfterFunc(p.life, cancel)()
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	notes := make(chan []byte)
	done := make(chan []byte, 1)
	tell := func(v any) error {
		text, err := json.Marshal(map[string]any{"note": v})
		if err != nil {
			return err
		}
		select {
		case notes <- text:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	go func() { // a stuck action does not keep the browser from being told that workbench lives
		v, err := action.Do(ctx, &Query{Viewer: s.viewer, Body: body, Note: tell})
		last := map[string]any{"done": v}
		if err != nil {
			last = map[string]any{"error": problem(err)}
		}
		text, err := json.Marshal(last)
		if err != nil {
			text, _ = json.Marshal(map[string]any{"error": problem(err)})
		}
		done <- text
	}()
	control := http.NewResponseController(w)
	write := func(line []byte) bool {
		_ = control.SetWriteDeadline(time.Now().Add(writeTime)) // a connection of a test has none
		if _, err := w.Write(append(line, '\n')); err != nil || control.Flush() != nil {
			cancel()
			return false
		}
		return true
	}
	alive := time.Tick(aliveTime)
	for going := true; going; {
		select {
		case line := <-notes:
			going = write(line)
		case line := <-done:
			write(line)
			return
		case <-alive:
			going = write(nil) && p.stays(ctx, s)
		case <-ctx.Done():
			going = false
		}
	}
	cancel()
	<-done // nothing uses the request after it
}

// stays reports whether a viewer still is one who is let in.
func (p *Page) stays(ctx context.Context, s *session) bool {
	return p.opts.Stays == nil || !errors.Is(p.opts.Stays(ctx, s.viewer), ErrOut)
}

// problem words an error for the page.
func problem(err error) map[string]string {
	said := map[string]string{"message": err.Error()}
	var refusal *Refusal
	var rpc *wire.Error
	switch {
	case errors.As(err, &refusal):
		said["message"], said["hint"] = refusal.Error(), refusal.Hint
	case errors.As(err, &rpc):
		said["message"] = rpc.Message
	}
	return said
}

func fail(w http.ResponseWriter, status int, message string) {
	answer(w, status, map[string]any{"error": map[string]string{"message": message}})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // who does not read is gone
}
