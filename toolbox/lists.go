package toolbox

import (
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/rpc"
)

// offers reports whether a server said that it has such a list.
func offers(h *rpc.Hello, k Kind) bool {
	switch k {
	case Tools:
		return h.Capabilities.Tools != nil
	case Prompts:
		return h.Capabilities.Prompts != nil
	case Skills:
		return eras.HasExtension(h.RawCapabilities, eras.Skills)
	default:
		return h.Capabilities.Resources != nil
	}
}

// tells reports whether a server says that it tells when such a list changes.
func tells(h *rpc.Hello, k Kind) bool {
	of := map[Kind][]byte{Tools: h.Capabilities.Tools, Prompts: h.Capabilities.Prompts, Resources: h.Capabilities.Resources}[k]
	return string(wire.Get(of, wire.Whole(of), "listChanged")) == "true"
}

// Refresh has lists of the server read anew that it gave for a time which is over, unless it tells of their changes. It
// reports whether there are any.
func (s *Server) Refresh(kinds ...Kind) (stale bool) {
	c := s.at.live()
	if c == nil {
		return false
	}
	for _, k := range kinds {
		if k == Templates {
			k = Resources
		}
		if s.reading.isStale(k) && !(tells(c.Hello(), k) && s.watches.hears()) {
			s.reading.ask(c, k)
			stale = true
		}
	}
	return stale
}
