package definition

import (
	"bytes"
	_ "embed"

	"github.com/mcp-workbench/workbench/internal/document"
)

//go:embed workflow.schema.json
var schemaJSON []byte

// Schema returns the JSON Schema (draft-07) of workflow files. It covers the formats 0.0.4 to v0.3.0. The caller owns
// the bytes.
func Schema() []byte { return bytes.Clone(schemaJSON) }

func newSchema() *document.Schema {
	s := document.NewSchema(schemaJSON)
	s.Unknown = func(n *document.Node, key string) string {
		if key == "type" && n.Str(key) == "loop" {
			return "a loop cannot stand inside a loop"
		}
		return ""
	}
	return s
}
