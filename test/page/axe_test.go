//go:build linux

package page

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// finding is what axe-core has against a page.
type finding struct {
	ID, Impact, Help string
	Nodes            []struct {
		HTML           string
		FailureSummary string
	}
}

// axe is axe-core, without which the test is skipped.
func axe(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "npm", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		if os.Getenv("WORKBENCH_REQUIRE_NPM") == "1" {
			t.Fatalf("axe-core is required and not installed: %v", err)
		}
		t.Skipf("axe-core is not installed (make test does it): %v", err)
	}
	return string(text)
}

// findings are what axe-core has against the page as it is now.
func (tb *tab) findings(axe string) (all []finding) {
	tb.t.Helper()
	if !eval[bool](tb, "!!window.axe") {
		eval[any](tb, `(0, eval)(`+wiretest.JSON(axe)+`), 1`)
	}
	text := eval[string](tb, `axe.run(document, {resultTypes: ["violations"]}).then((r) => JSON.stringify(r.violations))`)
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		tb.t.Fatal(err)
	}
	return all
}

func (f finding) String() string {
	text := fmt.Sprintf("%s, %s: %s", f.Impact, f.ID, f.Help)
	for _, n := range f.Nodes {
		text += fmt.Sprintf("\n\t%.200s\n\t\t%s", n.HTML, n.FailureSummary)
	}
	return text
}
