package toolbox

import "github.com/mcp-workbench/workbench/internal/audit"

// Audit says what is odd in what servers say that are offered together, and beside others: their instructions, tools,
// prompts, resource templates and skills. It starts nothing.
func Audit(servers []*Server, beside ...*Server) []audit.Hint {
	audited := func(servers []*Server) (said []audit.Server) {
		for _, s := range servers {
			said = append(said, s.lists.Audited(s.Toolbox+"/"+s.Name, s.words()))
		}
		return said
	}
	return audit.Inspect(audited(servers), audited(beside)...)
}
