package runs

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// HookPath begins the paths at the gateway under which requests are waited for. Behind it stand the run and a secret.
const HookPath = "/hooks/"

// MaxHook is how many bytes the body of such a request may have.
const MaxHook = 64 << 10

// secret makes what nobody guesses.
func secret() string { return strings.ToLower(rand.Text()) }

// waitHook waits at the step where the run is until a request has come, as long as one call may. What the request
// brought is in the log then, whichever process took it.
func (t *turn) waitHook(ctx context.Context, began Event) (*Answer, error) {
	over := func() (bool, error) {
		kept, events, err := t.log.Run(ctx, t.who.Principal, t.r.ID, len(t.r.Events))
		if err != nil || len(events) == 0 {
			return false, err
		}
		if err := t.r.read(kept, events); err != nil {
			return false, err
		}
		t.settle(ctx)
		return true, nil
	}
	patience := time.NewTimer(t.e.opts.patience)
	defer patience.Stop()
	for {
		if done, err := over(); done || err != nil || t.late() {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
			continue
		case <-patience.C:
		}
		break
	}
	where := cmp.Or(t.e.opts.Gateway, "https://GATEWAY")
	text := fmt.Sprintf("%s waits for a request: POST %s%s%s.%s", t.r.ID, where, HookPath, t.r.ID, began.Hook)
	if t.e.opts.Gateway == "" {
		text += ", where GATEWAY is a workbench serve --http that keeps its runs in the same place"
	}
	if name := t.next.Step.Act.Result; name != "" {
		text += fmt.Sprintf(". Its body becomes the variable %s", name)
	}
	return some(t.answer(ctx, stateWaiting, fmt.Sprintf("%s. The address works for one request and is a secret: give it only to whoever sends that request. "+
		"Call workflow_next {\"run\":%q} again later.", text, t.r.ID)))
}

// Hook takes a request that came under a path behind HookPath. It reports whether a run waited for it; who sent it must
// not learn that.
func (e *Engine) Hook(ctx context.Context, path string, body []byte) (bool, error) {
	id, given, ok := strings.Cut(path, ".")
	if !ok || len(given) < len(secret()) || len(body) > MaxHook {
		return false, nil
	}
	logs, err := e.logs(ctx)
	if err != nil {
		return false, err
	}
	for _, l := range logs {
		found, err := l.RunsByID(ctx, "", id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		} else if err != nil {
			return false, err
		}
		for _, r := range found {
			taken, err := e.hooked(ctx, r.Principal, id, given, body)
			for tries := 0; errors.As(err, new(*Error)) && tries < 5; tries++ { // Somebody else may have gone on with it.
				taken, err = e.hooked(ctx, r.Principal, id, given, body)
			}
			if taken || err != nil {
				return taken, err
			}
		}
	}
	return false, nil
}

// hooked takes a request for a run of a principal, if that waits for one with this secret.
func (e *Engine) hooked(ctx context.Context, principal, id, given string, body []byte) (bool, error) {
	t, err := e.open(ctx, Caller{Principal: principal}, id)
	if err != nil {
		return false, err
	}
	defer t.done()
	if t.r.Status.Over() || t.next.Step == nil {
		return false, nil
	}
	act := t.next.Step.Act
	began := t.r.until[t.gate()]
	if act == nil || act.Kind != definition.ActWait || !act.Webhook || began.Hook == "" ||
		subtle.ConstantTimeCompare([]byte(began.Hook), []byte(given)) != 1 {
		return false, nil
	}
	done := t.at(Done)
	done.By, done.State = byHook, t.next.State
	if act.Result != "" {
		done.Context = variable(act.Result, bodyValue(body))
	}
	t.note(done)
	t.settle(ctx)
	return true, t.flush(ctx, 0)
}

// bodyValue is the body of a request as a value: JSON, or text.
func bodyValue(body []byte) json.RawMessage {
	// The scanner bounds how deep it is nested.
	var m wire.Message
	if wire.Scan(wire.AppendResult(nil, []byte("1"), bytes.TrimSpace(body)), &m) == nil && m.Kind == wire.Result {
		return json.RawMessage(m.Bytes(m.Result))
	}
	return wire.MustEncode(strings.ToValidUTF8(string(body), "\ufffd"))
}
