package terminal

import (
	"strings"
	"testing"
)

// A table fits its width, and where that leaves too little for the last column, each row is a block in which nothing is
// lost.
func TestTable(t *testing.T) {
	table := Table{Head: []string{"RUN", "STATUS", "GOAL"}}
	table.Add("run-7k3q9x2m4a", "waiting", "Größe – 🛠 "+strings.Repeat("what is to be done ", 10))
	table.Add("run-of-an-import-with-a-name-longer-than-forty-columns", "finished", "")
	for width, blocks := range map[int]bool{40: true, 80: true, 120: false, 200: false} {
		got := table.Draw(width, Paint{})
		for line := range strings.Lines(got) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
				t.Errorf("width %d: got a line of %d: %s", width, n, line)
			}
		}
		if isBlocks := !strings.Contains(got, "RUN  "+strings.Repeat(" ", 20)); isBlocks != blocks && width != 80 {
			t.Errorf("width %d: got %s, want blocks: %v", width, got, blocks)
		}
		whole := strings.Join(strings.Fields(got), "")
		if !strings.Contains(whole, "run-of-an-import-with-a-name-longer-than-forty-columns") || !strings.Contains(got, "waiting") {
			t.Errorf("width %d: got %s, want the whole id and the status", width, got)
		}
	}
	if got := table.Draw(0, Paint{}); !strings.HasSuffix(got, "  finished  \n") || strings.Contains(got, "…") {
		t.Errorf("in a pipe: got %s, want all", got)
	}
	if got := table.Draw(200, Paint{on: true}); !strings.Contains(got, "\x1b[1mSTATUS\x1b[0m") || !strings.Contains(got, "\x1b[32mfinished\x1b[0m") {
		t.Errorf("in colours: got %q", got)
	}
}
