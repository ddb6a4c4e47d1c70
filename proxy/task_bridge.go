package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/jsontype"
	"github.com/mcp-workbench/workbench/internal/pause"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/link"
)

// Between a client and a server of different eras a request about a task is not forwarded: it is answered here, after
// what the server of the task answers to requests of its own era.

// How often a modern task is looked at on behalf of a legacy client that waits for its result, where the server does
// not say it, and the bounds of what a server may say.
const (
	pollEach  = time.Second
	pollLeast = 100 * time.Millisecond
	pollMost  = 10 * time.Second
)

// bridge answers a request about a task of a server of the other era, or about one that workbench made.
func (d *taskDesk) bridge(f *flight, c *call, t task) {
	b := taskBridge{desk: d, f: f, task: t}
	method := c.MethodName
	switch {
	case t.done != nil:
		b.answerDone(method)
	case c.terms.DecidesTasks():
		later := c.own()
		f.serve(func() { f.give(b.askLegacy(method, later)) })
	default:
		f.serve(func() { f.give(b.askModern(method)) })
	}
}

// taskBridge answers one request about a task.
type taskBridge struct {
	desk *taskDesk
	f    *flight
	task task
}

// request asks the server of the task about it; more are further members of the params.
func (b *taskBridge) request(ctx context.Context, method, more string) ([]byte, error) {
	params := append(wire.AppendQuote([]byte(`{"taskId":`), b.task.id), more...)
	raw, err := b.task.server.Request(ctx, method, append(params, '}'))
	if refusal, ok := errors.AsType[*link.RPCError](err); ok {
		return nil, &wire.Error{Code: refusal.Code, Message: refusal.Text.String(), Data: refusal.Data}
	}
	return raw, err
}

// shown gives what a server said of the task with the id that the client sees.
func (b *taskBridge) shown(raw []byte) []byte {
	if b.task.shown == b.task.id {
		return raw
	}
	span, err := wire.FindPath(raw, wire.Whole(raw), "taskId")
	if err != nil || !span.Present() {
		return raw
	}
	return wire.Splice(nil, raw, wire.Edit{Span: span, New: wire.AppendQuote(nil, b.task.shown)})
}

// isOver reports whether a task in that status stays in it.
func isOver(status string) bool {
	return status == "completed" || status == "failed" || status == "cancelled"
}

// askLegacy gives the answer to a modern client about a task of a legacy server.
func (b *taskBridge) askLegacy(method string, c *call) ([]byte, error) {
	switch method {
	case "tasks/get":
		reply, err := b.detailed(b.f.ctx, &c.terms)
		return append(append([]byte(`{"resultType":"complete",`), reply...), '}'), err
	case "tasks/update":
		b.task.asked.answer(c)
	case "tasks/cancel":
		if _, err := b.request(b.f.ctx, method, ""); err != nil {
			// A task that has ended cannot be cancelled in the legacy era; a modern client need not know that it has.
			raw, gone := b.request(b.f.ctx, "tasks/get", "")
			if status, _ := wire.Text(raw, wire.Whole(raw), "status"); gone != nil || !isOver(status) {
				return nil, err
			}
		}
	}
	return []byte(`{"resultType":"complete"}`), nil
}

// detailed gives the members of the modern task: with its result, its error, or what its server wants to know of the
// client.
func (b *taskBridge) detailed(ctx context.Context, client *terms) ([]byte, error) {
	raw, err := b.request(ctx, "tasks/get", "")
	if err != nil {
		return nil, err
	}
	status, _ := wire.Text(raw, wire.Whole(raw), "status")
	payload := ""
	switch status {
	case "completed", "failed":
		status, payload, err = b.outcome(ctx)
		if err != nil {
			return nil, err
		}
	case "cancelled":
	default:
		status = "working"
		if questions := b.task.asked.open(client); questions != "" {
			status, payload = "input_required", `"inputRequests":`+questions
		}
		// What a legacy server wants to know comes while it is asked for the result.
		b.task.asked.fetch(b.desk.begin, func(ctx context.Context) {
			_, _ = b.request(ctx, "tasks/result", "") // the client asks for it once the task has ended
		})
	}
	return eras.TaskToModern(b.shown(raw), wire.Whole(b.shown(raw)), status, payload), nil
}

// outcome gives what a task ended with: in the modern era only an error of JSON-RPC is a failure.
func (b *taskBridge) outcome(ctx context.Context) (status, payload string, err error) {
	raw, err := b.request(ctx, "tasks/result", "")
	switch refusal, ok := errors.AsType[*wire.Error](err); {
	case ok:
		return "failed", string(wire.AppendFault([]byte(`"error":`), b.f.terms.Code(refusal.Code), refusal.Message, refusal.Data)), nil
	case err != nil:
		return "", "", err
	}
	raw = wire.Splice(nil, raw, eras.WithoutRelatedTask(raw, wire.Whole(raw))...)
	return "completed", string(wire.Splice([]byte(`"result":`), raw, eras.ResultToModern(raw, wire.Whole(raw), false)...)), nil
}

// askModern gives the answer to a legacy client about a task of a modern server.
func (b *taskBridge) askModern(method string) ([]byte, error) {
	ctx := b.f.ctx
	switch method {
	case "tasks/result":
		return b.await(ctx)
	case "tasks/cancel":
		if _, err := b.request(ctx, method, ""); err != nil {
			return nil, err
		}
	}
	raw, err := b.request(ctx, "tasks/get", "")
	if err != nil {
		return nil, err
	}
	return eras.TaskToLegacy(b.shown(raw), wire.Whole(b.shown(raw))), nil
}

// await looks at a modern task until it has ended, asks the client meanwhile what its server wants to know, and gives
// its result.
func (b *taskBridge) await(ctx context.Context) ([]byte, error) {
	asked := make(map[string]bool)
	for {
		raw, err := b.request(ctx, "tasks/get", "")
		if err != nil {
			return nil, err
		}
		switch status, _ := wire.Text(raw, wire.Whole(raw), "status"); status {
		case "completed":
			text := bytes.Clone(wire.Get(raw, wire.Whole(raw), "result"))
			if text == nil {
				return nil, errors.New("the server says that the task is completed, but gives no result")
			}
			text = wire.Splice(nil, text, eras.ResultToLegacy(text, wire.Whole(text), false)...)
			return wire.Splice(nil, text, eras.WithRelatedTask(text, wire.Whole(text), wire.AppendQuote(nil, b.task.shown))...), nil
		case "failed":
			return nil, failureOf(raw)
		case "cancelled":
			return nil, &wire.Error{Code: wire.CodeInvalidParams, Message: "the task was cancelled"}
		case "input_required":
			if err := b.ask(ctx, raw, asked); err != nil {
				return nil, err
			}
		}
		if err := leave(ctx, raw); err != nil {
			return nil, err
		}
	}
}

// failureOf gives the error of a modern task that failed.
func failureOf(raw []byte) error {
	fault := wire.Get(raw, wire.Whole(raw), "error")
	if len(fault) == 0 || fault[0] != '{' {
		return errors.New("the server says that the task failed, but not how")
	}
	code, ok := jsontype.Int(wire.Get(fault, wire.Whole(fault), "code"))
	if !ok {
		code = wire.CodeInternal
	}
	message, _ := wire.Text(fault, wire.Whole(fault), "message")
	return &wire.Error{Code: code, Message: foreign.NewText(message).String(), Data: wire.Get(fault, wire.Whole(fault), "data")}
}

// leave waits for as long as the server wants its task to be left alone.
func leave(ctx context.Context, raw []byte) error {
	each := pollEach
	if ms, err := strconv.ParseFloat(string(wire.Get(raw, wire.Whole(raw), "pollIntervalMs")), 64); err == nil {
		each = time.Duration(min(max(ms, 0), 1e6) * float64(time.Millisecond))
	}
	return pause.For(ctx, min(max(each, pollLeast), pollMost))
}

// ask puts to a legacy client what the server of a modern task wants to know, each question once, and hands the answers
// on.
func (b *taskBridge) ask(ctx context.Context, raw []byte, asked map[string]bool) error {
	questions, err := wire.FindPath(raw, wire.Whole(raw), "inputRequests")
	if err != nil {
		return err
	}
	for key, value := range wire.Members(raw, questions) {
		token := string(raw[key.Start:key.End])
		if asked[token] {
			continue
		}
		if len(asked) == maxQuestions {
			return fmt.Errorf("the server asked for more than %d inputs for one task", maxQuestions)
		}
		asked[token] = true
		method, params, err := eras.Question(raw, value)
		if err != nil {
			return fmt.Errorf("the server asked for input that no client can give: %w", err)
		}
		if len(params) == 0 {
			params = []byte("{}")
		}
		params = wire.Splice(nil, params, eras.WithRelatedTask(params, wire.Whole(params), wire.AppendQuote(nil, b.task.shown))...)
		answer, err := b.put(ctx, method, params)
		if err != nil {
			return err
		}
		if _, err := b.request(ctx, "tasks/update", fmt.Sprintf(`,"inputResponses":{%s:%s}`, token, answer)); err != nil {
			return err
		}
	}
	return nil
}

// put asks a legacy client what the server of the task wants to know.
func (b *taskBridge) put(ctx context.Context, method string, params []byte) (answer []byte, err error) {
	answered := make(chan *wire.Message, 1)
	k := &ask{carrier: &b.f.request, answer: func(m *wire.Message) { answered <- scanned(bytes.Clone(m.Raw)) }}
	if err := b.desk.asks.question(b.f.out, k, b.task.server, method, params); err != nil {
		return nil, err
	}
	defer b.desk.asks.forget(k)
	wait := time.NewTimer(parkTime)
	defer wait.Stop()
	select {
	case m := <-answered:
		if m.Kind == wire.Failure {
			return nil, link.ReplyError(method, m)
		}
		return m.Bytes(m.Result), nil
	case <-wait.C:
		if b.desk.asks.forget(k) {
			b.f.out.Message(k.withdrawal(callEnded))
		}
		return nil, fmt.Errorf("the client did not answer the server's question within %v", parkTime)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// answerDone answers a request about a task of ours.
func (b *taskBridge) answerDone(method string) {
	switch done := b.task.done; method {
	case "tasks/result":
		b.f.reply(wire.Splice(nil, done, eras.WithRelatedTask(done, wire.Whole(done), wire.AppendQuote(nil, b.task.shown))...))
	case "tasks/get":
		b.f.reply(doneTask(b.task.shown))
	default:
		b.f.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "the task has ended: its result is given by tasks/result"})
	}
}
