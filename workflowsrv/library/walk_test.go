package library_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

// TestWalks leads an agent through every workflow in the ways the work can go. sets names what the agent sets after a
// step; where a step comes again, the next of its texts counts, and the last one from then on.
func TestWalks(t *testing.T) {
	all, seen := workflows(t), map[string]bool{}
	for _, tt := range []struct {
		name, workflow string
		sets           map[string][]string
		want           string
		confirmed      string // steps before which the user is asked
	}{
		{
			name: "a small change", workflow: "implement-change",
			sets: map[string][]string{
				"understand-request": {`{"changeSize":"small","touchesData":false,"acceptanceChecks":["x"]}`},
				"measure-baseline":   {`{"baselineGreen":true}`},
				"make-small-change":  {`{"checksFail":false}`},
			},
			want: "understand-request survey-code measure-baseline write-failing-test make-small-change read-own-diff show-evidence",
		},
		{
			name: "a large change over a red baseline that touches data", workflow: "implement-change",
			sets: map[string][]string{
				"understand-request": {`{"changeSize":"large","touchesData":true,"acceptanceChecks":["x"]}`},
				"measure-baseline":   {`{"baselineGreen":false}`},
				"design-change":      {`{"workItems":[{"title":"a","files":["a.go"],"check":"go test"},{"title":"b","files":["b.go"],"check":"go test"}]}`},
				"check-piece":        {`{"checksFail":false}`, `{"checksFail":true}`},
				"mend-one-failure":   {`{"checksFail":true}`, `{"checksFail":false}`},
			},
			want: "understand-request survey-code measure-baseline settle-red-baseline design-change plan-way-back write-failing-test " +
				"edit-piece check-piece edit-piece check-piece mend-one-failure mend-one-failure read-own-diff show-evidence",
			confirmed: "settle-red-baseline design-change plan-way-back",
		},
		{
			name: "a regression that is found by bisection", workflow: "find-bug",
			sets: map[string][]string{
				"state-bug": {`{"regression":true}`}, "reproduce-bug": {`{"reproduced":"always"}`}, "form-hypotheses": {`{"causeFound":false}`},
				"test-one-hypothesis": {`{}`, `{"causeFound":true}`}, "explain-cause": {`{"fixIsWide":false}`},
			},
			want: "state-bug reproduce-bug search-history form-hypotheses test-one-hypothesis test-one-hypothesis explain-cause fix-cause close-bug",
		},
		{
			name: "a bug that comes and goes, with a wide fix", workflow: "find-bug",
			sets: map[string][]string{
				"state-bug": {`{"regression":true}`}, "reproduce-bug": {`{"reproduced":"sometimes"}`}, "form-hypotheses": {`{"causeFound":false}`},
				"test-one-hypothesis": {`{"causeFound":true}`}, "explain-cause": {`{"fixIsWide":true}`},
			},
			want:      "state-bug reproduce-bug make-it-certain form-hypotheses test-one-hypothesis explain-cause fix-cause close-bug",
			confirmed: "fix-cause",
		},
		{
			name: "a bug that is never seen and never explained", workflow: "find-bug",
			sets: map[string][]string{
				"state-bug": {`{"regression":false}`}, "reproduce-bug": {`{"reproduced":"never"}`}, "form-hypotheses": {`{"causeFound":false}`},
			},
			want:      "state-bug reproduce-bug gather-evidence form-hypotheses " + strings.Repeat("test-one-hypothesis ", 8) + "hand-over-open",
			confirmed: "gather-evidence hand-over-open",
		},
		{
			name: "a quick review", workflow: "review-change",
			sets: map[string][]string{"open-change": {`{"changedFiles":["a.go"],"reviewDepth":"quick","touchesSecurity":false,"touchesConcurrency":false,"touchesInterface":false}`}},
			want: "open-change expect-first run-checks read-quickly judge-tests verify-findings write-review",
		},
		{
			name: "a full review of everything", workflow: "review-change",
			sets: map[string][]string{"open-change": {`{"changedFiles":["a.go","b.go","c.go"],"reviewDepth":"full","touchesSecurity":true,"touchesConcurrency":true,"touchesInterface":true}`}},
			want: "open-change expect-first run-checks read-one-file read-one-file read-one-file look-for-holes look-for-races look-at-promises judge-tests verify-findings write-review",
		},
		{
			name: "tests where there are some", workflow: "write-test-suite",
			sets: map[string][]string{
				"learn-promises": {`{"targets":[{"name":"parse","file":"p.go","risk":"r"}],"hasRunner":true}`}, "write-cases": {`{"bugsFound":false}`}, "steady-suite": {`{"flaky":false}`},
			},
			want: "learn-promises learn-customs list-cases write-cases break-target steady-suite hand-over-suite",
		},
		{
			name: "first tests, flaky, with a bug", workflow: "write-test-suite",
			sets: map[string][]string{
				"learn-promises": {`{"targets":[{"name":"a","file":"a.go","risk":"r"},{"name":"b","file":"b.go","risk":"r"}],"hasRunner":false}`},
				"write-cases":    {`{"bugsFound":false}`, `{"bugsFound":true}`}, "steady-suite": {`{"flaky":true}`}, "calm-one-test": {`{"flaky":false}`},
			},
			want:      "learn-promises choose-runner list-cases write-cases break-target write-cases break-target steady-suite calm-one-test report-bugs hand-over-suite",
			confirmed: "choose-runner report-bugs",
		},
		{
			name: "a new reference", workflow: "write-documentation",
			sets: map[string][]string{"name-reader": {`{"docKind":"reference","renews":false,"docPath":"docs/x.md"}`}, "draw-outline": {`{"sections":[{"heading":"a","purpose":"p"}]}`}},
			want: "name-reader collect-facts draw-outline write-section try-section compare-with-code cut-and-polish publish-document", confirmed: "draw-outline",
		},
		{
			name: "a tutorial renewed, which cannot be walked at first", workflow: "write-documentation",
			sets: map[string][]string{
				"name-reader": {`{"docKind":"tutorial","renews":true,"docPath":"docs/x.md"}`}, "draw-outline": {`{"sections":[{"heading":"a","purpose":"p"},{"heading":"b","purpose":"q"}]}`},
				"walk-whole-way": {`{"walkFailed":true}`}, "mend-and-walk": {`{"walkFailed":false}`},
			},
			want:      "name-reader collect-facts audit-old-text draw-outline write-section try-section write-section try-section walk-whole-way mend-and-walk cut-and-polish publish-document",
			confirmed: "draw-outline",
		},
		{
			name: "a library replaced", workflow: "plan-migration",
			sets: map[string][]string{"name-the-move": {`{"migrationKind":"dependency","movesData":false,"staysOnline":false}`}, "list-unknowns": {`{"unknowns":[]}`}},
			want: "name-the-move count-uses list-unknowns choose-strategy write-stages rehearse decide", confirmed: "choose-strategy rehearse",
		},
		{
			name: "an interface replaced online, with its data", workflow: "plan-migration",
			sets: map[string][]string{
				"name-the-move": {`{"migrationKind":"interface","movesData":true,"staysOnline":true}`}, "list-unknowns": {`{"unknowns":[{"question":"q?","experiment":"e"},{"question":"r?","experiment":"f"}]}`},
			},
			want:      "name-the-move count-uses list-unknowns try-one-unknown try-one-unknown choose-strategy plan-the-data plan-the-callers plan-staying-online write-stages rehearse decide",
			confirmed: "choose-strategy rehearse",
		},
		{
			name: "an outage that is over and explained", workflow: "investigate-outage",
			sets: map[string][]string{"take-stock": {`{"ongoing":false,"dataAtRisk":false,"causeFound":false}`}, "test-explanation": {`{"causeFound":true}`}},
			want: "take-stock build-timeline test-explanation ask-wider choose-actions write-report", confirmed: "write-report",
		},
		{
			name: "an outage going on, with damage and without explanation", workflow: "investigate-outage",
			sets: map[string][]string{"take-stock": {`{"ongoing":true,"dataAtRisk":true,"causeFound":false}`}, "act-and-measure": {`{"ongoing":true}`, `{"ongoing":false}`}},
			want: "take-stock choose-relief act-and-measure act-and-measure find-damage build-timeline " + strings.Repeat("test-explanation ", 8) +
				"say-what-is-open ask-wider choose-actions write-report",
			confirmed: "choose-relief act-and-measure act-and-measure find-damage say-what-is-open write-report",
		},
		{
			name: "made fast enough", workflow: "improve-performance",
			sets: map[string][]string{
				"build-measurement": {`{"goalReached":false}`}, "list-ideas": {`{"ideas":[{"idea":"a","place":"x.go:1","mayGain":"5%"},{"idea":"b","place":"x.go:2","mayGain":"4%"}]}`},
				"try-one-idea": {`{"goalReached":true}`},
			},
			want: "set-goal build-measurement guard-results profile list-ideas try-one-idea try-one-idea check-under-load keep-it-fast", confirmed: "list-ideas",
		},
		{
			name: "not made fast enough", workflow: "improve-performance",
			sets: map[string][]string{"build-measurement": {`{"goalReached":false}`}, "list-ideas": {`{"ideas":[{"idea":"a","place":"x.go:1","mayGain":"5%"}]}`}},
			want: "set-goal build-measurement guard-results profile list-ideas try-one-idea decide-shortfall check-under-load keep-it-fast", confirmed: "list-ideas decide-shortfall",
		},
		{
			name: "a plain workflow", workflow: "author-workflow",
			sets: map[string][]string{"describe-work": {`{"hasBranches":false,"hasLoops":false}`}, "assemble-file": {`{"fileIsValid":false}`}, "check-file": {`{"fileIsValid":true}`}},
			want: "describe-work learn-format cut-steps write-prompts write-criteria assemble-file check-file walk-branches try-for-real",
		},
		{
			name: "a workflow with branches and loops", workflow: "author-workflow",
			sets: map[string][]string{"describe-work": {`{"hasBranches":true,"hasLoops":true}`}, "assemble-file": {`{"fileIsValid":false}`}, "check-file": {`{}`, `{"fileIsValid":true}`}},
			want: "describe-work learn-format cut-steps plan-branches plan-loops write-prompts write-criteria assemble-file check-file check-file walk-branches try-for-real",
		},
	} {
		t.Run(tt.workflow+"/"+tt.name, func(t *testing.T) {
			got, confirmed := lead(t, all[tt.workflow], tt.sets)
			if want := strings.TrimSpace(tt.want); got != want {
				t.Errorf("steps: got\n%s\nwant\n%s", got, want)
			}
			if confirmed != tt.confirmed {
				t.Errorf("confirmed: got %q, want %q", confirmed, tt.confirmed)
			}
			for _, id := range strings.Fields(got) {
				seen[tt.workflow+"/"+id] = true
			}
		})
	}
	for id, w := range all {
		visit(w, func(s *definition.Step) {
			if s.Loop == nil && !seen[id+"/"+s.ID] {
				t.Errorf("%s/%s: no walk comes by", id, s.ID)
			}
		})
	}
}

// lead follows a workflow to its end and gives the ids of the steps, and of those before which the user is asked.
func lead(t *testing.T, w *definition.Workflow, sets map[string][]string) (steps, confirmed string) {
	t.Helper()
	request := stepping.Request{Context: map[string]any{}}
	visits := map[string]int{}
	var ids, asked []string
	for range 100 {
		a, err := stepping.Next(t.Context(), w, request)
		if err != nil {
			t.Fatalf("after %q: %v", ids, err)
		}
		if a.IsComplete {
			return strings.Join(ids, " "), strings.Join(asked, " ")
		}
		if a.Step == nil {
			t.Fatalf("after %q: no step, missing %+v", ids, a.Missing)
		}
		id := a.Step.ID
		ids = append(ids, id)
		if a.RequiresConfirmation {
			asked = append(asked, id)
		}
		if w.ID != "author-workflow" && strings.Contains(a.Prompt, "{{") {
			t.Errorf("%s: the prompt has a placeholder that nothing fills:\n%s", id, a.Prompt)
		}
		if texts := sets[id]; len(texts) > 0 {
			set := map[string]any{}
			if err := json.Unmarshal([]byte(texts[min(visits[id], len(texts)-1)]), &set); err != nil {
				t.Fatal(err)
			}
			maps.Copy(request.Context, set)
		}
		visits[id]++
		request.Completed, request.State = append(request.Completed, id), a.State
	}
	t.Fatalf("no end: %q", ids)
	return "", ""
}
