package eras

import (
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// A task of revision 2025-11-25 is asked for by a member of the request, stands in a member of the result that makes
// it, and gives its result to a request of its own. In the extension of revision 2026-07-28 the server alone decides,
// the result that makes a task is the task, and the result of a task that has ended stands in it.

// RelatedTask is the member of _meta that says in the legacy era which task a message belongs to.
const RelatedTask = mcp.RelatedTaskMetaKey

// Augment says what becomes of the member of a request's params by which a client of the legacy era asks for a task.
type Augment int

// What may become of it: it stays, it is taken out, or it is put in place of the one that there may be.
const (
	Keep Augment = iota
	Drop
	Ask
)

// TaskSupport reports whether a tool may make tasks, and whether it always does: a definition of the legacy era says
// so.
func TaskSupport(definition []byte) (may, must bool) {
	support, _ := wire.Text(definition, wire.Whole(definition), "execution", "taskSupport")
	return support == "optional" || support == "required", support == "required"
}

// MakesTasks reports whether a server of the legacy era declares tasks of tools.
func MakesTasks(capabilities []byte) bool {
	return wire.Get(capabilities, wire.Whole(capabilities), "tasks", "requests", "tools", "call") != nil
}

// CreatedToModern makes of a legacy result that announces a task, which has it at task, one of the modern era.
func CreatedToModern(raw []byte, result, task wire.Span) []byte {
	dst := appendMembers([]byte(`{"resultType":"task"`), raw, result, modernName, "task", "resultType")
	return append(appendMembers(dst, raw, task, modernName, "resultType", "_meta"), '}')
}

// CreatedToLegacy makes of a modern result that is a task one of the legacy era.
func CreatedToLegacy(raw []byte, result wire.Span) []byte {
	o := wire.NewObject(nil).Raw("task", TaskToLegacy(raw, result))
	if meta := wire.Get(raw, result, "_meta"); meta != nil {
		o = o.Raw("_meta", meta)
	}
	return o.End()
}

// TaskToModern gives the members of the modern task that a legacy one is in that status; payload is the member that
// such a task has besides, "" for none.
func TaskToModern(raw []byte, task wire.Span, status, payload string) []byte {
	dst := append(append([]byte(`"status":"`), status...), '"')
	dst = appendMembers(dst, raw, task, modernName, "status", "resultType", "result", "error", "inputRequests")
	if payload != "" {
		dst = append(append(dst, ','), payload...)
	}
	return dst
}

// TaskToLegacy makes of a modern task, a result or the params of a notification, the legacy one.
func TaskToLegacy(raw []byte, task wire.Span) []byte {
	dst := appendTask([]byte{'{'}, raw, task)
	return append(dst, '}')
}

// WithRelatedTask gives the edits that have a message's _meta, which is a member of the object at in, name a task by
// the token of its id.
func WithRelatedTask(raw []byte, in wire.Span, id []byte) []wire.Edit {
	return withMeta(raw, in, RelatedTask, wire.NewObject(nil).Raw("taskId", id).End())
}

// WithoutRelatedTask gives the edits that take out what [WithRelatedTask] puts in.
func WithoutRelatedTask(raw []byte, in wire.Span) []wire.Edit {
	meta, _ := wire.FindPath(raw, in, "_meta")
	return without(raw, meta, nil, RelatedTask)
}

// appendTask appends the members of a legacy task that a modern one has; dst ends where the first may stand.
func appendTask(dst, raw []byte, task wire.Span) []byte {
	for key, value := range wire.Members(raw, task) {
		name, _ := wire.Unquote(raw[key.Start:key.End])
		switch name {
		case "ttlMs":
			name = "ttl"
		case "pollIntervalMs":
			name = "pollInterval"
		case "taskId", "status", "statusMessage", "createdAt", "lastUpdatedAt":
		default:
			continue
		}
		dst = wire.AppendMember(dst, wire.AppendQuote(nil, name), raw[value.Start:value.End])
	}
	return dst
}

func modernName(legacy string) string {
	switch legacy {
	case "ttl":
		return "ttlMs"
	case "pollInterval":
		return "pollIntervalMs"
	}
	return legacy
}

// appendMembers appends the members of the object at in, each after a comma, but those of some names.
func appendMembers(dst, raw []byte, in wire.Span, rename func(string) string, but ...string) []byte {
	for key, value := range wire.Members(raw, in) {
		if isOneOf(raw[key.Start:key.End], but) {
			continue
		}
		name, _ := wire.Unquote(raw[key.Start:key.End])
		dst = append(wire.AppendQuote(append(dst, ','), rename(name)), ':')
		dst = append(dst, raw[value.Start:value.End]...)
	}
	return dst
}
