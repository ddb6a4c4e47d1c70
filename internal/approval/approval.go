// Package approval holds calls of tools until a person has agreed to them.
//
// Whoever wants to make such a call puts a [Call] into the [Register] of the process and waits. The first answer
// counts, wherever it comes from: the client in which the person works, or workbench approve, which reads and answers
// the register over the local socket of the process.
package approval

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Patience is how long a call waits for a person.
const Patience = 5 * time.Minute

// maxShown is how many bytes of the arguments of a call are shown.
const maxShown = 4000

// maxWaiting is how many calls wait in one process.
const maxWaiting = 256

// Call is what a person is asked about.
type Call struct {
	ID        string    `json:"id"`
	Toolbox   string    `json:"toolbox"`
	Server    string    `json:"server"`
	Tool      string    `json:"tool"`
	Arguments string    `json:"arguments"`     // JSON as [legible] gives it; its beginning, of long ones
	Cut       bool      `json:"cut,omitempty"` // there is more of them
	Bytes     int       `json:"bytes"`         // of all arguments, as they were written
	Client    string    `json:"client,omitempty"`
	Until     time.Time `json:"until"`
}

// NewCall makes the Call of a tool with arguments, a JSON value. The register gives it its id.
func NewCall(toolbox, server, tool string, arguments []byte) Call {
	shown, cut := legible(arguments)
	return Call{Toolbox: toolbox, Server: server, Tool: foreign.NewName(tool).String(), Bytes: len(arguments), Arguments: shown, Cut: cut}
}

// Name is the full name of the tool.
func (c *Call) Name() string { return c.Toolbox + "/" + c.Server + "/" + c.Tool }

// Text says what is to be called.
func (c *Call) Text() string {
	text := fmt.Sprintf("%s %s", c.Name(), c.Arguments)
	if c.Cut {
		text += fmt.Sprintf(" … (the beginning of %d bytes)", c.Bytes)
	}
	return text
}

// Waiting is a call that waits for its answer.
type Waiting struct {
	Call
	Done   chan struct{} // closed when it is answered
	agreed bool          // read after Done
}

// Agreed reports whether the answer is yes. It is called after Done was closed.
func (w *Waiting) Agreed() bool { return w.agreed }

// Register has the calls of one process that wait. It is safe for use by several goroutines.
type Register struct {
	prefix string

	mu      sync.Mutex
	last    int
	waiting map[string]*Waiting
}

// New returns an empty register, which begins its ids with prefix.
func New(prefix string) *Register {
	return &Register{prefix: prefix, waiting: make(map[string]*Waiting)}
}

// Add puts a call into the register, until it is answered or taken away; nil if too many wait.
func (r *Register) Add(c Call) *Waiting {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) >= maxWaiting {
		return nil
	}
	r.last++
	c.ID = fmt.Sprint(r.prefix, r.last)
	c.Until = time.Now().Add(Patience)
	w := &Waiting{Call: c, Done: make(chan struct{})}
	r.waiting[c.ID] = w
	return w
}

// Answer answers a call; it reports false if that does not wait any more.
func (r *Register) Answer(id string, agree bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.waiting[id]
	if w == nil {
		return false
	}
	delete(r.waiting, id)
	w.agreed = agree
	close(w.Done)
	return true
}

// Remove takes a call away that nobody waits for any more; it reports false if there is an answer, which stands.
func (r *Register) Remove(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, waits := r.waiting[id]
	delete(r.waiting, id)
	return waits
}

// List returns the calls that wait, the oldest first.
func (r *Register) List() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := []Call{}
	for _, w := range r.waiting {
		all = append(all, w.Call)
	}
	slices.SortFunc(all, func(a, b Call) int { return a.Until.Compare(b.Until) })
	return all
}

// Refused is why a call was not made.
type Refused struct {
	Call
	Late bool // nobody answered
}

func (r *Refused) Error() string {
	if r.Late {
		return fmt.Sprintf("nobody approved the call of %s within %s, so it was not made: tell the user that \"workbench approve\""+
			" shows such calls while they wait, and make it again only if the user wants it", r.Name(), Patience)
	}
	return fmt.Sprintf("the user refused the call of %s, and it was not made: do not make it again unless the user asks for it", r.Name())
}

// Ask waits until somebody has answered, elsewhere, for as long as ctx lasts. nil is a yes.
func (r *Register) Ask(ctx context.Context, c Call) error {
	w := r.Add(c)
	if w == nil {
		return ErrMany
	}
	defer r.Remove(w.ID)
	select {
	case <-w.Done:
	case <-time.After(Patience):
		if r.Remove(w.ID) {
			return &Refused{Call: w.Call, Late: true}
		}
	case <-ctx.Done():
		return fmt.Errorf("nobody approved the call in time, so it was not made: %w", context.Cause(ctx))
	}
	if w.agreed {
		return nil
	}
	return &Refused{Call: w.Call}
}

// ErrMany refuses a call while too many wait.
var ErrMany = fmt.Errorf("%d calls already wait for the user's approval; this one was not made: wait until they are answered", maxWaiting)

// ServeHTTP answers GET /approvals with what waits, and POST /approvals/ID?agree=true or false with what became of it.
func (r *Register) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	switch id := req.PathValue("id"); {
	case req.Method == http.MethodGet:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(r.List())
	case !r.Answer(id, req.URL.Query().Get("agree") == "true"):
		http.Error(w, "no such call waits", http.StatusNotFound)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// legible gives JSON on one line so that it can be read: without the white space between its values, behind which others
// could be out of sight, and with letters in place of their numbers. All else is as it was written, members that are there
// twice as well. It reports whether that is cut off behind maxShown bytes.
func legible(raw []byte) (shown string, cut bool) {
	var out []byte
	for i := 0; i < len(raw) && len(out) <= maxShown; {
		switch raw[i] {
		case ' ', '\t', '\r', '\n':
			i++
		case '"':
			end := wire.ValueEnd(raw, i)
			out = append(out, foreign.Spelling(raw[i:end])...)
			i = end
		default:
			out = append(out, raw[i])
			i++
		}
	}
	if cut = len(out) > maxShown; cut {
		out = out[:maxShown]
	}
	return strings.ToValidUTF8(string(out), ""), cut
}
