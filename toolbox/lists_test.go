package toolbox_test

import (
	"testing"
	"testing/synctest"

	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/toolbox"
)

// A lock file is not made of lists that are still being read: an open does not wait for these, and what is missing
// would be taken for gone.
func TestLockableWaits(t *testing.T) {
	for _, method := range []string{"prompts/list", "resources/templates/list", "skills/list"} {
		synctest.Test(t, func(t *testing.T) {
			b, s := within(t, toolbox.Options{}, always(&mcptest.Server{
				Silent: []string{method}, Prompts: []string{`{"name":"greet"}`}, Resources: []string{`{"name":"r","uri":"a:1"}`}, Skills: []string{"git"},
			}))
			if err := b.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			if items, err := s.Lockable(t.Context()); err == nil {
				t.Errorf("%s: got %d items, want an error: what is in the list is not known", method, len(items))
			}
		})
	}
}
