package proxy

import (
	"context"
	"slices"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// taskNews passes on what a server says of a task to the modern clients that have subscribed to it: the whole task. It
// reports whether nobody else is to be told; what a legacy server says is passed to a legacy client as it is.
func (p *peer) taskNews(srv *toolbox.Server, m *wire.Message) bool {
	modern := m.IsMethod("notifications/tasks")
	if !modern && !m.IsMethod("notifications/tasks/status") {
		return false
	}
	id, _ := taskID(m.Get(m.Params, "taskId"))
	t, known := p.tasks.of(srv, id)
	if !known {
		return modern // whose it is cannot be known
	}
	m, err := attributed(srv, p.tasks.renamed(srv, m))
	if err != nil {
		srv.Counts().Dropped.Add(1) // the client has the task still to ask for
		return modern
	}
	subscribed := func(sub *subscription) (string, bool) {
		return t.shown, slices.ContainsFunc(sub.tasks, func(of task) bool { return of.shown == t.shown })
	}
	for f := range p.watches.listeners(subscribed) {
		if modern {
			p.line.spare(srv, &f.request, tagged(m, nil, f.id))
			continue
		}
		p.work.begin(func(ctx context.Context) {
			b := taskBridge{desk: p.taskDesk, f: f, task: t}
			detailed, err := b.detailed(ctx, &f.terms)
			if err != nil {
				return // the client has the task still to ask for
			}
			raw := wire.AppendNotification(nil, "notifications/tasks", slices.Concat([]byte("{"), detailed, []byte("}")))
			if news := new(wire.Message); wire.Scan(raw, news) == nil { // it may be nested too deep
				p.line.spare(srv, &f.request, tagged(news, nil, f.id))
			}
		})
	}
	return modern
}
