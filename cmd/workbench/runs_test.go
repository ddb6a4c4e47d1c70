package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
)

// A list has as many runs as were asked for, words are looked for in all, and whether there are more is said.
func TestRunsList(t *testing.T) {
	const runs = 1002
	dir := t.TempDir()
	t.Chdir(dir)
	workbench := func(in string, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if code := run(t.Context(), args, cli.Streams{In: strings.NewReader(in), Out: &out, Err: &out}, []string{"HOME=" + dir}); code != 0 {
			t.Errorf("workbench %q: got exit code %d and %s", args, code, &out)
		}
		return out.String()
	}
	var lines strings.Builder
	for i := range runs {
		goal := "mend the rest"
		if i == 0 {
			goal = "find the oldest"
		}
		fmt.Fprintf(&lines, `{"user_id":"ada","run":"run-%010d","workflow":"w","created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:%02d:%02dZ","head":{"status":"running","goal":%q},"definition":{"id":"w"},"events":[{"kind":"started","at":"2026-01-02T03:04:05Z"}]}`+"\n",
			i, i/60, i%60, goal)
	}
	if got, want := workbench(lines.String(), "runs", "import", "-"), "1002 runs kept, 0 left as they were\n"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	for _, c := range []struct{ args, want string }{
		{"--limit 1", "\n1 run; there are more, which a greater --limit shows\n"},
		{"--limit 4000", "\n1002 runs\n"},
		{"--limit 9223372036854775807", "\n1002 runs\n"},
		{"oldest", "\n1 run\n"},
		{"mend --limit 1001", "\n1001 runs\n"},
		{"mend --limit 1000", "\n1000 runs; there are more, which a greater --limit shows\n"},
	} {
		if got := workbench("", append([]string{"runs", "list"}, strings.Fields(c.args)...)...); !strings.HasSuffix(got, c.want) {
			t.Errorf("list %s: got %s at its end, want %q", c.args, got[max(0, len(got)-200):], c.want)
		}
	}
	if got := workbench("", "runs", "list", "--limit", "2", "--json"); strings.Count(got, `"run":`) != 2 || !strings.Contains(got, `"run-0000001001"`) || !strings.Contains(got, `"run-0000001000"`) {
		t.Errorf("got %s, want the latest two", got)
	}
}
