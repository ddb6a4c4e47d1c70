// Package example is a command workflow that runs as it is: the desk of a small bookshop, and the shop behind it, an
// MCP server in this process that keeps its orders in memory.
//
// [Files] is the folder of the workflow, to be read with command.Load and the tools of a [Shop]; the Shop is also the
// command.Caller that its commands need.
package example

import (
	"embed"
	"io/fs"
)

// The names under which the commands know the shop.
const (
	Toolbox = "example"
	Server  = "shop"
)

//go:embed files
var files embed.FS

// Files gives the folder of the workflow, which does not change.
func Files() fs.FS {
	folder, err := fs.Sub(files, "files")
	if err != nil {
		panic("the embedded workflow has no folder: " + err.Error())
	}
	return folder
}
