package definition

import (
	"cmp"
	"iter"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/nearest"
)

// placeholder is the name of a variable in a text, with what follows it.
var placeholder = regexp.MustCompile(`\{\{\s*([A-Za-z_]\w*)[^{}]*\}\}`)

// loop builds the loop of the step at n.
func (b *builder) loop(n *document.Node, path string) *Loop {
	config, at := n.Get("loop"), path+"/loop"
	l := &Loop{
		Kind: LoopKind(config.Str("type")), ItemsVar: config.Str("items"), CountVar: config.Str("count"),
		Count: config.Integer("count"), MaxIterations: config.Integer("maxIterations"),
		IterationVar: cmp.Or(config.Str("iterationVar"), "currentIteration"),
		ItemVar:      cmp.Or(config.Str("itemVar"), "currentItem"),
		IndexVar:     cmp.Or(config.Str("indexVar"), "currentIndex"),
	}
	b.given[l.IterationVar] = true
	if l.Kind == ForEach {
		b.given[l.ItemVar], b.given[l.IndexVar] = true, true
	}
	b.checkLoop(l, config, at)
	l.Condition = b.condition(config.Get("condition"), at+"/condition")
	if source := config.Get("conditionSource"); source != nil && l.Condition == nil {
		l.Condition = b.condition(source.Get("condition"), at+"/conditionSource/condition")
		if l.Condition == nil {
			l.ByArtifact, l.Name = true, source.Str("loopId")
			checkContract(b.faults, source, at+"/conditionSource")
			if ref := source.Str("contractRef"); ref != loopControl && slices.Contains(knownContracts(), ref) {
				b.faults.Add(source.Get("contractRef"), at+"/conditionSource/contractRef", "%q decides no loop; only %q does", ref, loopControl)
			}
		}
	}
	body := n.Get("body")
	for i, item := range body.Items {
		at := path + document.Pointer("body", strconv.Itoa(i))
		for _, item := range b.expanded(item, at) {
			l.Body = append(l.Body, b.step(item, at, true))
		}
	}
	return l
}

// checkLoop reports shapes that the schema cannot tell from sound ones.
func (b *builder) checkLoop(l *Loop, config *document.Node, path string) {
	for _, key := range []string{"count", "maxIterations"} {
		v := config.Get(key)
		if v == nil || v.Kind != document.Number {
			continue
		}
		if f, err := strconv.ParseFloat(v.Value, 64); err != nil || f != math.Trunc(f) {
			b.faults.Add(v, path+"/"+key, "must be a whole number")
		} else if f < 1 {
			b.faults.Add(v, path+"/"+key, "must be at least 1: the loop would make no pass")
		}
	}
	if l.Kind == For && l.Count > l.MaxIterations {
		b.warnings.Add(config.Get("count"), path+"/count", "is above maxIterations: the loop ends after %d passes", l.MaxIterations)
	}
	if l.Kind == ForEach && (l.ItemVar == l.IndexVar || l.ItemVar == l.IterationVar || l.IndexVar == l.IterationVar) {
		b.faults.Add(config, path, "itemVar, indexVar and iterationVar must be three different names")
	}
	if l.ItemsVar != "" {
		b.tests(l.ItemsVar, placedAt{config.Get("items"), path + "/items"})
	}
	if l.CountVar != "" {
		b.tests(l.CountVar, placedAt{config.Get("count"), path + "/count"})
	}
}

// index fills the table of ids and reports those that occur twice.
func (b *builder) index() {
	for _, p := range b.steps {
		if first, ok := b.w.byID[p.step.ID]; ok {
			at := b.nodes[first]
			b.faults.Add(p.node.Get("id"), p.path+"/id", "the step id %q is taken by the step in line %d", p.step.ID, at.node.Line)
			continue
		}
		b.w.byID[p.step.ID] = p.step
	}
}

// resolveBodies connects loops with the steps they refer to.
func (b *builder) resolveBodies() {
	ids := b.w.StepIDs()
	for _, p := range b.steps {
		l := p.step.Loop
		body := p.node.Get("body")
		if l == nil || body.Kind != document.Text {
			continue
		}
		target := b.w.byID[body.Value]
		switch {
		case target == nil:
			b.faults.Add(body, p.path+"/body", "there is no step %q%s", body.Value, b.faults.DidYouMean(body.Value, ids))
		case target.Loop != nil:
			b.faults.Add(body, p.path+"/body", "the step %q is a loop; loops cannot be nested", body.Value)
		case target.InLoop && !b.shared[target]:
			b.faults.Add(body, p.path+"/body", "the step %q belongs to another loop", body.Value)
		default:
			l.Referenced, l.Body = true, []*Step{target}
			target.InLoop, b.shared[target] = true, true
		}
	}
}

// checkFunctions reports references to functions that are defined nowhere in sight of the step: on itself, on its loop,
// or on the workflow.
func (b *builder) checkFunctions() {
	for _, p := range b.steps {
		if l := p.step.Loop; l != nil {
			for _, body := range l.Body {
				b.checkCalls(body, p.step)
			}
		} else if !p.step.InLoop {
			b.checkCalls(p.step, nil)
		}
	}
}

func (b *builder) checkCalls(s, loop *Step) {
	names := append([]string(nil), s.FunctionRefs...)
	for _, call := range s.FunctionCalls {
		names = append(names, call.Name)
	}
	at := b.nodes[s]
	for _, name := range names {
		// Authors also define functions in the text of metaGuidance.
		if b.w.Function(name, s, loop) == nil && !b.guidance[name] {
			b.warnings.Add(at.node, at.path, "the function %q is not defined on the step, its loop or the workflow", name)
		}
	}
}

// Function finds a function as a step sees it: its own, those of the loop it runs in (nil: none), those of the
// workflow. It returns nil for an unknown name.
func (w *Workflow) Function(name string, s, loop *Step) *Function {
	scopes := [][]Function{s.Functions, nil, w.Functions}
	if loop != nil {
		scopes[1] = loop.Functions
	}
	for _, scope := range scopes {
		for i := range scope {
			if scope[i].Name == name {
				return &scope[i]
			}
		}
	}
	return nil
}

// checkVariables warns of variables whose name no text of the workflow mentions and no loop sets: an agent cannot know
// that it is to set them.
func (b *builder) checkVariables(doc *document.Node) {
	var texts strings.Builder
	collectTexts(doc, &texts)
	mentioned := wordsAmong(b.varList, texts.String())
	for _, name := range b.varList {
		// A name that is no word is taken to be mentioned.
		if b.given[name] || mentioned[name] || !isWord(name) {
			continue
		}
		at := b.vars[name]
		b.warnings.Add(at.node, at.path, "needs the variable %q, which no step can set: no prompt or guidance mentions it and no loop sets it", name)
	}
}

// noteMentions tells each step which of the tested variables its texts name.
func (b *builder) noteMentions() {
	for _, p := range b.steps {
		var text strings.Builder
		for _, m := range p.node.Members {
			if m.Key != "body" {
				collectTexts(&document.Node{Kind: document.Object, Members: []document.Member{m}}, &text)
			}
		}
		has := wordsAmong(b.varList, text.String())
		p.step.words = map[string]bool{}
		for _, name := range b.varList {
			if has[name] || !isWord(name) && strings.Contains(text.String(), name) {
				p.step.words[name] = true
			}
		}
	}
}

// words is the set of the identifiers in text.
func words(text string) map[string]bool {
	set := map[string]bool{}
	for word := range wordsIn(text) {
		set[word] = true
	}
	return set
}

// wordsAmong says of each name whether it is an identifier in text. A text has hundreds of times as many identifiers
// as it is asked about.
func wordsAmong(names []string, text string) map[string]bool {
	set := make(map[string]bool, len(names))
	if len(names) == 0 {
		return set
	}
	for _, name := range names {
		set[name] = false
	}
	for word := range wordsIn(text) {
		if in, asked := set[word]; asked && !in {
			set[word] = true
		}
	}
	return set
}

// wordsIn gives the identifiers in text, in their order.
func wordsIn(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(text, func(c rune) bool { return !inWord(c) })
}

func inWord(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }

func isWord(s string) bool {
	return s != "" && strings.IndexFunc(s, func(c rune) bool { return !inWord(c) }) < 0
}

// collectTexts gathers what the agent is shown: every string but those that conditions, loops and calls of
// tools are made of.
func collectTexts(n *document.Node, b *strings.Builder) {
	switch n.Kind {
	case document.Text:
		b.WriteString(n.Value)
		b.WriteByte('\n')
	case document.Array:
		for _, item := range n.Items {
			collectTexts(item, b)
		}
	case document.Object:
		for _, m := range n.Members {
			switch m.Key {
			case "runCondition", "requireConfirmation", "condition", "conditionSource", "when", "loop", "id", "expect",
				"tool", "arguments", "file":
			default:
				collectTexts(m.Value, b)
			}
		}
	}
}

// checkPlaceholders warns of {{names}} that stand for nothing and are near to a variable: the agent would be shown them
// as they are.
func (b *builder) checkPlaceholders(doc *document.Node) {
	var texts strings.Builder
	collectTexts(doc, &texts)
	if !placeholder.MatchString(texts.String()) {
		return
	}
	mentioned := words(placeholder.ReplaceAllString(texts.String(), " "))
	known := slices.Clone(b.varList)
	for name := range b.given {
		known = append(known, name)
	}
	slices.Sort(known)
	told := map[string]bool{}
	for _, p := range b.steps {
		for _, m := range p.node.Members {
			if m.Key == "body" {
				continue
			}
			var text strings.Builder
			collectTexts(&document.Node{Kind: document.Object, Members: []document.Member{m}}, &text)
			for _, found := range placeholder.FindAllStringSubmatch(text.String(), -1) {
				name := found[1]
				if told[name] || mentioned[name] || slices.Contains(known, name) {
					continue
				}
				if near := nearest.Names(name, known, 1); len(near) > 0 {
					told[name] = true
					b.warnings.Add(m.Value, p.path+document.Pointer(m.Key), "{{%s}} is not a variable; did you mean {{%s}}?", name, near[0])
				}
			}
		}
	}
}
