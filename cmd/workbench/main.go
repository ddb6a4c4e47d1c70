// Command workbench is one entry in an MCP client's configuration with any
// number of MCP servers behind it.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}, os.Environ()))
}
