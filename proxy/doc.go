// Package proxy is the front: what a client sees. It answers the protocol's own requests, offers the meta tools and the
// tools, resources and prompts of open toolboxes, and forwards everything else between the client and the servers
// behind it as bytes.
//
//	client ── session ── shelf ── toolbox.Server
//	             │
//	             ├── control: initialize, server/discover, ping, logging/setLevel
//	             └── meta tools: workbench_open_toolbox, workbench_use_tool, workbench_status
//
// A [Proxy] is a [wire.Endpoint]. Each session made from it belongs to one client and owns the toolboxes opened for
// that client, so that a server never serves two clients. Nothing is started before a client asks for it.
//
// A session's Receive forwards on its caller's goroutine and never waits; requests that must wait (opening a toolbox,
// reading lists) run on goroutines of their own, which Close waits for.
//
// Where messages come from is no matter of this package: a front reads a message into an incoming.Request and gives it
// to [Session.Handle] with the [Outlet] that what belongs to it goes to. [Session.Receive] is that for a client on
// stdio, package httpfront for those that come over HTTP.
//
// Both eras of the protocol are served at once: a request that carries the metadata of revision 2026-07-28 is answered
// by its rules, any other by those of the revision agreed on at initialize.
//
// # Layers
//
// A file names what is in its own layer or in one below:
//
//	Proxy      connect: puts a session together, takes messages, ends it; commons, guests
//	Session    holds the parts together and says which feature answers; peer is what its servers see of it
//	features   what a method or a meta tool does: caller, opener, finder, scripts, resourceDesk, and skills, status, large
//	askers     approvals, considering, taskDesk: they answer a request here, and may ask the client first
//	desk       where requests are taken: each becomes a flight; features are given it, and the shelf
//	flight     a request that goes to a server: round and parked, where the server asks the client in between
//	parts      requests, asks, states, waiting, tasks, ownTasks, line, profile, background, record, narrator, span
//	messages   call, modern, Outlet, and the edits of messages
//	below      packages that know no session: shelf (toolboxes and lists), naming (who is meant), meta (the words)
//
// A part has a lock of its own and does not know the session; what it needs from above it is given as functions when it
// is made. What servers say comes in at the top again, by the Peer that a session is to them, and goes down from there.
//
// # Order of locks
//
// A part calls nothing of another one with its lock held but an account, which has the last lock of all. The
// exceptions, each lock before those that may be taken while it is held:
//
//	Proxy.reloading, Proxy.mu, watches.mu, Shelf.mu, requests.mu, background.tasks, line.mu, Claims.mu
//	ownTask.mu, ownTasks.mu
//	ownTask.mu, or narrator.mu and then patience.mu, and then the outlet's: so that nothing follows a reply
package proxy
