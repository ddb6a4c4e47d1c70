package mcpserve

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// asks are the requests of a server that wait for the client's answer.
type asks struct {
	mu      sync.Mutex
	able    []string // what the client takes, the capabilities below
	last    uint64
	waiting map[string]chan reply // by the id token of the request
}

// A reply is what a client answered.
type reply struct {
	result []byte
	err    error
}

// The capabilities of clients for which they are asked.
const (
	elicitation = "elicitation"
	sampling    = "sampling"
	roots       = "roots"
)

// greet reads in the client's initialize what it can be asked.
func (a *asks) greet(m *wire.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.able = nil
	for _, capability := range []string{elicitation, sampling, roots} {
		if declared := m.Get(m.Params, "capabilities", capability); declared != nil && declared[0] == '{' {
			a.able = append(a.able, capability)
		}
	}
}

// asker gives what asks the client by a method; nil if it lacks the capability.
func (a *asks) asker(capability, method string, send func(msg []byte)) Asker {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Contains(a.able, capability) {
		return nil
	}
	return func(ctx context.Context, params []byte) ([]byte, error) {
		id, answered := a.begin()
		defer a.end(id)
		send(wire.AppendRequest(nil, id, method, params))
		select {
		case r := <-answered:
			return r.result, r.err
		case <-ctx.Done():
			send(wire.AppendNotification(nil, "notifications/cancelled", wire.NewObject(nil).Raw("requestId", []byte(id)).End()))
			return nil, context.Cause(ctx)
		}
	}
}

func (a *asks) begin() (id string, answered <-chan reply) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting == nil {
		a.waiting = map[string]chan reply{}
	}
	a.last++
	id = strconv.FormatUint(a.last, 10)
	c := make(chan reply, 1)
	a.waiting[id] = c
	return id, c
}

func (a *asks) end(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, id)
}

// answer hands on a reply; one that nobody waits for is dropped.
func (a *asks) answer(m *wire.Message) {
	id := string(m.Bytes(m.ID))
	a.mu.Lock()
	c := a.waiting[id]
	delete(a.waiting, id)
	a.mu.Unlock()
	if c == nil {
		return
	}
	if m.Kind == wire.Result {
		c <- reply{result: bytes.Clone(m.Bytes(m.Result))}
		return
	}
	text := "the client refused"
	if said, ok := m.Text(m.Error, "message"); ok {
		text += ": " + cut.Short(said)
	}
	c <- reply{err: errors.New(text)}
}
