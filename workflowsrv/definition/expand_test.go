package definition_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

const routineFile = `{"id":"wr.routine-review","name":"n","description":"d","version":"1.0.0","metaGuidance":["Write {file} last."],"steps":[
 {"id":"read","title":"Read for {file}","prompt":"Read it {times} times. {{mode}} {\"json\":1}","runCondition":{"var":"mode","equals":"deep"}},
 {"id":"tell","title":"Tell","prompt":"Write {file}.","requireConfirmation":true}]}`

func caller(call string) string {
	return `{"id":"caller","name":"n","description":"d","version":"1.0.0","steps":[
 {"id":"open","title":"t","prompt":"Set mode and size."},
 {"id":"look","title":"t","templateCall":` + call + `,"runCondition":{"var":"size","gt":1},"modelTier":"heavy"}]}`
}

// TestRoutines takes over the steps of a routine that lies in another folder, and follows the routine when its file
// changes.
func TestRoutines(t *testing.T) {
	good := caller(`{"templateId":"wr.templates.routine.review","args":{"file":"a.md","times":2}}`)
	catalogue := func(files ...string) *definition.Catalogue {
		var sources []definition.Source
		for i, text := range files {
			sources = append(sources, definition.Source{Origin: definition.Config, Dir: fmt.Sprint(i), FS: fstest.MapFS{fmt.Sprint(i, ".json"): {Data: []byte(text)}}})
		}
		return definition.NewStore(sources).Catalogue()
	}
	w := catalogue(good, routineFile).Entry("caller")
	if w == nil {
		t.Fatalf("got %+v, want the caller", catalogue(good, routineFile).Invalid)
	}
	if got := strings.Join(w.StepIDs(), " "); got != "open look.read look.tell" {
		t.Errorf("got the steps %s, want those of the routine behind the first", got)
	}
	read, tell := w.Step("look.read"), w.Step("look.tell")
	if want := `Read it 2 times. {{mode}} {"json":1}`; read.Prompt != want || read.Title != "Read for a.md" || tell.Prompt != "Write a.md." {
		t.Errorf("got %q %q %q, want the arguments in their places", read.Title, read.Prompt, tell.Prompt)
	}
	if len(read.Guidance) != 1 || read.Guidance[0] != "Write a.md last." {
		t.Errorf("got the guidance %q, want the rules of the routine", read.Guidance)
	}
	for _, c := range []struct {
		step *definition.Step
		vars int
	}{{read, 2}, {tell, 1}} {
		if got := len(c.step.RunCondition.Vars()); got != c.vars {
			t.Errorf("%s: got %d tests in its condition, want %d: the caller's joins its own", c.step.ID, got, c.vars)
		}
		if c.step.From.Routine != "wr.routine-review" || c.step.ModelTier != "heavy" {
			t.Errorf("%s: got %+v %q, want the routine it is from and the model of the caller", c.step.ID, c.step.From, c.step.ModelTier)
		}
	}
	if !tell.Confirm.Always || !strings.Contains(string(tell.JSON), `"id":"look.tell"`) {
		t.Errorf("got %s, want the step under its new id, to be confirmed", tell.JSON)
	}
	for _, c := range []struct{ name, file, want string }{
		{"an unknown routine", caller(`{"templateId":"wr.templates.routine.reviews","args":{}}`), `did you mean "wr.templates.routine.review"?`},
		{"a routine that takes over itself", strings.Replace(caller(`{"templateId":"wr.templates.routine.self"}`), `"id":"caller"`, `"id":"routine-self"`, 1),
			"a valid workflow with the id routine-self and plain steps only"},
		{"an argument is missing", caller(`{"templateId":"wr.templates.routine.review","args":{"file":"a"}}`), `/steps/1/templateCall: the routine needs the argument "times"`},
		{"an argument that is no text", caller(`{"templateId":"wr.templates.routine.review","args":{"file":["a"],"times":1}}`), "must be a text, a number or a boolean"},
		{"a long id", strings.Replace(good, `"id":"look"`, `"id":"`+strings.Repeat("l", 60)+`"`, 1), "at most 64 are allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			invalid := catalogue(c.file, routineFile).Invalid
			if len(invalid) == 0 || !strings.Contains(fmt.Sprint(invalid[0].Faults), c.want) {
				t.Errorf("got %+v, want a fault with %q", invalid, c.want)
			}
		})
	}
}

// TestRoutineOfLoops calls a routine that has more than plain steps.
func TestRoutineOfLoops(t *testing.T) {
	routines := definition.Routines{}
	w, err := definition.Parse("r.json", []byte(`{"id":"routine-review","name":"n","description":"d","version":"1.0.0","steps":[{"id":"one","type":"loop","title":"t",
"loop":{"type":"for","count":1,"maxIterations":1},"body":[{"id":"two","title":"t","prompt":"p"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	routines.Add(w, "r.json")
	_, err = definition.ParseWith("w.json", []byte(caller(`{"templateId":"wr.templates.routine.review"}`)), routines)
	if err == nil || !strings.Contains(err.Error(), "only plain steps can be taken over") {
		t.Errorf("got %v, want a fault of the call", err)
	}
}

// TestUnknownNames gives every name that stands for something elsewhere a letter too many.
func TestUnknownNames(t *testing.T) {
	const sound = `{"id":"abc","name":"n","description":"d","version":"1.0.0","features":["wr.features.capabilities"],
"assessments":[{"id":"quality","dimensions":[{"id":"depth","levels":["low","high"]}]}],
"steps":[{"id":"one","title":"t","promptBlocks":{"goal":[{"kind":"ref","refId":"wr.refs.memory_store"}]},
"assessmentRefs":["quality"],"assessmentConsequences":[{"when":{"anyEqualsLevel":"low","forAssessment":"quality"},"effect":{"kind":"require_followup","guidance":"g"}}],
"outputContract":{"contractRef":"wr.contracts.gate_verdict"},"promptFragments":[{"id":"a","text":"t"},{"id":"b","text":"t"}]},
{"id":"two","type":"loop","title":"t","loop":{"type":"while","maxIterations":2,"conditionSource":{"kind":"artifact_contract","contractRef":"wr.contracts.loop_control"}},
"body":[{"id":"in-two","title":"t","prompt":"p"}]}]}`
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{"wr.features.capabilities", "wr.features.capabilitiess", "there is no feature"},
		{"wr.refs.memory_store", "wr.refs.memory_stores", "there is no text"},
		{`"assessmentRefs":["quality"]`, `"assessmentRefs":["qualities"]`, "there is no assessment"},
		{`"anyEqualsLevel":"low"`, `"anyEqualsLevel":"lows"`, "there is no level of its assessments"},
		{`"forAssessment":"quality"`, `"forAssessment":"qualitys"`, "there is no assessment of this step"},
		{`"assessmentRefs":["quality"],`, "", "the step has no assessmentRefs"},
		{"wr.contracts.gate_verdict", "wr.contracts.gate_verdicts", "there is no output contract"},
		{"wr.contracts.loop_control", "wr.contracts.loop_controls", "there is no output contract"},
		{"wr.contracts.loop_control", "wr.contracts.gate_verdict", "decides no loop"},
		{`"id":"b","text"`, `"id":"a","text"`, "is twice in the step"},
		{`"id":"b","text":"t"`, `"id":"b","text":"{{wr.bindings.x}}"`, "put it into the prompt"},
	} {
		_, err := definition.Parse("w.json", []byte(strings.Replace(sound, c.old, c.new, 1)))
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || c.want == "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.new, err, c.want)
		}
	}
}

// TestEveryBrokenRule breaks two rules of one list.
func TestEveryBrokenRule(t *testing.T) {
	_, err := definition.Parse("w.json", []byte(`{"id":"abc","name":"n","description":"d","version":"1.0.0","steps":[{"id":"one","title":"t","prompt":"p",
"validationCriteria":[{"type":"regex","pattern":"(","message":"m"},{"type":"length","min":1,"message":"m"},{"type":"regex","pattern":"[","message":"m"}]}]}`))
	for _, want := range []string{"/steps/0/validationCriteria/0/pattern", "/steps/0/validationCriteria/2/pattern"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a fault at %s", err, want)
		}
	}
}
