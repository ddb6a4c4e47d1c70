// Package httpfront serves what a [proxy.Proxy] offers over streamable HTTP, in both eras of the protocol.
//
//	net/http ── Front ── guard: which host and origin a request may name
//	              ├───── door: who is let in, by which token
//	              ├───── endpoint: /mcp and /mcp/{toolbox} ── clients ── proxy.Session
//	              │          └── post: the outlet of one request ── stream: server-sent events
//	              └───── cards, and handlers of others: metrics, commands, hooks, the page
//
// A legacy client has a session of its own, found by the id that it shows. All programs of one principal that speak the
// modern era share a session. A request's outlet is the response to its own POST, so that nothing of one request is on
// the stream of another; what belongs to no request goes to the legacy client's GET stream. The package reads a message
// once (incoming.Request) and hands it to the session with what was found.
//
// What a client has not read is its debt: its own servers wait for it, and what nobody can wait for is bounded for all
// clients of a user together.
//
// Locks are taken in this order: post, streams, stream. That of clients comes before those of a proxy, for a session is
// made and asked whether it is busy under it; nothing else is called with a lock held.
package httpfront
