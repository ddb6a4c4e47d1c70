// Package workflowsrv is the workflow server that is built into workbench: it lists workflows, leads an agent through
// one step by step, and validates what the agent put out. It is an ordinary MCP server, which could run alone.
//
//	           ┌─ Connect: MCP, both protocol eras ─┐
//	client ────┤                                    ├─ handler ─ stepping, criteria
//	           └─ Bare: JSON-RPC, method = tool ────┘      │
//	                                                definition.Store ─ files
//
// There are two doors and one handler. Through the first, the tools are called with tools/call, and what goes wrong in
// a tool is a result with isError. The second is the older, bare form of the published workflow API: the method is the
// name of the tool, errors are JSON-RPC errors, and requests are answered strictly in the order received.
//
// [New] checks and stores. Files are read when the first session begins, and watched for changes as long as there are
// sessions; a Server has nothing to close but these. A Server and its sessions may be used from any number of
// goroutines.
//
// From the top down, where nothing knows what stands above it:
//
//	Server, bareDoor   the two doors
//	service, offers    tools; prompts, skills and runs that clients read
//	audience           the sessions, and what they are told of
//	shelf              the workflows that there are
//
// audience and shelf have a lock each, and neither is held while the other is taken.
package workflowsrv
