// Package toolbox runs the servers of one toolbox for one client: it starts them, shakes hands, lists what they offer,
// forwards requests as bytes, notices their end and starts them again.
//
//	Toolbox ── Server ── connection ── rpc.Conn ── link.Link ── process | HTTP | SSE | in-process
//	               │
//	               └── Peer (the client's side, given by the caller)
//
// Each package below knows only those that come after it: offered and rpc, link, remote, launch. A new transport is a
// link, its row in the table of dial.go, and its words in package config.
//
// A [Toolbox] is made with [New] and does nothing until [Toolbox.Open], which starts all its servers in parallel and
// returns when each is ready or has failed, or when the open time-out ends; servers that are late go on starting. One
// that the catalogue knows is not waited for: its lists are those last seen, and calls wait until it is ready. A server
// that fails does so alone. [Toolbox.Close] ends everything below it and waits.
//
// Each [Server] has one owner goroutine, which does: start, handshake, list, wait for the end, decide. Requests do not
// pass through it: Send of a server splices the server's own names and a fresh id into the client's bytes and writes
// them on the caller's goroutine; the reply comes back on the goroutine that reads the server's output. No request is
// ever sent twice.
//
// # Layers
//
//	Search, Audit, Excluded     what is said of several servers
//	Toolbox                     opens, updates, closes
//	owner                       the goroutine of one server: supervise.go, dial.go, install.go
//	connection                  an rpc.Conn with what the server asks over it
//	Server, Peer, Ask           the sum of the parts, and its face
//	memory, reading, sender, watches
//	standing, lines, introduction, offered.Lists
//
// Each knows only those below it. The parts of a server, which are the last two rows, each have a lock of their own.
// The state of a server changes in standing alone.
//
// # Locks
//
// Toolbox.mu is taken first, then a lock of memory, then that of one part. Under the lock of a part only these are
// taken: that of the ring of lines under that of standing, that of the toolbox's goroutines under that of reading, that
// of the account under that of offered.Lists. Of the locks of the packages below, none is held while another is taken,
// except where package link says so.
//
// All methods are safe for concurrent use. Callbacks ([CallHandler], [Peer], [Options.Event]) are made without any lock
// held and must not block.
package toolbox
