package proxy

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// madeTask makes a task of the result of a modern server that answered at once, for a legacy client that has asked for a task
// and takes nothing else.
func (f *flight) madeTask(m *wire.Message) *wire.Message {
	result := bytes.Clone(m.Bytes(m.Result))
	result = wire.Splice(nil, result, eras.ResultToLegacy(result, all(result), false)...)
	id := f.s.tasks.keep(f.server.Load(), "workbench-"+rand.Text(), "", result)
	return withResult(m, append(append([]byte(`{"task":`), doneTask(id)...), '}'))
}

// doneTask is a task of ours, which is over as soon as it is made.
func doneTask(id string) []byte {
	now := time.Now().UTC().Format(time.RFC3339)
	return fmt.Appendf(nil, `{"taskId":%s,"status":"completed","createdAt":"%s","lastUpdatedAt":"%s","ttl":null}`,
		wire.AppendQuote(nil, id), now, now)
}

// answerDone answers a request about a task of ours.
func (b *taskBridge) answerDone(method string) {
	switch done := b.task.done; method {
	case "tasks/result":
		b.f.reply(wire.Splice(nil, done, eras.WithRelatedTask(done, all(done), wire.AppendQuote(nil, b.task.shown))...))
	case "tasks/get":
		b.f.reply(doneTask(b.task.shown))
	default:
		b.f.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "the task has ended: its result is given by tasks/result"})
	}
}
