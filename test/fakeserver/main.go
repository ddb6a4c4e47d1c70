// Command fakeserver is the server of package mcptest, for tests that need one as a process of its own. It is small and
// built without -race, so that a start takes a tenth of what the test's own binary would take.
package main

import "github.com/mcp-workbench/workbench/internal/mcptest"

func main() { mcptest.Program() }
