package rpc

import "github.com/mcp-workbench/workbench/internal/wire"

// maxEdits is how many places of a message change at most: id, progress token, name or uri, arguments, and what an era
// has of its own: four members of _meta and their place, three members of params and theirs.
const maxEdits = 13

// edits are the changes to one message.
type edits struct {
	list [maxEdits]wire.Edit
	n    int
}

func (e *edits) add(edit wire.Edit) {
	e.list[e.n] = edit
	e.n++
}

// sorted returns them in the order of their places: few, and nearly in order.
func (e *edits) sorted() []wire.Edit {
	list := e.list[:e.n]
	for i := 1; i < len(list); i++ {
		for j := i; j > 0 && list[j].Span.Start < list[j-1].Span.Start; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
	return list
}
