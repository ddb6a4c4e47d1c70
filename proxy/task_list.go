package proxy

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

const (
	// listTasksWait bounds what a server that does not answer tasks/list takes from the lists of the others.
	listTasksWait = 5 * time.Second
	// maxTaskPages bounds the pages of one such list.
	maxTaskPages = 100
)

// list answers with the tasks of all open servers that have a list.
func (d *taskDesk) list(c *call) {
	f := d.own(c)
	if f == nil {
		return
	}
	f.serve(func() {
		var servers []*toolbox.Server
		for _, srv := range d.servers() {
			// A server that is not there has no tasks of this session.
			if srv.Status().State == toolbox.Ready && bytes.Contains(srv.Capabilities(), []byte(`tasks"`)) {
				servers = append(servers, srv)
			}
		}
		lists := make([][]byte, len(servers))
		var all sync.WaitGroup
		for i, srv := range servers {
			all.Go(func() { lists[i] = d.tasksOf(f.ctx, srv) })
		}
		all.Wait()
		lists = slices.DeleteFunc(lists, func(l []byte) bool { return len(l) == 0 })
		f.reply(wire.NewObject(nil).Raw("tasks", slices.Concat([]byte("["), bytes.Join(lists, []byte(",")), []byte("]"))).End())
	})
}

// tasksOf gives the entries of a server's list, with commas between. A server of this session alone has no others'
// tasks, so that all of them become known; of one that is shared the client gets those that were made for it.
func (d *taskDesk) tasksOf(ctx context.Context, srv *toolbox.Server) (entries []byte) {
	ctx, cancel := context.WithTimeout(ctx, listTasksWait)
	defer cancel()
	shared := isShared(srv)
	var params []byte
	for range maxTaskPages {
		raw, err := srv.Request(ctx, "tasks/list", params)
		var page [2]wire.Span
		if err != nil || wire.Find(raw, wire.Whole(raw), []string{"tasks", "nextCursor"}, page[:]) != nil {
			return entries
		}
		for e := range wire.Elements(raw, page[0]) {
			span, err := wire.FindPath(raw, e, "taskId")
			id, ok := taskID(raw[span.Start:span.End])
			if err != nil || !ok || len(entries)+e.End-e.Start > account.Lists || !isTask(raw, e) {
				continue
			}
			shown, known := d.tasks.shownAs(srv, id)
			switch {
			case !known && shared:
				continue
			case !known:
				shown = d.tasks.learn(srv, id)
			}
			entry := raw[e.Start:e.End]
			if shown != id {
				edit := wire.Edit{Span: wire.Span{Start: span.Start - e.Start, End: span.End - e.Start}, New: wire.AppendQuote(nil, shown)}
				entry = wire.Splice(nil, entry, edit)
			}
			if entries != nil {
				entries = append(entries, ',')
			}
			entries = append(entries, entry...)
		}
		if !page[1].Present() || raw[page[1].Start] != '"' {
			return entries
		}
		params = wire.NewObject(nil).Raw("cursor", raw[page[1].Start:page[1].End]).End()
	}
	return entries
}

// isTask reports whether an entry of a list has all that a task has (MCP 2025-11-25). Clients that check the list refuse
// all of it for one that has not.
func isTask(raw []byte, entry wire.Span) bool {
	var at [6]wire.Span
	if wire.Find(raw, entry, []string{"status", "createdAt", "lastUpdatedAt", "ttl", "pollInterval", "statusMessage"}, at[:]) != nil {
		return false
	}
	first := func(i int) byte { // of the value; 0 where there is none
		if !at[i].Present() {
			return 0
		}
		return raw[at[i].Start]
	}
	number := func(b byte) bool { return b == '-' || b >= '0' && b <= '9' }
	status, _ := wire.Unquote(raw[at[0].Start:at[0].End])
	return slices.Contains([]string{"working", "input_required", "completed", "failed", "cancelled"}, status) &&
		first(1) == '"' && first(2) == '"' && (first(3) == 'n' || number(first(3))) &&
		(first(4) == 0 || number(first(4))) && (first(5) == 0 || first(5) == '"')
}
