package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// The kinds of artifacts that mean something.
const (
	loopControl    = "wr.loop_control"
	assessmentKind = "wr.assessment"
	contractPrefix = "wr.contracts."
)

// A submission is what an agent says of a step that it has done.
type submission struct {
	output, notes string
	artifacts     []json.RawMessage
}

// A refusal is why a submission does not do, with what would.
type refusal struct {
	reasons   []Reason
	output    string   // that would do, "" if none is known
	artifacts []string // that are lacking, as JSON
}

func (r *refusal) add(what, why string) { r.reasons = append(r.reasons, Reason{what, why}) }

// judge says why a submission does not do; a refusal without reasons means that it does.
func judge(ctx context.Context, w *definition.Workflow, s *definition.Step, loop string, sub submission, variables map[string]any, opts criteria.Options) refusal {
	var r refusal
	if s.Criteria != nil {
		r.judgeOutput(ctx, s, sub, variables, opts)
	}
	r.judgeArtifacts(w, s, loop, sub)
	if len(r.reasons) == 0 && !s.NotesOptional && strings.TrimSpace(sub.notes+sub.output) == "" && len(sub.artifacts) == 0 {
		r.add("nothing says what the step brought", "whoever continues this run later reads it")
		r.output = ""
	}
	return r
}

func (r *refusal) judgeOutput(ctx context.Context, s *definition.Step, sub submission, variables map[string]any, opts criteria.Options) {
	verdict := s.Criteria.Check(ctx, sub.output, variables, opts)
	if verdict.Valid() {
		return
	}
	if strings.TrimSpace(sub.output) == "" {
		r.add("output is required: it is checked before the next step", "")
	}
	why := strings.Join(verdict.Suggestions[min(1, len(verdict.Suggestions)):], " ")
	for i, issue := range verdict.Issues() {
		if i > 0 {
			why = ""
		}
		r.add(issue, why)
	}
	if sample := sampleFor(wire.Get(s.JSON, wire.Whole(s.JSON), "validationCriteria")); sample != "" && s.Criteria.Check(ctx, sample, variables, opts).Valid() {
		r.output = sample
	}
}

// judgeArtifacts wants those of the contract and of the assessments of a step.
func (r *refusal) judgeArtifacts(w *definition.Workflow, s *definition.Step, loop string, sub submission) {
	byKind := map[string][]json.RawMessage{}
	for i, text := range sub.artifacts {
		var a struct {
			Kind string `json:"kind"`
		}
		if json.Unmarshal(text, &a) != nil || a.Kind == "" {
			r.add(fmt.Sprintf(`artifact %d has no "kind"`, i+1), "an artifact is an object, whose kind says what it is")
			continue
		}
		byKind[a.Kind] = append(byKind[a.Kind], text)
	}
	for _, text := range byKind[loopControl] {
		var a struct{ LoopID, Decision string }
		if err := json.Unmarshal(text, &a); err != nil || a.Decision != "continue" && a.Decision != "stop" {
			r.add(`the artifact `+loopControl+` needs a "decision", "continue" or "stop"`, "it decides whether the loop runs once more")
			r.artifacts = append(r.artifacts, loopSample(loop))
		} else if a.LoopID != "" && !hasLoop(w, a.LoopID) {
			r.add(fmt.Sprintf("the artifact %s names the loop %q, which this workflow does not have", loopControl, cut.Short(a.LoopID)), "")
			r.artifacts = append(r.artifacts, loopSample(loop))
		}
	}
	if s.Contract != "" && !s.ContractOptional {
		kind := "wr." + strings.TrimPrefix(s.Contract, contractPrefix)
		if len(byKind[kind]) == 0 {
			r.add("an artifact of the kind "+kind+" is lacking", "the contract "+s.Contract+" of this step wants it")
			sample := fmt.Sprintf(`{"kind":%q}`, kind)
			if kind == loopControl {
				sample = loopSample(loop)
			}
			r.artifacts = append(r.artifacts, sample)
		}
	}
	r.judgeAssessments(s, byKind[assessmentKind])
}

// hasLoop reports whether artifacts can call a loop so: by its id, or by the name that its file gives it.
func hasLoop(w *definition.Workflow, name string) bool {
	for s := range w.All() {
		if s.Loop != nil && (s.ID == name || s.Loop.Name == name) {
			return true
		}
	}
	return false
}

func loopSample(loop string) string {
	if loop == "" {
		return fmt.Sprintf(`{"kind":%q,"decision":"continue"}`, loopControl)
	}
	return fmt.Sprintf(`{"kind":%q,"loopId":%q,"decision":"continue"}`, loopControl, loop)
}

// A rating is an artifact that rates by an assessment.
type rating struct {
	AssessmentID string            `json:"assessmentId"`
	Dimensions   map[string]string `json:"dimensions"`
}

func (r *refusal) judgeAssessments(s *definition.Step, artifacts []json.RawMessage) {
	if len(s.Assessments) == 0 {
		return
	}
	var ratings []rating
	for _, text := range artifacts {
		var one rating
		if err := json.Unmarshal(text, &one); err != nil {
			r.add("an artifact of the kind "+assessmentKind+" cannot be read", `"dimensions" gives each dimension its level, as text`)
		}
		ratings = append(ratings, one)
	}
	for _, a := range s.Assessments {
		at := slices.IndexFunc(ratings, func(one rating) bool { return one.AssessmentID == a.ID })
		if at < 0 && len(s.Assessments) == 1 {
			at = slices.IndexFunc(ratings, func(one rating) bool { return one.AssessmentID == "" })
		}
		if at < 0 {
			r.add(fmt.Sprintf("the assessment %q is lacking", a.ID), "this step is rated before the next one")
			r.artifacts = append(r.artifacts, ratingSample(a))
			continue
		}
		for _, dim := range a.Dimensions {
			level, ok := ratings[at].Dimensions[dim.ID]
			if !ok && dim.Optional || slices.Contains(dim.Levels, level) {
				continue
			}
			r.add(fmt.Sprintf("the assessment %q needs for %q one of: %s", a.ID, dim.ID, strings.Join(dim.Levels, ", ")), "")
			r.artifacts = append(r.artifacts, ratingSample(a))
		}
		for _, c := range s.Consequences {
			if c.For != "" && c.For != a.ID {
				continue
			}
			for _, dim := range slices.Sorted(maps.Keys(ratings[at].Dimensions)) {
				if level := ratings[at].Dimensions[dim]; level == c.Level {
					r.add(fmt.Sprintf("the assessment %q has %q at %q", a.ID, cut.Short(dim), level), c.Guidance)
					break
				}
			}
		}
	}
}

func ratingSample(a *definition.Assessment) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"kind":%q,"assessmentId":%q,"dimensions":{`, assessmentKind, a.ID)
	for i, dim := range a.Dimensions {
		if i > 0 {
			b.WriteByte(',')
		}
		level := ""
		if len(dim.Levels) > 0 {
			level = dim.Levels[len(dim.Levels)-1]
		}
		fmt.Fprintf(&b, `%q:%q`, dim.ID, level)
	}
	b.WriteString("}}")
	return b.String()
}

// template words what would do, as arguments of workflow_next; "" if nothing is known.
func (r refusal) template() string {
	var parts []string
	if r.output != "" {
		parts = append(parts, `"output":`+string(wire.AppendQuote(nil, r.output)))
	}
	if len(r.artifacts) > 0 {
		list := slices.Compact(slices.Clone(r.artifacts))
		parts = append(parts, `"artifacts":[`+strings.Join(list, ",")+`]`)
	}
	return strings.Join(parts, ",")
}
