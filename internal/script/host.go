package script

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Request is a call of a tool that a script makes.
type Request struct {
	Toolbox, Server, Tool string
	Args                  json.RawMessage // an object
}

// Call makes a call and gives its answer as JSON. The error is what the script catches.
type Call func(ctx context.Context, r Request) (json.RawMessage, error)

// Process is one that runs [Serve].
type Process interface {
	io.Reader // what it writes
	io.Writer // what it reads
	// End ends the process, waits for that, and gives its exit status. It may be called several times.
	End() (status int, err error)
}

// Host runs scripts.
type Host struct {
	// Start starts a process.
	Start func() (Process, error)

	running atomic.Int32
}

// maxRunning is how many scripts run at a time.
const maxRunning = 32

// Outcome is how a script ended.
type Outcome struct {
	Value   json.RawMessage // nil if it is undefined
	Fault   string          // why it did not end well; "" if it did
	Console string

	// What became of the calls, each by the names of its tool, with slashes between them. Those of Cut were under way
	// when the script ended, so that it is unknown whether they were carried out; those of Left were not made.
	Answered, Cut, Left []string
}

// patience is how long a script may take whatever it waits for.
const patience = 15 * time.Minute

var errLong = fmt.Errorf("the script took longer than %s", patience)

// Run runs a script to its end. The error says why it could not be run at all, or that ctx has ended.
func (h *Host) Run(ctx context.Context, code string, call Call) (*Outcome, error) {
	if len(code) > MaxCode {
		return nil, fmt.Errorf("a script has at most %d bytes", MaxCode)
	}
	if h.running.Add(1) > maxRunning {
		h.running.Add(-1)
		return nil, fmt.Errorf("%d scripts already run: wait for one to end", maxRunning)
	}
	defer h.running.Add(-1)
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errLong)
	defer cancel()
	p, err := h.Start()
	if err != nil {
		return nil, fmt.Errorf("the script's process could not be started: %w", err)
	}
	r := &run{process: p, call: call, places: make(chan struct{}, AtATime)}
	stop := context.AfterFunc(ctx, func() { _, _ = p.End() }) // reading ends with it
	r.send(toScript{Code: code})
	ended := r.read(ctx)
	r.end()
	stop()
	cancel() // of calls that nobody waits for
	status, err := p.End()
	r.calls.Wait()
	switch {
	case ended:
		return &r.outcome, nil
	case status == outOfTime:
		r.outcome.Fault = errTime.Error()
	case errors.Is(context.Cause(ctx), errLong):
		r.outcome.Fault = errLong.Error()
	case context.Cause(ctx) != nil && !errors.Is(context.Cause(ctx), context.Canceled):
		return nil, context.Cause(ctx)
	case r.fault != "":
		r.outcome.Fault = r.fault
	default:
		r.outcome.Fault = fmt.Sprintf("the script's process ended early, with exit status %d", status)
		if err != nil {
			r.outcome.Fault += ": " + err.Error()
		}
	}
	return &r.outcome, nil
}

// run is one script.
type run struct {
	process Process
	call    Call
	places  chan struct{}
	calls   sync.WaitGroup
	outcome Outcome
	fault   string

	mu sync.Mutex // held while a line is written

	tally sync.Mutex
	asked []*asked
	over  bool // no call is made any more
}

// asked is a call that the script asks for.
type asked struct {
	tool           string
	made, answered bool
}

// begin notes that a call is made; it reports false if the script has ended.
func (r *run) begin(c *asked) bool {
	r.tally.Lock()
	defer r.tally.Unlock()
	c.made = !r.over
	return c.made
}

// answer notes that a call was answered.
func (r *run) answer(c *asked) {
	r.tally.Lock()
	defer r.tally.Unlock()
	c.answered = true
}

// end has no more calls made, and says what became of those that the script asked for.
func (r *run) end() {
	r.tally.Lock()
	defer r.tally.Unlock()
	r.over = true
	for _, c := range r.asked {
		switch o := &r.outcome; {
		case c.answered:
			o.Answered = append(o.Answered, c.tool)
		case c.made:
			o.Cut = append(o.Cut, c.tool)
		default:
			o.Left = append(o.Left, c.tool)
		}
	}
}

// read takes what the process writes until the script has ended; it reports whether it has.
func (r *run) read(ctx context.Context) bool {
	lines := bufio.NewScanner(r.process)
	lines.Buffer(nil, MaxMessage)
	var console strings.Builder
	defer func() { r.outcome.Console = console.String() }()
	for lines.Scan() {
		var m fromScript
		switch err := json.Unmarshal(lines.Bytes(), &m); {
		case err != nil:
			r.fault = "the script's process wrote something that is not a message"
			return false
		case m.Done:
			r.outcome.Value, r.outcome.Fault = m.Value, m.Fault
			return true
		case m.Log != nil:
			if room := MaxConsole - console.Len(); room > 0 {
				text := *m.Log + "\n"
				if len(text) > room {
					text = strings.ToValidUTF8(text[:room], "") + "… (the console has no more room)\n"
				}
				console.WriteString(text)
			}
		case len(r.asked) == MaxCalls:
			r.fault = errCalls.Error()
			return false
		default:
			r.take(ctx, m)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		r.fault = fmt.Sprintf("the script wrote a message of more than %d bytes", MaxMessage)
	}
	return false
}

// take makes a call, when there is a place for it.
func (r *run) take(ctx context.Context, m fromScript) {
	c := &asked{tool: m.Toolbox + "/" + m.Server + "/" + m.Tool}
	r.asked = append(r.asked, c)
	r.calls.Go(func() {
		select {
		case r.places <- struct{}{}:
			defer func() { <-r.places }()
		case <-ctx.Done():
			return
		}
		if !r.begin(c) {
			return
		}
		value, err := r.call(ctx, Request{m.Toolbox, m.Server, m.Tool, m.Args})
		if ctx.Err() == nil {
			r.answer(c)
		}
		a := toScript{Call: m.Call, Value: value}
		switch {
		case err != nil:
			a = failed(m.Call, err.Error())
		case len(value) > MaxMessage/2:
			a = failed(m.Call, fmt.Sprintf("the answer has %d bytes; a script takes at most %d", len(value), MaxMessage/2))
		}
		r.send(a)
	})
}

func failed(call int, why string) toScript { return toScript{Call: call, Fault: &why} }

// send writes a line. A process that does not read it is gone, or ends.
func (r *run) send(a toScript) {
	line, err := json.Marshal(a)
	if err != nil {
		line, _ = json.Marshal(failed(a.Call, "the answer is no JSON"))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = r.process.Write(append(line, '\n'))
}
