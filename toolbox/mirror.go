package toolbox

import (
	"bytes"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox/offered"
)

// mirrors are the tools of a remote server that have arguments repeated in HTTP
// headers (specification 2026-07-28, tools, "x-mcp-header").
type mirrors struct {
	mu    sync.Mutex
	tools map[string]*mcp.Tool // by name; only their schemas are set
}

// note takes an entry of the list of tools. It reports whether the tool may be
// used: one whose annotations are faulty must not be.
func (ms *mirrors) note(it offered.Item) bool {
	var tool *mcp.Tool
	if bytes.Contains(it.Raw, []byte("x-mcp-header")) {
		schema, err := wire.FindPath(it.Raw, wire.Span{Start: 0, End: len(it.Raw)}, "inputSchema")
		if err != nil || !schema.Present() {
			return err == nil
		}
		tool = &mcp.Tool{RawInputSchema: it.Raw[schema.Start:schema.End]}
		if mcp.ValidateParamHeaderAnnotations(tool) != nil {
			return false
		}
	}
	ms.mu.Lock()
	defer ms.mu.Unlock()
	switch {
	case tool == nil:
		delete(ms.tools, it.Key.Verbatim())
	case ms.tools == nil:
		ms.tools = map[string]*mcp.Tool{it.Key.Verbatim(): tool}
	default:
		ms.tools[it.Key.Verbatim()] = tool
	}
	return true
}

// headers are those of a tools/call with these params.
func (ms *mirrors) headers(m *wire.Message) map[string]string {
	span, err := wire.FindPath(m.Raw, m.Params, "name")
	name, ok := wire.Unquote(m.Bytes(span))
	if err != nil || !ok {
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
