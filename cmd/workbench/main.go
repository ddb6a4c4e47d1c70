// Command workbench is one entry in an MCP client's configuration with any number of MCP servers behind it.
package main

import (
	"context"
	"io"
	"log"
	"os"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/footprint"
)

func main() {
	footprint.Start()
	log.SetOutput(io.Discard) // net/http writes there what servers send, at length, and waits until somebody reads it
	os.Exit(run(context.Background(), os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Environ()))
}
