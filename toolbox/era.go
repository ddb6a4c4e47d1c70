package toolbox

import (
	"errors"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// errEraChanged says that the remote server does not speak the revision of the
// handshake any more.
var errEraChanged = errors.New("the remote server does not speak the protocol version any more that was agreed on")

// doubt retires the link if a failure can mean that the server was replaced by
// one of another era, so that it is asked anew. A server that turns out to be
// what it was has other reasons, and is not asked for them again.
func (l *httpLink) doubt(m *wire.Message) {
	unsupported := false
	var refusal *RPCError
	if err := rpcError("", m); errors.As(err, &refusal) {
		unsupported = refusal.Code == codeUnsupportedVersion
	}
	if !unsupported && string(m.Bytes(m.ID)) != "null" {
		return
	}
	l.mu.Lock()
	doubted := l.version != "" && l.retired == nil && l.server.doubt(l.version)
	if doubted {
		l.retired = errEraChanged
	}
	l.mu.Unlock()
	if doubted {
		l.r.Retired()
	}
}

// doubt notes that a server refused a request as one of another era would, and
// reports whether it is to be asked anew which it is of: once for a version.
func (s *Server) doubt(version string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.doubted != version
	s.doubted = version
	return first
}

// greeted notes the version that a server was found to have: one that has
// another than before may be doubted again.
func (s *Server) greeted(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doubted != version {
		s.doubted = ""
	}
}
