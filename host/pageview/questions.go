package pageview

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/page"
)

// questions are what servers want to know of viewers, during calls that the viewers have made on the page.
type questions struct {
	mu   sync.Mutex
	open map[string]chan []byte // for the answer, by a name that only the viewer is told
}

// cancelled is the answer of who has gone away.
const cancelled = `{"action":"cancel"}`

// ask puts the parameters of elicitation/create to a viewer and gives the result, which says so if the viewer goes
// away.
func (qs *questions) ask(ctx context.Context, q *page.Query, server string, params []byte) ([]byte, error) {
	if !json.Valid(params) {
		return nil, errors.New("the question is not JSON")
	}
	id, answer := rand.Text(), make(chan []byte, 1)
	qs.mu.Lock()
	qs.open[id] = answer
	qs.mu.Unlock()
	defer func() {
		qs.mu.Lock()
		defer qs.mu.Unlock()
		delete(qs.open, id)
	}()
	told := map[string]any{"id": id, "server": server, "params": json.RawMessage(params)}
	if err := q.Note(map[string]any{"question": told}); err != nil {
		return []byte(cancelled), nil
	}
	select {
	case given := <-answer:
		return given, nil
	case <-ctx.Done():
		return []byte(cancelled), nil
	}
}

// reply takes the answer of a viewer.
func (qs *questions) reply(_ context.Context, _ *page.Query, a *asked) (any, error) {
	var result struct {
		Action  string                     `json:"action"`
		Content map[string]json.RawMessage `json:"content,omitempty"`
	}
	err := json.Unmarshal(a.Arguments, &result)
	if err != nil || result.Action != "accept" && result.Action != "decline" && result.Action != "cancel" {
		return nil, errors.New("the answer is not understood")
	}
	text, err := json.Marshal(result)
	if err != nil {
		return nil, err
	}
	qs.mu.Lock()
	answer := qs.open[a.ID]
	delete(qs.open, a.ID)
	qs.mu.Unlock()
	if answer == nil {
		return nil, errors.New("nobody waits for this answer any more: the call is over, or it was answered")
	}
	answer <- text
	return nil, nil
}

// lateTime is how long a server is told that its question is not answered, after the viewer has gone away.
const lateTime = 5 * time.Second

// lasting is ctx, or what is left for the last words of one that has ended.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), lateTime)
}
