package workflowsrv

import "github.com/mcp-workbench/workbench/internal/wire"

type bareDoor struct{ server *Server }

func (d bareDoor) Connect(send func(msg []byte)) wire.Session {
	d.server.watch()
	return newSession(d.server, send)
}
