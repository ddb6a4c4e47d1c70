package proxy

import (
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/proxy/shelf"
)

// view is what a front serves by one configuration. It is replaced by a reload
// and never changed.
type view struct {
	*shelf.View
	direct  *config.Toolbox // the one that is served directly; nil if all are, or it is not there any more
	control *control
}
