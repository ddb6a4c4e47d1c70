package definition

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
)

func assessments(doc *document.Node) []Assessment {
	var list []Assessment
	for _, n := range items(doc.Get("assessments")) {
		a := Assessment{ID: n.Str("id"), Purpose: n.Str("purpose")}
		for _, d := range items(n.Get("dimensions")) {
			a.Dimensions = append(a.Dimensions, Dimension{d.Str("id"), d.Str("purpose"), d.Strs("levels"), optional(d)})
		}
		list = append(list, a)
	}
	return list
}

// optional reports whether a part of a file says of itself that it is not required.
func optional(n *document.Node) bool {
	required := n.Get("required")
	return required != nil && required.Value == "false"
}

// items are those of an array, none where there is no array.
func items(n *document.Node) []*document.Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// members are those of an object, none where there is no object.
func members(n *document.Node) []document.Member {
	if n == nil {
		return nil
	}
	return n.Members
}

// duties reads what a step owes beside its text.
func (b *builder) duties(s *Step, n *document.Node, path string) {
	s.Audit, s.Rubric = n.Get("audit").Str("prompt"), n.Get("audit").Strs("rubric")
	s.Verification, s.Command = n.Get("verification").Str("prompt"), n.Get("verification").Str("command")
	s.NotesOptional = n.Truth("notesOptional")
	owner, at := n, path
	if synthesis := n.Get("synthesis"); synthesis != nil {
		owner, at = synthesis, path+"/synthesis"
	}
	if contract := owner.Get("outputContract"); contract != nil {
		s.Contract, s.ContractOptional = contract.Str("contractRef"), optional(contract)
		checkContract(b.faults, contract, at+"/outputContract")
	}
	for i, ref := range items(n.Get("assessmentRefs")) {
		at := path + document.Pointer("assessmentRefs", strconv.Itoa(i))
		a := b.w.assessment(ref.Value)
		if a == nil {
			unknown(b.faults, ref, at, "assessment", ref.Value, b.w.assessmentIDs())
			continue
		}
		s.Assessments = append(s.Assessments, a)
	}
	for i, item := range items(n.Get("assessmentConsequences")) {
		b.consequence(s, item, path+document.Pointer("assessmentConsequences", strconv.Itoa(i)))
	}
}

// checkContract reports a contract that nobody knows.
func checkContract(faults *document.Faults, n *document.Node, path string) {
	if ref := n.Str("contractRef"); !slices.Contains(knownContracts(), ref) {
		unknown(faults, n.Get("contractRef"), path+"/contractRef", "output contract", ref, knownContracts())
	}
}

// unknown reports a name that stands for nothing.
func unknown(faults *document.Faults, n *document.Node, path, what, name string, known []string) {
	faults.Add(n, path, "there is no %s %q%s", what, name, faults.DidYouMean(name, known))
}

func (b *builder) consequence(s *Step, n *document.Node, path string) {
	c := Consequence{n.Get("when").Str("anyEqualsLevel"), n.Get("when").Str("forAssessment"), n.Get("effect").Str("guidance")}
	s.Consequences = append(s.Consequences, c)
	if len(s.Assessments) == 0 {
		b.faults.Add(n, path, "follows from no assessment: the step has no assessmentRefs")
		return
	}
	var ids, levels []string
	for _, a := range s.Assessments {
		ids = append(ids, a.ID)
		if c.For != "" && c.For != a.ID {
			continue
		}
		for _, d := range a.Dimensions {
			levels = append(levels, d.Levels...)
		}
	}
	switch {
	case c.For != "" && !slices.Contains(ids, c.For):
		unknown(b.faults, n.Get("when").Get("forAssessment"), path+"/when/forAssessment", "assessment of this step", c.For, ids)
	case !slices.Contains(levels, c.Level):
		unknown(b.faults, n.Get("when").Get("anyEqualsLevel"), path+"/when/anyEqualsLevel", "level of its assessments", c.Level, levels)
	}
}

func (w *Workflow) assessment(id string) *Assessment {
	for i := range w.Assessments {
		if w.Assessments[i].ID == id {
			return &w.Assessments[i]
		}
	}
	return nil
}

func (w *Workflow) assessmentIDs() []string {
	var ids []string
	for _, a := range w.Assessments {
		ids = append(ids, a.ID)
	}
	return ids
}

// features reads what is added to every prompt in parts.
func (b *builder) features(doc *document.Node) {
	known := knownFeatures()
	for i, n := range items(doc.Get("features")) {
		f, ok := known[n.Value]
		if !ok {
			unknown(b.faults, n, document.Pointer("features", strconv.Itoa(i)), "feature", n.Value, names(known))
			continue
		}
		b.added.constraints = append(b.added.constraints, f.constraints...)
		b.added.procedure = append(b.added.procedure, f.procedure...)
		b.added.verify = append(b.added.verify, f.verify...)
	}
}

// blocks reads promptBlocks, with the texts that its parts refer to and what the features of the workflow add.
func (b *builder) blocks(n *document.Node, path string) *Blocks {
	if n == nil {
		return nil
	}
	all := func(key string, more []string) []string {
		var list []string
		for i, item := range items(n.Get(key)) {
			list = append(list, b.joined(item, path+document.Pointer(key, strconv.Itoa(i))))
		}
		return append(list, more...)
	}
	p := &Blocks{Goal: b.joined(n.Get("goal"), path+"/goal"), Constraints: all("constraints", b.added.constraints),
		Procedure: all("procedure", b.added.procedure), Verify: all("verify", b.added.verify)}
	for _, m := range members(n.Get("outputRequired")) {
		p.Required = append(p.Required, Deliverable{m.Key, b.joined(m.Value, path+document.Pointer("outputRequired", m.Key))})
	}
	return p
}

// joined gives a string or an array of parts as one text.
func (b *builder) joined(n *document.Node, path string) string {
	if n == nil || n.Kind == document.Text {
		return b.bound(n.Text())
	}
	var text strings.Builder
	known := knownRefs()
	for i, part := range n.Items {
		if part.Str("kind") != "ref" {
			text.WriteString(part.Str("text"))
			continue
		}
		ref, ok := known[part.Str("refId")]
		if !ok {
			unknown(b.faults, part, path+document.Pointer(strconv.Itoa(i), "refId"), "text", part.Str("refId"), names(known))
		}
		text.WriteString(ref)
	}
	return b.bound(text.String())
}

// bound puts the defaults of extension points in the places that name them.
func (b *builder) bound(text string) string {
	for slot, byDefault := range b.slots {
		text = strings.ReplaceAll(text, "{{wr.bindings."+slot+"}}", byDefault)
	}
	return text
}

// extensions reads the extension points. What fills them is their default.
func (b *builder) extensions(doc *document.Node) {
	for i, n := range items(doc.Get("extensionPoints")) {
		if n.Get("default") == nil {
			b.warnings.Add(n, document.Pointer("extensionPoints", strconv.Itoa(i)), "has no default: nothing fills the place %q", n.Str("slotId"))
			continue
		}
		b.slots[n.Str("slotId")] = n.Str("default")
	}
}
