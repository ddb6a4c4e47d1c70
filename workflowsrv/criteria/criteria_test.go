package criteria_test

import (
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

func TestCheckContains(t *testing.T) {
	c, err := criteria.Parse([]any{map[string]any{"type": "contains", "value": "JWT", "message": "Mention JWT"}})
	if err != nil {
		t.Fatal(err)
	}
	for output, want := range map[string]bool{"uses a JWT": true, "uses a cookie": false} {
		if got := c.Check(t.Context(), output, nil, criteria.Options{}); got.Valid != want {
			t.Errorf("%q: got %+v, want valid %v", output, got, want)
		}
	}
}
