package proxy

import (
	"context"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

// taskDesk answers a client's requests about tasks.
type taskDesk struct {
	tasks *tasks
	ours  *ownTasks
	asks  *asks
	begin func(func(context.Context))
	own   func(*call) *flight // registers a request that is worked on here; nil if it is refused

	servers func() []*toolbox.Server                                          // of the open toolboxes
	reach   func(ctx context.Context, toolbox, server string) *toolbox.Server // opens a toolbox and waits for a server; nil if it may not
}

// answer answers a request about a task after the server that has it.
func (d *taskDesk) answer(c *call) {
	if c.terms.DecidesTasks() && !c.terms.has(eras.Tasks) {
		c.fail(eras.Lacks(eras.Tasks))
		return
	}
	id, ok := wire.Unquote(c.Bytes(c.TaskID))
	if !ok {
		c.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: "params.taskId is missing or not a string"})
		return
	}
	if !c.terms.Has(c.MethodName) {
		c.fail(&wire.Error{Code: wire.CodeMethodNotFound, Message: c.MethodName + " is not of the protocol revision of this session"})
		return
	}
	f := d.own(c)
	if f == nil {
		return
	}
	if reply := d.ours.answer(c.MethodName, id); reply != nil {
		f.reply(reply)
		return
	}
	if t, ok := d.tasks.find(id); ok {
		d.askOf(f, c, t)
		return
	}
	later := c.own()
	f.serve(func() {
		t, ok := d.recall(f, id)
		if !ok {
			f.fail(&wire.Error{Code: wire.CodeInvalidParams, Message: fmt.Sprintf("task not found: %q was not made in this session,"+
				" and is not kept from another one", foreign.NewName(id))})
			return
		}
		d.askOf(f, later, t)
	})
}

// askOf asks the server of a task about it.
func (d *taskDesk) askOf(f *flight, c *call, t task) {
	switch {
	case t.done != nil || c.terms.DecidesTasks() != t.server.Era().DecidesTasks():
		d.bridge(f, c, t)
	case t.id == t.shown:
		f.send(c, t.server, t.id)
	default:
		f.send(c, t.server, t.id, wire.Edit{Span: c.TaskID, New: wire.AppendQuote(nil, t.id)})
	}
}

// recall finds a task that was made for the same user on another connection, or before workbench was started, and opens
// the toolbox of its server.
func (d *taskDesk) recall(f *flight, shown string) (task, bool) {
	of, ok := d.tasks.book.Get(d.tasks.user, shown)
	if !ok {
		return task{}, false
	}
	srv := d.reach(f.ctx, of.Toolbox, of.Name)
	if srv == nil {
		return task{}, false
	}
	id := shown
	if own, renamed := strings.CutPrefix(shown, naming.AliasURI(naming.AddressOf(srv), "")); renamed {
		id = own
	}
	if d.tasks.keep(srv, id, shown, nil) != shown {
		return task{}, false // another server's has the id in this session
	}
	return d.tasks.find(shown)
}
