package toolbox

import "github.com/mcp-workbench/workbench/toolbox/rpc"

// What requests are is said in package rpc.
type (
	Call        = rpc.Call
	CallHandler = rpc.Handler
	Client      = rpc.Client
	Counters    = rpc.Counters
)
