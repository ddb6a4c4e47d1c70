package toolbox

import (
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// KeyOf is by what a server of that configuration is known in the catalogue.
func KeyOf(cfg config.Server) string { return keyOf(&cfg, nil, Client{}).Server }

// ProgramOf is what tells the file that is started from another in its place.
func ProgramOf(cfg config.Server) string {
	_, state := program(&cfg, nil)
	return state
}

// HasLink reports whether there is a link for a transport.
func HasLink(t config.Transport) bool { return links()[t] != nil }

// Live is the connection of a server that is ready.
func Live(s *Server) *rpc.Conn { return s.at.live() }

// ListenOver has a server tell of what is watched over a connection that it had once.
func ListenOver(s *Server, c *rpc.Conn) { s.watches.listen(upkeep{conn: c}, nil) }
