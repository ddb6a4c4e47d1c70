// Package proxy is the front: what a client sees. It answers the protocol's
// own requests, offers the meta tools and the tools, resources and prompts
// of open toolboxes, and forwards everything else between the client and the
// servers behind it as bytes.
//
//	client ── session ── routes ── toolbox.Server
//	             │
//	             ├── control: initialize, server/discover, ping, logging/setLevel
//	             └── meta tools: workbench_open_toolbox, workbench_use_tool, workbench_status
//
// A [Proxy] is a [wire.Endpoint]. Each session made from it belongs to one
// client and owns the toolboxes opened for that client, so that a server never
// serves two clients. Nothing is started before a client asks for it.
//
// A session's Receive forwards on its caller's goroutine and never waits;
// requests that must wait (opening a toolbox, reading lists) run on goroutines
// of their own, which Close waits for.
//
// Where messages come from is no matter of this package: a front reads a message
// into an incoming.Request and gives it to [Session.Handle] with the [Outlet]
// that what belongs to it goes to. [Session.Receive] is that for a client on
// stdio, package httpfront for those that come over HTTP.
//
// Both eras of the protocol are served at once: a request that carries the
// metadata of revision 2026-07-28 is answered by its rules, any other by those
// of the revision agreed on at initialize.
package proxy
