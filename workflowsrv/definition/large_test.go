package definition_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// A folder costs no more memory than its first 8 MiB do, and a file is read and judged once, as long as it stays the
// same.
func TestFaultG82_LargeFolder(t *testing.T) {
	dir := t.TempDir()
	large := func(id string) string {
		var steps []string
		for i := range 2000 {
			steps = append(steps, fmt.Sprintf(`{"id":"step%d","title":"Step %d","prompt":%q,"runCondition":{"var":"a%d","equals":"x"}}`, i, i, strings.Repeat("word ", 75), i%7))
		}
		return fmt.Sprintf(`{"id":%q,"name":"n","description":"d","version":"1.0.0","steps":[`, id) + strings.Join(steps, ",") + "]}"
	}
	for i := range 16 {
		write(t, dir, fmt.Sprintf("w%02d.json", i), large(fmt.Sprintf("large-%02d", i)))
	}
	write(t, dir, "zz.json", workflow("behind", "behind the others"))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	store := definition.NewStore([]definition.Source{{Origin: definition.Project, Dir: dir}})
	const want = "only the first 8 MiB are read"
	c := store.Catalogue()
	for range 30 { // on a slow machine one look does not read them all
		if c.Sources[0].Err == want {
			break
		}
		definition.MarkDirty(store)
		c = store.Catalogue()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if got := int64(after.HeapAlloc) - int64(before.HeapAlloc); got > 96<<20 {
		t.Errorf("got %d MiB kept of a folder", got>>20)
	}
	if len(c.Entries) == 0 || len(c.Entries) > 9 || c.Sources[0].Err != want {
		t.Fatalf("got %d workflows and %q, want at most nine and %q", len(c.Entries), c.Sources[0].Err, want)
	}
	// One file is changed: the others are not judged again.
	write(t, dir, "w00.json", workflow("small", "small"))
	definition.MarkDirty(store)
	now := store.Catalogue()
	if now.Entry("small") == nil || len(now.Entries) < len(c.Entries) {
		t.Fatalf("got %d workflows after a change, want the small one among them", len(now.Entries))
	}
	for _, e := range c.Entries[1:] {
		if other := now.Entry(e.ID); other == nil || other.Workflow != e.Workflow {
			t.Errorf("%s was read again, though %s is as it was", e.ID, filepath.Base(e.File))
		}
	}
}
