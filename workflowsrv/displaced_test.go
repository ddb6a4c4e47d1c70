package workflowsrv_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// A project's workflow that takes the place of another is told for what it is to who follows it, and in the log.
func TestFaultG43_DisplacedWorkflow(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	text := func(id string) string {
		return fmt.Sprintf(`{"id":%q,"name":"n","description":"d","version":"1.0.0","steps":[{"id":"one","title":"t","prompt":"p"}]}`, id)
	}
	own, cloned := filepath.Join(home, ".workbench", "workflows"), filepath.Join(project, "workflows")
	for file, id := range map[string]string{
		filepath.Join(own, "deploy.json"): "deploy", filepath.Join(own, "mine.json"): "mine", filepath.Join(own, "built-in-too.json"): "built-in-too",
		filepath.Join(cloned, "x.json"): "find-bug", filepath.Join(cloned, "y.json"): "deploy", filepath.Join(cloned, "z.json"): "theirs",
		filepath.Join(project, ".workbench", "workflows", "z.json"): "theirs",
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text(id)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	layers := definition.Layers{Home: home, Project: project, Embedded: fstest.MapFS{
		"find-bug.json": {Data: []byte(text("find-bug"))}, "built-in-too.json": {Data: []byte(text("built-in-too"))},
	}}
	p := greeted(t, workflowsrv.New(workflowsrv.Options{Sources: layers.Sources(), Logger: zerolog.New(&log)}))
	for id, want := range map[string]string{
		"find-bug": "the workflow find-bug is the project's, " + filepath.Join(cloned, "x.json") + ", instead of the one with this id that is part of workbench",
		"deploy":   "the workflow deploy is the project's, " + filepath.Join(cloned, "y.json") + ", instead of " + filepath.Join(own, "deploy.json"),
		"mine":     "", "theirs": "", "built-in-too": "", // which the user has replaced
	} {
		got := p.ask(call(1, "workflow_next", map[string]any{"workflowId": id, "completedSteps": []string{}}))
		want = strings.ReplaceAll(want, `\`, `\\`) // as JSON has it
		if want == "" && strings.Contains(got, "warnings") || !strings.Contains(got, want) || !strings.Contains(got, `"id":"one"`) {
			t.Errorf("%s: got %s, want the step, and the warning %q", id, got, want)
		}
		if want != "" && strings.Count(log.String(), want) != 1 {
			t.Errorf("%s: got the log %s, want %q once", id, &log, want)
		}
	}
	if n := strings.Count(log.String(), "a workflow of the project replaces"); n != 2 {
		t.Errorf("got %d lines in the log, want 2:\n%s", n, &log)
	}
}
