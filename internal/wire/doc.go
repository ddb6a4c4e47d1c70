// Package wire carries JSON-RPC 2.0 messages as bytes: it scans, splices, frames and queues them, and decodes nothing
// it does not have to.
//
// A message is read once, by [Scan], which checks that it is strictly valid JSON (RFC 8259) and a well-formed JSON-RPC
// message, and notes where its parts lie. Everything after that works on these ranges: [Find] looks into an object,
// [Splice] replaces or inserts pieces, and the rest of the bytes travel as they came. What was checked is therefore
// exactly what is forwarded.
//
//	peer ── Reader ──► Scan ──► Find ──► Splice ──► Outbox ──► peer
//
// The package is a security border. Two decoders that read the same bytes differently are a way around a policy, so
// whatever decoders are known to disagree about is refused: duplicate envelope keys, keys that differ only in case,
// batches, broken UTF-8, depth beyond [MaxDepth].
//
// [Serve] runs one session of an [Endpoint] over newline-delimited streams.
//
// Scan, Find, Splice and the other functions keep no state and may be called from any goroutine. A [Reader] belongs to
// one goroutine; an [Outbox] may be used by many.
package wire
