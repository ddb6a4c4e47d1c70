package calls

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/ring"
	"github.com/mcp-workbench/workbench/internal/tokencount"
)

// How much a Log keeps: of calls of which nothing but the least is kept, as many as are useful to look back on.
const (
	MaxCalls = 1000
	MaxBytes = 16 << 20
)

// Log has the calls of one process. Its methods may be called by several goroutines.
type Log struct {
	mode   atomic.Pointer[Mode]
	prefix string
	ended  *ring.Ring[Call]
	told   func(*Call) // hears of each call that ends; nil for nobody

	mu      sync.Mutex
	last    uint64
	running map[*Call]struct{}
}

// New makes an empty log that keeps, in its mode, the last calls.
func New(mode Mode) *Log {
	l := &Log{prefix: fmt.Sprint(os.Getpid(), "-"), ended: ring.New[Call](MaxCalls, MaxBytes, nil), running: make(map[*Call]struct{})}
	l.SetMode(mode)
	return l
}

// SetMode changes how much is kept of the calls that begin from now on.
func (l *Log) SetMode(mode Mode) { l.mode.Store(&mode) }

// Tell has a function hear of each call that ends, also of those that are not kept. It must not block. Tell is called
// before the first call begins.
func (l *Log) Tell(told func(*Call)) { l.told = told }

// Mode is how much is wanted of the calls that begin now.
func (l *Log) Mode() Mode {
	if l == nil {
		return Off
	}
	mode := *l.mode.Load()
	if mode == Off && l.told != nil {
		return Meta
	}
	return mode
}

// Note has a call seen as one that is under way, from the first time on, and notes what else has become known of it.
// Between that and End nobody else changes c. Of one that was closed nothing is noted.
func (l *Log) Note(c *Call, note func(c *Call)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed {
		return
	}
	l.beginLocked(c)
	l.running[c] = struct{}{}
	note(c)
}

func (l *Log) beginLocked(c *Call) {
	if c.number == 0 {
		c.began = time.Now()
		l.last++
		c.number = l.last
	}
}

// Close has nothing more noted of a call, whoever still wants to: End follows, unless Close reports false, which is that
// nothing was noted of it, and that it is not to be kept none the less.
func (l *Log) Close(c *Call, keep bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed = true; keep {
		l.beginLocked(c)
	}
	return c.number != 0
}

// Began is when Note was called first.
func (c *Call) Began() time.Time { return c.began }

// End keeps a call that was noted, with what note says of its end. The log has done with c after it.
func (l *Log) End(c *Call, note func(c *Call)) {
	l.mu.Lock()
	delete(l.running, c)
	l.mu.Unlock() // from here on nobody else looks at c
	took := time.Since(c.began)
	note(c)
	c.Duration, c.Time = Millis(took), Time{c.began.Round(0)}
	c.Tokens = tokencount.Of(c.Out)
	if *l.mode.Load() != Off {
		l.ended.Add(*c, c.size())
	}
	if l.told != nil {
		named := l.named(*c)
		l.told(&named)
	}
}

// Filter says which calls are wanted. The zero Filter wants all.
type Filter struct {
	// Viewer is who asks, and sees no calls but those that they may. It does not leave the process; nil is who may see all.
	// All else is a choice among what the viewer may see, in whatever case it is written.
	Viewer *principal.Principal

	Toolbox, Server, Tool string
	User, Session         string
	Failed                bool
	Since                 time.Time
	Limit                 int // how many at most, the last; 0 is all
}

// Wants reports whether a call is one that is wanted, as far as that call alone says so. A tool is named by a part of
// its name.
func (f *Filter) Wants(c *Call) bool {
	is := func(want, got string) bool { return want == "" || strings.EqualFold(want, got) }
	return mayBeSeen(c, f.Viewer) && is(f.Toolbox, c.Toolbox) && is(f.Server, c.Server) && is(f.User, c.User) && is(f.Session, c.Session) &&
		(f.Tool == "" || strings.Contains(strings.ToLower(c.Tool), strings.ToLower(f.Tool))) &&
		(!f.Failed || c.Failed()) && !c.Time.Before(f.Since)
}

// mayBeSeen reports whether somebody may see a call: an administrator those of everybody, all others their own, and
// either only in toolboxes that they may use.
func mayBeSeen(c *Call, by *principal.Principal) bool {
	return by == nil || (by.Admin || c.User == by.Name) && by.May(c.Toolbox)
}

// Calls gives the calls that are kept and then those that are under way, the oldest first.
func (l *Log) Calls(f Filter) []Call {
	all := []Call{}
	for c := range l.ended.All() {
		if f.Wants(&c) {
			all = append(all, l.named(c))
		}
	}
	l.mu.Lock()
	ended := len(all)
	for c := range l.running {
		if now := l.runningLocked(c); f.Wants(&now) {
			all = append(all, now)
		}
	}
	l.mu.Unlock()
	slices.SortFunc(all[ended:], func(a, b Call) int { return a.Time.Compare(b.Time.Time) })
	if f.Limit > 0 && len(all) > f.Limit {
		all = slices.Clone(all[len(all)-f.Limit:])
	}
	return all
}

func (l *Log) named(c Call) Call {
	c.ID = l.prefix + strconv.FormatUint(c.number, 10)
	return c
}

func (l *Log) runningLocked(c *Call) Call {
	now := l.named(*c)
	now.Time, now.Duration, now.Outcome = Time{c.began.Round(0)}, Millis(time.Since(c.began)), Running
	return now
}

// Call gives the call of an id, as Calls does; the id may leave out what all of this process begin with.
func (l *Log) Call(id string) (Call, bool) {
	number, err := strconv.ParseUint(strings.TrimPrefix(id, l.prefix), 10, 64)
	if err != nil {
		return Call{}, false
	}
	for c := range l.ended.All() {
		if c.number == number {
			return l.named(c), true
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.running {
		if c.number == number {
			return l.runningLocked(c), true
		}
	}
	return Call{}, false
}

// Last is the number of the call that ended last, for Follow.
func (l *Log) Last() uint64 {
	_, last, _ := l.ended.After(^uint64(0))
	return last
}

// Follow hands on each call that ends after that of the number, until ctx ends or the function returns an error, which
// Follow returns. missed is how many calls ended before this one that the function was too slow for; then call is nil.
func (l *Log) Follow(ctx context.Context, last uint64, f Filter, to func(call *Call, missed uint64) error) error {
	for {
		select {
		case <-l.ended.Changed(last):
		case <-ctx.Done():
			return ctx.Err()
		}
		var calls []Call
		var missed uint64
		calls, last, missed = l.ended.After(last)
		if missed > 0 {
			if err := to(nil, missed); err != nil {
				return err
			}
		}
		for _, c := range calls {
			if c := l.named(c); f.Wants(&c) {
				if err := to(&c, 0); err != nil {
					return err
				}
			}
		}
	}
}

// Bytes is what the calls take that are kept.
func (l *Log) Bytes() int { return l.ended.Bytes() }
