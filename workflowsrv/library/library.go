// Package library holds the workflows that are part of the program: one JSON file each, named by its id. They keep to
// the published workflow schema v0.2.0, so that any server of that format can run them.
package library

import (
	"embed"
	"io/fs"
)

//go:embed *.json
var files embed.FS

// Files gives the workflow files, at the root of a file system that does not change.
func Files() fs.FS { return files }
