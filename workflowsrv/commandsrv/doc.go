// Package commandsrv serves a workflow of commands: to MCP clients as the tools initialize, get_commands,
// execute_command and so on, and to any other as the same operations over HTTP.
//
//	MCP client ── Server.For ───────┐                ┌─ command.Engine: one command
//	                                ├─ operation ── turn ─ Agent: plan, then commands
//	curl ──────── Server.ServeHTTP ─┘                └─ book: conversation, result
//
// A client begins a session with initialize and names it in every call. The session is in a conversation, and each
// request that may do something is a turn of it: one at a time, carried on when its caller stops waiting, and kept
// before anybody hears of its result.
//
// From the top down, where nothing knows what stands above it:
//
//	Server     the operations over MCP and HTTP
//	service    what carries out operations
//	runner     turns, from their beginning until they are kept
//	worker     what a turn is for: a command, an answer, a plan
//	live, book the workflow as it is now; what the store has of its conversations
//	turn       a request under way: its events, who waits for it, its result
//
// The lock of latest is taken before that of a turn. Neither is held while an engine, an agent or a client is called.
package commandsrv
