package runs

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// gateKeys are what a step asks before it or its results count, by the keys of the file. Of a step that has none of
// them, nothing can be taken away.
var gateKeys = []string{"requireConfirmation", "validationCriteria", "outputContract", "assessmentRefs", "assessmentConsequences", "expect"}

// waitKeys are those of a step that stands in the way by itself: one that asks a person, or waits.
var waitKeys = []string{"type", "prompt", "answers", "seconds", "file", "webhook"}

// asksLess says what a definition asks less of a run than the one that it goes by, a sentence each. What is done was
// asked already. A thing that is asked otherwise counts as less, unless it is plain that it is more.
func asksLess(had, has *definition.Workflow, completed []string) []string {
	var less []string
	say := func(format string, args ...any) { less = append(less, fmt.Sprintf(format, args...)) }
	before, after := had.StepIDs(), has.StepIDs()
	gated := func(s *definition.Step) []string {
		keys := slices.Clone(gateKeys)
		if s.Act != nil && s.Act.Kind != definition.ActTool {
			keys = append(keys, waitKeys...)
		}
		parts := partsOf(s)
		return slices.DeleteFunc(keys, func(k string) bool { return parts[k] == nil || parts[k] == false })
	}
	for s := range had.All() {
		if slices.Contains(completed, s.ID) || s.Loop != nil && !slices.ContainsFunc(append(s.Loop.Body, s), func(b *definition.Step) bool { return len(gated(b)) > 0 }) {
			continue
		}
		keys, now := gated(s), has.Step(s.ID)
		switch {
		case s.Loop == nil && len(keys) == 0 && now != nil && partsOf(now)["notesOptional"] == true && partsOf(s)["notesOptional"] != true:
			say("the step %q needs no notes any more", s.Title)
			continue
		case s.Loop == nil && len(keys) == 0:
			continue
		case now == nil:
			say("the step %q is gone", s.Title)
			continue
		case s.InLoop != now.InLoop:
			say("the step %q is in another place", s.Title)
		}
		old, fresh := partsOf(s), partsOf(now)
		if s.Loop != nil {
			keys = append(keys, "loop", "type")
		}
		for _, key := range keys {
			if !asks(key, old[key], fresh[key]) {
				say("the step %q has another %s, or none", s.Title, key)
			}
		}
		if fresh["runCondition"] != nil && !reflect.DeepEqual(old["runCondition"], fresh["runCondition"]) {
			say("the step %q comes under another condition", s.Title)
		}
		for _, a := range s.Assessments {
			if !slices.ContainsFunc(now.Assessments, func(b *definition.Assessment) bool { return reflect.DeepEqual(a, b) }) {
				say("the assessment %q of the step %q is another one, or none", a.ID, s.Title)
			}
		}
		at := slices.Index(before, s.ID)
		for _, id := range after[:slices.Index(after, s.ID)] {
			was := slices.Index(before, id)
			if x := has.Step(id); was > at || was < 0 && x.Act != nil && x.Act.Kind == definition.ActTool {
				say("the step %q comes before %q", x.Title, s.Title)
			}
		}
	}
	return less
}

// asks reports whether a part of a step asks at least what it did.
func asks(key string, had, has any) bool {
	list, ok := had.([]any)
	more, both := has.([]any)
	switch {
	case ok && both && (key == "validationCriteria" || key == "assessmentRefs" || key == "assessmentConsequences"): // all of which must hold
		return !slices.ContainsFunc(list, func(v any) bool {
			return !slices.ContainsFunc(more, func(w any) bool { return reflect.DeepEqual(v, w) })
		})
	case key == "requireConfirmation" && has == true:
		return true
	}
	return reflect.DeepEqual(had, has)
}

// partsOf is a step as its file has it; the contract of a synthesis is that of its step.
func partsOf(s *definition.Step) map[string]any {
	var parts map[string]any
	_ = json.Unmarshal(s.JSON, &parts) // The definition was checked when it was read.
	if synthesis, ok := parts["synthesis"].(map[string]any); ok {
		parts["outputContract"] = synthesis["outputContract"]
	}
	return parts
}
