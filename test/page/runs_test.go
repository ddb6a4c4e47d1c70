//go:build linux

package page

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

const tidyUp = `id: tidy-up
name: Tidy up
description: Finds one thing in this project that is worth tidying up, and tidies it up.
version: 1.0.0
steps:
  - {id: look, title: Look around, prompt: Find one thing.}
  - {id: tidy, title: Tidy it up, prompt: Tidy it up., requireConfirmation: true}
  - {id: report, title: Report, prompt: Say what has changed.}
  - id: where
    title: Where to
    type: ask
    prompt: Where shall the report go?
`

// A run of a workflow is on the page with all that happened in it, what it asks is answered there, and the agent goes
// on.
func TestARunIsAnsweredOnThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"toolboxes": {"box": {"mcpServers": {"workflow": {"builtin": "workflow", "workflows": ["workflows"]}}}}}`)
	if err := os.MkdirAll(w.path("workflows"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.path("workflows"), "tidy-up.yaml"), []byte(tidyUp), 0o600); err != nil {
		t.Fatal(err)
	}
	client := w.client()
	use := func(tool, arguments string) string {
		t.Helper()
		return string(client.Result("tools/call", `{"name":"workbench_use_tool","arguments":{"toolbox_name":"box","tool_name":"`+tool+`","arguments":`+arguments+`}}`))
	}
	begun := use("workflow_start", `{"workflowId":"tidy-up","goal":"Tidy up the shop"}`)
	id := regexp.MustCompile(`run-[0-9a-z]+`).FindString(begun)
	if id == "" {
		t.Fatalf("no run has begun: %s", begun)
	}
	next := func(step string) string {
		t.Helper()
		return use("workflow_next", `{"run":"`+id+`","step":"`+step+`","notes":"The README names <b>a file</b> that is gone."}`)
	}
	tb := w.visit(w.ui())
	tb.sees("main h1", "Servers")
	tb.show("runs")
	tb.sees(".card[data-run]", "Tidy up the shop")
	next("look")
	tb.sees(`.card[data-run] .chip`, "waits for a person")
	tb.sees(`nav a[data-path="runs"] .badge`, "1")
	tb.shot("runs")
	eval[any](tb, `document.querySelector(".card[data-run]").click(), 1`)
	tb.sees(".ask", "comes to the step")
	tb.sees(".event", "<b>a file</b>")
	tb.shot("run")
	tb.press("Agree")
	tb.sees(".event.good", "person:page")
	tb.wait("nothing is asked any more", `!document.querySelector(".ask")`)
	next("tidy")
	next("report")
	tb.sees(".ask", "Where shall the report go?")
	tb.press("Answer")
	tb.sees(".ask .fault", "empty")
	eval[any](tb, `document.querySelector("#answer").value = "To the wall", 1`)
	tb.press("Answer")
	tb.sees(".event.good", "To the wall")
	use("workflow_next", `{"run":"`+id+`"}`)
	tb.sees(".chip", "finished")
	tb.look("light", 390)
	tb.shot("phone")
	if wide := eval[bool](tb, "document.documentElement.scrollWidth > innerWidth"); wide {
		t.Error("a run is wider than a phone")
	}
}
