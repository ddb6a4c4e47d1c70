package proxy

import "github.com/mcp-workbench/workbench/proxy/shelf"

// view is what a front serves by one configuration. It is replaced by a reload and never changed.
type view struct {
	*shelf.View
	control *control
}
