package commandsrv

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// The kinds of turn.
const (
	kindStartup   = "startup"
	kindCommand   = "execute_command"
	kindRun       = "run_command"
	kindAssistant = "invoke_assistant"
	kindAgent     = "invoke_agent"
)

const (
	defaultWait = 60 * time.Second
	// resultTTL is how long the result of a turn that nobody waited for is kept at hand for the request that began it.
	resultTTL = time.Hour
)

// A request is what a turn is to do.
type request struct {
	kind, text string
	action     *command.Action // of run_command, in place of text
	confirmed  bool
	answers    string // the turn whose question text answers, if that is known
}

// digest tells the request from others of the session.
func (r request) digest(at session) string {
	h := sha256.New()
	var run command.Action
	if r.action != nil {
		run = *r.action
	}
	for _, part := range []string{at.owner, at.place.session, r.kind, r.text, r.answers, run.CommandName, string(run.Arguments)} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(append(h.Sum(nil)[:16], strconv.FormatBool(r.confirmed)[0]))
}

// A turn is a request under way, and then its result. It belongs to its session, not to the callers that wait for it.
type turn struct {
	digest  string
	at      session
	request request
	ask     asker   // of the caller that began it
	agent   Agent   // that serves it, nil where there is none
	served  *served // what it began with, and ends with

	waits int // callers that wait for it; guarded by the lock of latest

	ctx  context.Context // of its work, which outlives the calls that wait for it
	stop context.CancelCauseFunc

	started chan struct{} // closed when the store knows it, or it is over
	done    chan struct{} // closed when it is over; then output and fault stand
	output  json.RawMessage
	fault   *Fault
	ended   time.Time

	mu     sync.Mutex // guards what follows
	key    string
	events []event
	said   int           // what the text among them counts
	more   chan struct{} // closed and replaced when there are more events
	heard  bool          // a caller got the result
}

// engine runs the commands of the turn, for whose session it is.
func (t *turn) engine() *command.Engine { return t.served.engine.For(t.at.owner) }

// name gives the turn_key.
func (t *turn) name() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.key
}

func (t *turn) over() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// owes reports whether the turn is what a caller with the same request is to get: it is under way, or nobody was there
// to hear its result. One that was stopped is nobody's but theirs who waited for it.
func (t *turn) owes(digest string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.digest == digest && !t.heard && !t.stopped()
}

// watch hands on the events of a turn from its beginning to its end, and reports whether it is over; tell may be nil.
// It ends with ctx, too.
func (t *turn) watch(ctx context.Context, tell func(event)) bool {
	for told := 0; ; {
		events, more := t.since(told)
		for _, ev := range joined(events) {
			if tell != nil {
				tell(ev)
			}
		}
		told += len(events)
		if t.over() {
			if rest, _ := t.since(told); len(rest) > 0 {
				continue
			}
			return true
		}
		select {
		case <-more:
		case <-t.done:
		case <-ctx.Done():
			if !t.over() {
				return false
			}
		}
	}
}

// errStopped is why a turn ends that its user has stopped.
var errStopped = errors.New("the turn was stopped")

func (t *turn) stopped() bool { return context.Cause(t.ctx) == errStopped }

// aborts reports whether a request is the command that gives up what goes on.
func (r request) aborts() bool {
	text := r.text
	if r.action != nil {
		text = r.action.CommandName
	}
	return strings.EqualFold(strings.Trim(text, " \t\r\n/"), command.Abort)
}

// account says what a turn that was cut off has done, and what was under way, in sentences behind another one.
func (t *turn) account() (text string) {
	var done []string
	under := ""
	for _, ev := range t.traces() {
		switch {
		case ev.CommandName == nil:
		case ev.Direction == command.ToWorkflow:
			under = *ev.CommandName
		default:
			if under = ""; ev.Success != nil && *ev.Success && !slices.Contains(done, *ev.CommandName) {
				done = append(done, *ev.CommandName)
			}
		}
	}
	if len(done) > 0 {
		text += " Done before that, and not undone: " + strings.Join(done, ", ") + "."
	}
	if under != "" {
		text += " " + under + " was running; whether it was carried out is not known."
	}
	return text
}

// note takes a trace of the turn.
func (t *turn) note(ev command.TraceEvent) { t.add(event{trace: ev}) }

// say takes a piece of what the agent says.
func (t *turn) say(reply int, piece string) {
	t.add(event{said: &said{time.Now().UnixMilli(), reply, piece}})
}

func (t *turn) add(ev event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ev.said != nil {
		if t.said += len(ev.said.Text) + pieceSize; t.said > maxSaid {
			return
		}
	}
	t.events = append(t.events, ev)
	close(t.more)
	t.more = make(chan struct{})
}

// since gives the events from the n-th on, and what is closed when there are more.
func (t *turn) since(n int) ([]event, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.events[n:], t.more
}

// traces are those of the turn.
func (t *turn) traces() []command.TraceEvent {
	events, _ := t.since(0)
	list := []command.TraceEvent{}
	for _, ev := range events {
		if ev.said == nil {
			list = append(list, ev.trace)
		}
	}
	return list
}
