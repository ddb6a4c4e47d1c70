package link

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/remote"
)

// posts are the requests that are under way over HTTP, and whether more are taken.
type posts struct {
	mu      sync.Mutex
	cancels map[uint64]context.CancelFunc
	broken  int   // answers of 5xx in a row
	refuses error // why no more are taken: the link drains; nil while they are
}

// brokenMax is how many answers of 5xx in a row end the link, so that the server is left alone and tried by and by.
const brokenMax = 5

// add takes a request in, and what cancels it; the error says why it is not taken. What is no request belongs to those
// that are waited for.
func (p *posts) add(id uint64, cancel context.CancelFunc) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if id == 0 {
		return nil
	}
	if p.refuses == nil {
		p.cancels[id] = cancel
	}
	return p.refuses
}

// cancel ends the stream of a request.
func (p *posts) cancel(id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cancel := p.cancels[id]; cancel != nil {
		cancel()
	}
}

// isUpkeep reports whether a message asks for what workbench asks for by itself, again and again while that fails.
func isUpkeep(body []byte) bool {
	var m wire.Message
	return wire.Scan(body, &m) == nil && (m.IsMethod("subscriptions/listen") || bytes.HasSuffix(m.Bytes(m.Method), []byte("/list")))
}

// end takes out the message that has ended, with err. No more is taken when the server wants a login that can be had, or is broken;
// before the handshake is done, greeted, the start itself fails with the reason. The result says why nothing is left to
// wait for.
func (p *posts) end(body []byte, id uint64, err error, greeted, login bool) (over error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.cancels, id)
	var status *remote.StatusError
	switch {
	case err == nil:
		p.broken = 0
	case !errors.As(err, &status) || !greeted || p.refuses != nil:
	default:
		if status.Status >= 500 && !isUpkeep(body) {
			p.broken++
		}
		if status.Status == http.StatusUnauthorized && login || p.broken >= brokenMax {
			p.refuses = err
		}
	}
	if len(p.cancels) > 0 {
		return nil
	}
	return p.refuses
}

// drain has no more taken, for a reason that holds; it reports false if it does not hold, or if that was so before.
func (p *posts) drain(why error, holds func() bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuses != nil || !holds() {
		return false
	}
	p.refuses = why
	return true
}

// drains reports whether no more are taken.
func (p *posts) drains() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refuses != nil
}
