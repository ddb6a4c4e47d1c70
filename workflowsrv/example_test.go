package workflowsrv_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/library"
)

// The bare form over streams: what "workbench workflow serve --bare" does.
func ExampleServer_Bare() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	server := workflowsrv.New(workflowsrv.Options{Sources: definition.Layers{Embedded: library.Files()}.Sources()})
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}}
{"jsonrpc":"2.0","id":2,"method":"workflow_get","params":{"id":"nobody"}}
{"jsonrpc":"2.0","id":3,"method":"shutdown"}
`)
	var out strings.Builder
	if err := wire.Serve(ctx, in, &out, server.Bare(nil), wire.ServeOptions{}); err != nil {
		fmt.Println(err)
	}
	fmt.Print(out.String()[strings.Index(out.String(), "\n")+1:])
	// Output:
	// {"jsonrpc":"2.0","id":2,"error":{"code":-32001,"message":"Workflow not found","data":{"workflowId":"nobody"}}}
	// {"jsonrpc":"2.0","id":3,"result":null}
}
