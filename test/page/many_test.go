//go:build linux

package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// Each definition is measured once, however many toolboxes there are and however often the filter changes: with ten
// thousand tools in fifty toolboxes the page would otherwise stand still for a minute at each letter.
func TestDefinitionsAreMeasuredOnce(t *testing.T) {
	t.Parallel()
	const boxes, each = 5, 20
	w := newWorld(t, "")
	all := map[string]any{}
	for b := range boxes {
		names := make([]string, each)
		for i := range names {
			names[i] = fmt.Sprintf("tool_%d_%d", b, i)
		}
		all[fmt.Sprintf("box%d", b)] = map[string]any{"description": "Many", "mcpServers": map[string]any{"one": server("tools=" + strings.Join(names, ","))}}
	}
	w.write(wiretest.JSON(map[string]any{"openTimeout": "2m", "toolboxes": all}))
	w.run("index")
	tb := w.visit(w.ui())
	tb.sees("main h1", "Servers")
	eval[any](tb, `(() => { window.measured = 0; const real = JSON.stringify;
		JSON.stringify = (v, ...more) => { if (v?.inputSchema) window.measured++; return real(v, ...more); } })()`)
	tb.show("tools")
	tb.wait("all tools are listed", fmt.Sprintf(`document.querySelectorAll(".tools a").length === %d`, boxes*each))
	for _, words := range []string{"tool_3", "tool_3_7", ""} {
		eval[any](tb, fmt.Sprintf(`(() => { const f = document.querySelector("main input[type=search]"); f.value = %q; f.oninput(); })()`, words))
	}
	if n := eval[int](tb, "window.measured"); n != boxes*each {
		t.Errorf("%d definitions were measured %d times", boxes*each, n)
	}
}
