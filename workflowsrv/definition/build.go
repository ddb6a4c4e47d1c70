package definition

import (
	"errors"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

// A builder turns a document that satisfies the schema into a Workflow, and
// notes on the way what the schema could not see.
type builder struct {
	faults, warnings *faults

	w       *Workflow
	steps   []placed            // every step, in the order of the file
	nodes   map[*Step]placedAt  // where each stands
	vars    map[string]placedAt // context variables that are tested, first place
	varList []string
	given   map[string]bool // variables that loops set
	shared  map[*Step]bool  // steps at the top that loops refer to

	guidance map[string]bool // the words of metaGuidance
	trials   int             // evaluations that checkReach has made
}

// placedAt is a node with its JSON Pointer.
type placedAt struct {
	node *node
	path string
}

type placed struct {
	step *Step
	placedAt
}

func (b *builder) workflow(doc *node) *Workflow {
	b.nodes, b.vars = map[*Step]placedAt{}, map[string]placedAt{}
	b.given, b.shared = map[string]bool{}, map[*Step]bool{}
	w := &Workflow{
		ID: doc.str("id"), Name: doc.str("name"), Description: doc.str("description"), Version: doc.str("version"),
		Category: doc.str("category"), Tags: doc.strs("tags"), About: doc.str("about"), Examples: doc.strs("examples"),
		Preconditions: doc.strs("preconditions"), ClarificationPrompts: doc.strs("clarificationPrompts"),
		MetaGuidance: doc.strs("metaGuidance"), ModelTier: doc.str("modelTier"),
		Functions: functions(doc), References: references(doc),
		JSON: doc.appendJSON(nil), byID: map[string]*Step{},
	}
	if w.Category == "" {
		w.Category = "default"
	}
	b.w, b.guidance = w, words(strings.Join(w.MetaGuidance, "\n"))
	for i, n := range doc.get("steps").items {
		w.Steps = append(w.Steps, b.step(n, pointer("steps", strconv.Itoa(i)), false))
	}
	b.index()
	b.resolveBodies()
	b.checkReach()
	b.checkFunctions()
	b.checkVariables(doc)
	b.nameParts(doc)
	return w
}

// step builds one step, and the steps in it if it is a loop.
func (b *builder) step(n *node, path string, inLoop bool) *Step {
	s := &Step{
		ID: n.str("id"), Title: n.str("title"), Prompt: n.str("prompt"), AgentRole: n.str("agentRole"),
		Guidance: n.strs("guidance"), AskForFiles: n.truth("askForFiles"), HasValidation: n.truth("hasValidation"),
		ModelTier: n.str("modelTier"), Functions: functions(n), InLoop: inLoop,
		Template: n.get("templateCall").str("templateId"), Synthesis: n.get("synthesis").str("prompt"),
		Blocks: blocks(n.get("promptBlocks")), JSON: n.appendJSON(nil),
	}
	for _, ref := range n.strs("functionReferences") {
		s.FunctionRefs = append(s.FunctionRefs, strings.TrimSuffix(ref, "()"))
	}
	if calls := n.get("functionCalls"); calls != nil {
		for _, call := range calls.items {
			s.FunctionCalls = append(s.FunctionCalls, FunctionCall{call.str("name"), call.get("args").appendJSON(nil)})
		}
	}
	s.RunCondition = b.condition(n.get("runCondition"), path+"/runCondition")
	s.Confirm = b.confirmation(n.get("requireConfirmation"), path+"/requireConfirmation")
	s.Criteria = b.criteria(n.get("validationCriteria"), path+"/validationCriteria")
	b.fragments(s, n.get("promptFragments"), path+"/promptFragments")
	b.delegations(s, n.get("parallelDelegations"), path+"/parallelDelegations")
	at := placedAt{n, path}
	b.steps, b.nodes[s] = append(b.steps, placed{s, at}), at
	if n.str("type") == "loop" {
		s.Loop = b.loop(n, path)
	}
	b.countSources(s, at)
	return s
}

// countSources reports a step with more than one source for its prompt.
func (b *builder) countSources(s *Step, at placedAt) {
	var have []string
	for _, key := range []string{"prompt", "promptBlocks", "templateCall"} {
		if at.node.get(key) != nil {
			have = append(have, key)
		}
	}
	if len(have) > 1 {
		b.faults.add(at.node.keyOf(have[1]), at.path, "has %s; only one of them may be given", quoted(have))
	}
}

func (b *builder) fragments(s *Step, n *node, path string) {
	if n == nil {
		return
	}
	for i, item := range n.items {
		when := b.condition(item.get("when"), path+pointer(strconv.Itoa(i), "when"))
		s.Fragments = append(s.Fragments, Fragment{When: when, Text: item.str("text")})
	}
}

func (b *builder) delegations(s *Step, n *node, path string) {
	if n == nil {
		return
	}
	for i, item := range n.items {
		when := b.condition(item.get("runCondition"), path+pointer(strconv.Itoa(i), "runCondition"))
		s.Delegations = append(s.Delegations, Delegation{item.str("workflowId"), item.str("goal"), when})
	}
}

// condition parses the condition at n, notes the variables it tests, and
// returns nil where there is none.
func (b *builder) condition(n *node, path string) *criteria.Condition {
	if n == nil {
		return nil
	}
	c, err := criteria.ParseCondition(n.decoded())
	if err != nil {
		b.broken(err, n, path)
		return nil
	}
	for _, v := range c.Vars() {
		b.tests(v.Name, placedAt{n, path})
	}
	for _, ignored := range c.Ignored() {
		at := n.at(tokens(ignored))
		b.warnings.add(at, path+ignored, "decides nothing: another operator of the same condition comes first")
	}
	return c
}

func (b *builder) confirmation(n *node, path string) Confirmation {
	switch {
	case n == nil:
		return Confirmation{}
	case n.kind == boolean:
		return Confirmation{Always: n.value == "true"}
	case n.get("kind") == nil:
		return Confirmation{When: b.condition(n, path)}
	}
	c := Confirmation{Gate: n.str("kind"), When: b.condition(n.get("condition"), path+"/condition")}
	c.Always = c.When == nil
	return c
}

func (b *builder) criteria(n *node, path string) *criteria.Criteria {
	if n == nil || n.kind == array && len(n.items) == 0 {
		return nil
	}
	c, err := criteria.Parse(n.decoded())
	if err != nil {
		b.broken(err, n, path)
		return nil
	}
	return c
}

// broken adds the fault of a condition or of criteria at the place it names.
func (b *builder) broken(err error, n *node, path string) {
	var shape *criteria.ShapeError
	var schema *criteria.SchemaError
	switch {
	case errors.As(err, &shape):
		b.faults.add(n.at(tokens(shape.Path)), path+shape.Path, "%s", shape.Reason)
	case errors.As(err, &schema):
		b.faults.add(n.at(tokens(schema.Path)), path+schema.Path, "not a usable JSON Schema: %v", schema.Err)
	default:
		b.faults.add(n, path, "%v", err)
	}
}

// tests notes that a condition or a loop needs the context variable.
func (b *builder) tests(name string, at placedAt) {
	if _, ok := b.vars[name]; !ok {
		b.vars[name] = at
		b.varList = append(b.varList, name)
	}
}

// tokens splits a JSON Pointer.
func tokens(pointer string) []string {
	if pointer == "" {
		return nil
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	list := strings.Split(pointer[1:], "/")
	for i := range list {
		list[i] = unescape.Replace(list[i])
	}
	return list
}

func functions(n *node) []Function {
	defs := n.get("functionDefinitions")
	if defs == nil {
		return nil
	}
	var list []Function
	for _, d := range defs.items {
		f := Function{Name: d.str("name"), Definition: d.str("definition")}
		if params := d.get("parameters"); params != nil {
			for _, p := range params.items {
				f.Parameters = append(f.Parameters, Parameter{p.str("name"), p.str("type"), p.str("description"), p.truth("required")})
			}
		}
		list = append(list, f)
	}
	return list
}

func references(doc *node) []Reference {
	refs := doc.get("references")
	if refs == nil {
		return nil
	}
	var list []Reference
	for _, r := range refs.items {
		list = append(list, Reference{r.str("title"), r.str("source"), r.str("purpose"), r.truth("authoritative")})
	}
	return list
}

// blocks reads promptBlocks. A part that refers to a text kept elsewhere shows
// as the id of that text in brackets.
func blocks(n *node) *Blocks {
	if n == nil {
		return nil
	}
	b := &Blocks{Goal: joined(n.get("goal")), Constraints: joinedAll(n.get("constraints")),
		Procedure: joinedAll(n.get("procedure")), Verify: joinedAll(n.get("verify"))}
	if required := n.get("outputRequired"); required != nil {
		for _, m := range required.members {
			b.Required = append(b.Required, Deliverable{m.key, joined(m.value)})
		}
	}
	return b
}

func joinedAll(n *node) []string {
	if n == nil {
		return nil
	}
	var list []string
	for _, item := range n.items {
		list = append(list, joined(item))
	}
	return list
}

// joined gives a string or an array of parts as one text.
func joined(n *node) string {
	if n == nil || n.kind == text {
		return n.text()
	}
	var b strings.Builder
	for _, part := range n.items {
		if part.str("kind") == "ref" {
			b.WriteString("[" + part.str("refId") + "]")
		} else {
			b.WriteString(part.str("text"))
		}
	}
	return b.String()
}
