// Package commandsrv serves a workflow of commands: to MCP clients as the tools
// initialize, get_commands, execute_command and so on, and to any other as the
// same operations over HTTP.
//
//	MCP client ── Server.For ───────┐                ┌─ command.Engine: one command
//	                                ├─ operation ── turn ─ Agent: plan, then commands
//	curl ──────── Server.ServeHTTP ─┘                └─ store: conversation, result
//
// A client begins a session with initialize and names it in every call. The
// session is in a conversation, and each request that may do something is a
// turn of it: one at a time, carried on when its caller stops waiting, and kept
// before anybody hears of its result.
package commandsrv
