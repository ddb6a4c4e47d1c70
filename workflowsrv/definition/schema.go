package definition

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/mcp-workbench/workbench/internal/document"
)

//go:embed workflow.schema.json
var schemaJSON []byte

// Schema returns the JSON Schema (draft-07) of workflow files. It covers the formats 0.0.4 to v0.3.0. The caller owns
// the bytes.
func Schema() []byte { return bytes.Clone(schemaJSON) }

// stepTypes are the types of steps that are not plain prompts.
var stepTypes = []string{"ask", "loop", "parallel", "tool", "wait"}

// compiled is the schema, compiled when the first file is read: that takes as long as reading three.
var compiled = sync.OnceValue(newSchema)

func newSchema() *document.Schema {
	s := document.NewSchema(schemaJSON)
	s.Unknown = func(n *document.Node, key string) string {
		kind := n.Get(key).Text()
		switch {
		case key != "type" || n.Get("title") == nil:
			return ""
		case kind == "loop":
			return "a loop cannot stand inside a loop"
		}
		return fmt.Sprintf("there is no type %s; a step of the agent has none, and other steps have %s%s",
			document.Brief(n.Get(key).Decoded()), strings.Join(stepTypes, ", "), new(document.Faults).DidYouMean(kind, stepTypes))
	}
	return s
}
