package opening

import (
	"fmt"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/tokencount"
	"github.com/mcp-workbench/workbench/proxy/meta"
)

// Costs says what the definitions of tools cost whose sizes are given for each toolbox.
func Costs(cfg *config.Config, sizes map[string]int) string {
	all, told := 0, meta.AtOnce(cfg)
	for name, size := range sizes {
		all += size
		if t, ok := cfg.Toolbox(name); ok && t.Open && cfg.ToolMode != config.ToolModeSearch {
			told += size
		}
	}
	return fmt.Sprintf("all definitions are %d tokens; a client is told %d at once (toolMode %s)", tokencount.Of(all), tokencount.Of(told), cfg.ToolMode)
}
