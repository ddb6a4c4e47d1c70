// Package clients knows where MCP clients keep the servers that they use, and how an entry is written there.
//
//	All ─ Client ─▶ System.UserPaths ─ paths ─▶ Read ──▶ []Entry, with the line of each
//
// The table of clients is one function, [All]: a client more is a row more. Paths are worked out for the system and the
// variables that the caller names, so what holds on Windows can be tested anywhere. The package opens nothing.
package clients
