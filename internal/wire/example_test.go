package wire_test

import (
	"fmt"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// A call is passed on under another id and to another tool; all else stays as it was written.
func Example() {
	raw := []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"dev__git__log", "arguments":{"max":1e2}}}`)
	var m wire.Message
	if err := wire.Scan(raw, &m); err != nil {
		fmt.Println(err)
		return
	}
	name, err := wire.FindPath(raw, m.Params, "name")
	if err != nil || !m.IsMethod("tools/call") {
		fmt.Println("not a call:", err)
		return
	}
	fmt.Printf("%s\n", wire.Splice(nil, raw,
		wire.Edit{Span: m.ID, New: []byte(`"w-1"`)},
		wire.Edit{Span: name, New: []byte(`"log"`)},
	))
	// Output: {"jsonrpc":"2.0","id":"w-1","method":"tools/call","params":{"name":"log", "arguments":{"max":1e2}}}
}
