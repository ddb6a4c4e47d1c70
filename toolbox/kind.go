package toolbox

import "github.com/mcp-workbench/workbench/toolbox/offered"

// Kind is one of the lists that a server offers.
type Kind = offered.Kind

// The lists of a server.
const (
	Tools     = offered.Tools
	Resources = offered.Resources
	Templates = offered.Templates
	Prompts   = offered.Prompts
	Skills    = offered.Skills
)
