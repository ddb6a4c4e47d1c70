// Package document reads files that people write, in JSON or YAML, and with [ReadSettings] TOML, so that every fault in
// them can be told with its place.
//
// [Read] makes a tree of [Node] values of a file, each with its line and column. A [Schema] judges such a tree by a
// JSON Schema and words what it finds for the author of the file. Both add to a list of [Faults], to which the reader
// of the file adds what a schema cannot say.
//
//	bytes ── Read ──► Node ── Schema.Check ──► Faults
//
// Nodes are not changed after they are read and may be shared.
package document
