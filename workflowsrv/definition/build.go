package definition

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

// A builder turns a document that satisfies the schema into a Workflow, and notes on the way what the schema could not
// see.
type builder struct {
	faults, warnings *document.Faults

	w       *Workflow
	steps   []placed            // every step, in the order of the file
	nodes   map[*Step]placedAt  // where each stands
	vars    map[string]placedAt // context variables that are tested, first place
	varList []string
	given   map[string]bool // variables that loops set
	shared  map[*Step]bool  // steps at the top that loops refer to

	guidance map[string]bool // the words of metaGuidance
	routines Routines
	called   []Routine // those of them that it calls, once each
	from     map[*document.Node]Taken
	added    feature           // to every prompt in parts
	slots    map[string]string // what fills the extension points
}

// placedAt is a node with its JSON Pointer.
type placedAt struct {
	node *document.Node
	path string
}

type placed struct {
	step *Step
	placedAt
}

func (b *builder) workflow(doc *document.Node) *Workflow {
	b.begin(doc)
	for i, n := range doc.Get("steps").Items {
		path := document.Pointer("steps", strconv.Itoa(i))
		for _, n := range b.expanded(n, path) {
			b.w.Steps = append(b.w.Steps, b.step(n, path, false))
		}
	}
	b.index()
	b.resolveBodies()
	b.checkReach()
	b.checkFunctions()
	b.checkVariables(doc)
	b.noteMentions()
	b.checkPlaceholders(doc)
	b.w.Pinned = pinned(b.w, b.called)
	return b.w
}

// soundSteps looks through the steps in which the schema finds no fault, where it finds one elsewhere: who mends a file
// is told of all that is wrong. What concerns several steps is left for later, but for ids.
func (b *builder) soundSteps(doc *document.Node) {
	unsound := map[string]bool{} // of the paths of parts, of steps, and of bodies
	for _, f := range *b.faults {
		tokens := append(strings.SplitN(f.Path, "/", 5), "", "", "")
		switch {
		case tokens[1] != "steps":
			unsound["/"+tokens[1]] = true
		case tokens[2] == "":
			return
		default:
			unsound["/steps/"+tokens[2]] = true
			unsound["/steps/"+tokens[2]+"/"+tokens[3]] = true
		}
	}
	for _, part := range []string{"/assessments", "/features", "/extensionPoints"} {
		if unsound[part] {
			return // What steps name there is not known.
		}
	}
	b.begin(doc)
	for i, n := range items(doc.Get("steps")) {
		path := document.Pointer("steps", strconv.Itoa(i))
		switch {
		case !unsound[path] && n.Get("templateCall") == nil:
			b.step(n, path, false)
		case n.Get("body") != nil && !unsound[path+"/body"]:
			for j, item := range items(n.Get("body")) {
				if item.Get("templateCall") == nil {
					b.step(item, path+document.Pointer("body", strconv.Itoa(j)), true)
				}
			}
		}
	}
	b.index()
}

// begin takes what stands beside the steps.
func (b *builder) begin(doc *document.Node) {
	b.nodes, b.vars = map[*Step]placedAt{}, map[string]placedAt{}
	b.given, b.shared = map[string]bool{}, map[*Step]bool{}
	b.from, b.slots = map[*document.Node]Taken{}, map[string]string{}
	w := &Workflow{
		ID: doc.Str("id"), Name: doc.Str("name"), Description: doc.Str("description"), Version: doc.Str("version"),
		Category: cmp.Or(doc.Str("category"), "default"), Tags: doc.Strs("tags"), About: doc.Str("about"), Examples: doc.Strs("examples"),
		Preconditions: doc.Strs("preconditions"), ClarificationPrompts: doc.Strs("clarificationPrompts"),
		MetaGuidance: doc.Strs("metaGuidance"), ModelTier: doc.Str("modelTier"),
		Functions: functions(doc), References: references(doc),
		Assessments: assessments(doc), MetricsProfile: doc.Str("metricsProfile"), Figures: figures(doc.Str("metricsProfile")),
		Preferences: preferences(doc.Get("recommendedPreferences").Str("recommendedAutonomy"), doc.Get("recommendedPreferences").Str("recommendedRiskPolicy")),
		JSON:        doc.AppendJSON(nil), byID: map[string]*Step{},
	}
	if isRoutine(w.ID) {
		w.routine = doc
	}
	b.w, b.guidance = w, words(strings.Join(w.MetaGuidance, "\n"))
	b.features(doc)
	b.extensions(doc)
}

// step builds one step, and the steps in it if it is a loop.
func (b *builder) step(n *document.Node, path string, inLoop bool) *Step {
	s := &Step{
		ID: n.Str("id"), Title: n.Str("title"), Prompt: b.bound(n.Str("prompt")), AgentRole: n.Str("agentRole"),
		Guidance: n.Strs("guidance"), AskForFiles: n.Truth("askForFiles"), HasValidation: n.Truth("hasValidation"),
		ModelTier: n.Str("modelTier"), Functions: functions(n), InLoop: inLoop,
		From: b.from[n], Synthesis: n.Get("synthesis").Str("prompt"),
		Blocks: b.blocks(n.Get("promptBlocks"), path+"/promptBlocks"), JSON: n.AppendJSON(nil),
	}
	for _, ref := range n.Strs("functionReferences") {
		s.FunctionRefs = append(s.FunctionRefs, strings.TrimSuffix(ref, "()"))
	}
	for _, call := range items(n.Get("functionCalls")) {
		s.FunctionCalls = append(s.FunctionCalls, FunctionCall{call.Str("name"), call.Get("args").AppendJSON(nil)})
	}
	s.RunCondition = b.condition(n.Get("runCondition"), path+"/runCondition")
	s.Confirm = b.confirmation(n.Get("requireConfirmation"), path+"/requireConfirmation")
	s.Criteria = b.criteria(n.Get("validationCriteria"), path+"/validationCriteria")
	b.fragments(s, n.Get("promptFragments"), path+"/promptFragments")
	b.duties(s, n, path)
	b.delegations(s, n.Get("parallelDelegations"), path+"/parallelDelegations")
	at := placedAt{n, path}
	b.steps, b.nodes[s] = append(b.steps, placed{s, at}), at
	if n.Str("type") == "loop" {
		s.Loop = b.loop(n, path)
	}
	b.act(s, n, path)
	countSources(b.faults, at)
	return s
}

// countSources reports a step with more than one source for its prompt.
func countSources(faults *document.Faults, at placedAt) {
	var have []string
	for _, key := range []string{"prompt", "promptBlocks", "templateCall"} {
		if at.node.Get(key) != nil {
			have = append(have, key)
		}
	}
	if len(have) > 1 {
		faults.Add(at.node.KeyOf(have[1]), at.path, "has %s; only one of them may be given", document.Quoted(have))
	}
}

// fragments reads the fragments of a step, and reports those that cannot be told apart, or that want what is there only
// when a file is read.
func (b *builder) fragments(s *Step, n *document.Node, path string) {
	seen := map[string]bool{}
	for i, item := range items(n) {
		id, at := item.Str("id"), path+document.Pointer(strconv.Itoa(i))
		when := b.condition(item.Get("when"), at+"/when")
		s.Fragments = append(s.Fragments, Fragment{When: when, Text: item.Str("text")})
		if id != "" && seen[id] {
			b.faults.Add(item.Get("id"), at+"/id", "the fragment %q is twice in the step", id)
		}
		seen[id] = true
		if strings.Contains(item.Str("text"), "{{wr.") {
			b.faults.Add(item.Get("text"), at+"/text", "{{wr.…}} is filled in when the file is read, before it is known which fragments apply; put it into the prompt")
		}
	}
}

func (b *builder) delegations(s *Step, n *document.Node, path string) {
	for i, item := range items(n) {
		when := b.condition(item.Get("runCondition"), path+document.Pointer(strconv.Itoa(i), "runCondition"))
		d := Delegation{WorkflowID: item.Str("workflowId"), Goal: item.Str("goal"), When: when, ModelTier: item.Str("modelTier"), AllowedTools: item.Strs("allowedTools")}
		for _, m := range members(item.Get("args")) {
			d.Args = append(d.Args, Argument{m.Key, m.Value.Decoded()})
		}
		for _, m := range members(item.Get("contextMapping")) {
			d.Mapping = append(d.Mapping, Mapping{m.Key, m.Value.Text()})
		}
		s.Delegations = append(s.Delegations, d)
	}
}

// condition parses the condition at n, notes the variables it tests, and returns nil where there is none.
func (b *builder) condition(n *document.Node, path string) *criteria.Condition {
	if n == nil {
		return nil
	}
	c, err := criteria.ParseCondition(n.Decoded())
	if err != nil {
		brokenParts(b.faults, err, n, path, func(v any) error { _, err := criteria.ParseCondition(v); return err })
		return nil
	}
	for _, v := range c.Vars() {
		b.tests(v.Name, placedAt{n, path})
	}
	for _, ignored := range c.Ignored() {
		at := n.At(document.Tokens(ignored))
		b.warnings.Add(at, path+ignored, "decides nothing: another operator of the same condition comes first")
	}
	return c
}

func (b *builder) confirmation(n *document.Node, path string) Confirmation {
	switch {
	case n == nil:
		return Confirmation{}
	case n.Kind == document.Boolean:
		return Confirmation{Always: n.Value == "true"}
	case n.Get("kind") == nil:
		return Confirmation{When: b.condition(n, path)}
	}
	c := Confirmation{Gate: n.Str("kind"), When: b.condition(n.Get("condition"), path+"/condition")}
	c.Always = c.When == nil
	return c
}

func (b *builder) criteria(n *document.Node, path string) *criteria.Criteria {
	if n == nil || n.Kind == document.Array && len(n.Items) == 0 {
		return nil
	}
	c, err := criteria.Parse(n.Decoded())
	if err == nil {
		return c
	}
	brokenParts(b.faults, err, n, path, func(v any) error { _, err := criteria.Parse(v); return err })
	return nil
}

// brokenParts adds the faults of all parts of a condition, or of criteria, that are broken, not only of the first.
func brokenParts(faults *document.Faults, err error, n *document.Node, path string, parse func(v any) error) {
	named := false
	for _, part := range parts(n, path) {
		if err := parse(part.node.Decoded()); err != nil {
			brokenParts(faults, err, part.node, part.path, parse)
			named = true
		}
	}
	if !named {
		broken(faults, err, n, path)
	}
}

// parts are the conditions, or the rules, of which one is made.
func parts(n *document.Node, path string) (list []placedAt) {
	add := func(n *document.Node, path string) {
		for i, item := range items(n) {
			if item.Kind == document.Object {
				list = append(list, placedAt{item, path + document.Pointer(strconv.Itoa(i))})
			}
		}
	}
	add(n, path)
	add(n.Get("and"), path+"/and")
	add(n.Get("or"), path+"/or")
	if inner := n.Get("not"); inner != nil && inner.Kind == document.Object {
		list = append(list, placedAt{inner, path + "/not"})
	}
	return list
}

// broken adds the fault of a condition or of criteria at the place it names.
func broken(faults *document.Faults, err error, n *document.Node, path string) {
	var shape *criteria.ShapeError
	var schema *criteria.SchemaError
	switch {
	case errors.As(err, &shape):
		faults.Add(n.At(document.Tokens(shape.Path)), path+shape.Path, "%s", shape.Reason)
	case errors.As(err, &schema):
		faults.Add(n.At(document.Tokens(schema.Path)), path+schema.Path, "not a usable JSON Schema: %v", schema.Err)
	default:
		faults.Add(n, path, "%v", err)
	}
}

// tests notes that a condition, a loop or a call of a tool needs the context variable.
func (b *builder) tests(name string, at placedAt) {
	if braces := braced.FindStringSubmatch(name); braces != nil {
		b.faults.Add(at.node, at.path, "a variable is named without braces here: %s, not %s", braces[1], name)
		return
	}
	if _, ok := b.vars[name]; !ok {
		b.vars[name] = at
		b.varList = append(b.varList, name)
	}
}

func functions(n *document.Node) []Function {
	var list []Function
	for _, d := range items(n.Get("functionDefinitions")) {
		f := Function{Name: d.Str("name"), Definition: d.Str("definition")}
		for _, p := range items(d.Get("parameters")) {
			f.Parameters = append(f.Parameters, Parameter{p.Str("name"), p.Str("type"), p.Str("description"), p.Truth("required")})
		}
		list = append(list, f)
	}
	return list
}

func references(doc *document.Node) []Reference {
	var list []Reference
	for _, r := range items(doc.Get("references")) {
		list = append(list, Reference{r.Str("title"), r.Str("source"), r.Str("purpose"), r.Truth("authoritative")})
	}
	return list
}
