package toolbox

import (
	"github.com/mcp-workbench/workbench/internal/audit"
	"github.com/mcp-workbench/workbench/internal/lock"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Audit says what is odd in what servers say that are offered together, and beside others: their instructions, tools,
// prompts, resource templates and skills. It starts nothing.
func Audit(servers []*Server, beside ...*Server) []audit.Hint {
	audited := func(servers []*Server) (said []audit.Server) {
		for _, s := range servers {
			said = append(said, s.audited())
		}
		return said
	}
	return audit.Inspect(audited(servers), audited(beside)...)
}

// audited gives what a server says.
func (s *Server) audited() audit.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := audit.Server{Name: s.Toolbox + "/" + s.Name, Loosened: s.loosened}
	if s.hello != nil {
		if text, ok := wire.Unquote(s.hello.Instructions); ok && text != "" {
			all.Texts = append(all.Texts, audit.Text{Label: "its instructions", Raw: s.hello.Instructions})
		}
	}
	for _, k := range pinnable() {
		kind, _ := k.lockKind()
		for _, it := range s.lists[k] {
			t := audit.Text{Label: string(kind) + " " + lock.Quote(it.Key.Verbatim()), Raw: it.Raw}
			if k == Tools {
				t.Tool = it.Key.Verbatim()
			}
			all.Texts = append(all.Texts, t)
		}
	}
	return all
}
