package toolbox

import (
	"errors"
	"fmt"
	"sync"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// Ask is a request that a server makes of the client: sampling, elicitation, roots, or one this program does not know.
type Ask struct {
	Server *Server
	// For is the handler of the call that the request belongs to, nil where the server cannot say that.
	For CallHandler

	conn *rpc.Conn
	asks *askTable
	id   string

	// Guarded by the mutex of its table.
	size      int           // what the server's account is charged for it
	handed    bool          // the peer has it
	withdrawn bool          // before that
	word      *wire.Message // of the server, by which it was; nil for none
}

// askTable holds the requests of a server that the client has not answered, by their id tokens.
type askTable struct {
	account *account.Account // is charged for them

	mu   sync.Mutex
	open map[string]*Ask
	over bool // the connection has ended
}

// add takes a request in. twice says that one of the same id is there.
func (t *askTable) add(a *Ask) (added, twice bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, twice = t.open[a.id]; twice || t.over {
		t.account.Credit(a.size)
		return false, twice
	}
	t.open[a.id] = a
	return true, false
}

// take takes a request out; it reports false if that is not there any more.
func (t *askTable) take(a *Ask) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[a.id] != a {
		return false
	}
	t.removeLocked(a)
	return true
}

// handOver notes that the peer has a request, and reports whether it is to be withdrawn, by which word of the server.
func (t *askTable) handOver(a *Ask) (withdrawn bool, word *wire.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a.handed = true
	return a.withdrawn, a.word
}

// takeID takes out the request of an id, which the server withdraws by m; nil if there is none. now says that the peer
// has it and is to be told.
func (t *askTable) takeID(id []byte, m *wire.Message) (a *Ask, now bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a = t.open[string(id)]; a == nil {
		return nil, false
	}
	if t.withdrawLocked(a); !a.handed {
		a.word = m.Clone()
	}
	return a, a.handed
}

// withdrawLocked takes out a request that needs no answer any more.
func (t *askTable) withdrawLocked(a *Ask) {
	t.removeLocked(a)
	a.withdrawn = !a.handed
}

func (t *askTable) removeLocked(a *Ask) {
	delete(t.open, a.id)
	t.account.Credit(a.size)
}

// isEmpty reports whether the server asks for nothing.
func (t *askTable) isEmpty() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open) == 0
}

// close takes all out, and takes no more in. It returns those that the peer has and is to be told of.
func (t *askTable) close() (asks []*Ask) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	for _, a := range t.open {
		if t.withdrawLocked(a); a.handed {
			asks = append(asks, a)
		}
	}
	return asks
}

// Hold charges the server's account for n more bytes that are kept until the request is answered or withdrawn. It
// reports false if they are not to be kept: there is no room, or the request is over.
func (a *Ask) Hold(n int) bool {
	t := a.asks
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[a.id] != a || !t.account.Charge(n) {
		return false
	}
	a.size += n
	return true
}

// Reply hands on the client's answer: raw is the response and id the span of its id, which becomes the server's again.
// Answers after the first, or after the server withdrew the request, are dropped.
func (a *Ask) Reply(raw []byte, id wire.Span) {
	if a.asks.take(a) {
		a.answer(func(b []byte) []byte { return wire.Splice(b, raw, wire.Edit{Span: id, New: []byte(a.id)}) })
	}
}

// Answer is Reply to who has no more of the client's answer than its result.
func (a *Ask) Answer(result []byte) {
	if a.asks.take(a) {
		a.answer(func(b []byte) []byte { return wire.AppendResult(b, []byte(a.id), result) })
	}
}

// Refuse answers the request with an error of ours.
func (a *Ask) Refuse(code int, text string) {
	if a.asks.take(a) {
		a.answer(func(b []byte) []byte { return wire.AppendError(b, []byte(a.id), code, text, nil) })
	}
}

// answer writes the answer. If the server does not get it, the call ends for which the server waits in vain.
func (a *Ask) answer(add func(b []byte) []byte) {
	a.conn.Answered()
	lost := func(err error) {
		a.Server.log.Warn().AnErr(logkey.Err, foreign.NewError(err)).Msg("an answer to a question of the server did not reach it")
		a.conn.Abort(a.For, fmt.Errorf("the answer to its question did not reach it: %w", err))
	}
	if err := a.conn.WriteOr(add, lost); errors.Is(err, link.ErrBusy) {
		lost(err)
	} // else the connection is ending, and its calls with it
}

// Forward sends the server a notification that belongs to this request, such as the client's progress on it, with edits
// applied.
func (a *Ask) Forward(raw []byte, edits ...wire.Edit) {
	_ = a.conn.Write(func(b []byte) []byte { return wire.Splice(b, raw, edits...) })
}
