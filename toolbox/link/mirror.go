package link

import (
	"bytes"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// mirrors are the tools of a remote server that have arguments repeated in HTTP headers (specification 2026-07-28,
// tools, "x-mcp-header").
type mirrors struct {
	mu    sync.Mutex
	tools map[string]*mcp.Tool // by name; only their schemas are set
}

// note takes an entry of the list of tools. It reports whether the tool may be used: one whose annotations are faulty
// must not be.
func (ms *mirrors) note(name string, definition []byte) bool {
	var tool *mcp.Tool
	if bytes.Contains(definition, []byte("x-mcp-header")) {
		schema, err := wire.FindPath(definition, wire.Whole(definition), "inputSchema")
		if err != nil || !schema.Present() {
			return err == nil
		}
		tool = &mcp.Tool{RawInputSchema: definition[schema.Start:schema.End]}
		if mcp.ValidateParamHeaderAnnotations(tool) != nil {
			return false
		}
	}
	ms.mu.Lock()
	defer ms.mu.Unlock()
	switch {
	case tool == nil:
		delete(ms.tools, name)
	case ms.tools == nil:
		ms.tools = map[string]*mcp.Tool{name: tool}
	default:
		ms.tools[name] = tool
	}
	return true
}

// headers are those of a tools/call with these params.
func (ms *mirrors) headers(m *wire.Message) map[string]string {
	name, ok := m.Text(m.Params, "name")
	if !ok {
		return nil
	}
	ms.mu.Lock()
	tool := ms.tools[name]
	ms.mu.Unlock()
	if tool == nil {
		return nil
	}
	return mcp.GenerateParamHeaders(tool, m.Bytes(m.Params))
}
