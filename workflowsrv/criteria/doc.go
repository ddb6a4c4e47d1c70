// Package criteria judges: it evaluates the conditions of a workflow (runCondition, the condition of a loop, of a rule,
// of requireConfirmation) under the context of an execution, and it checks what an agent produced against the
// validationCriteria of a step.
//
//	file ── ParseCondition ──▶ Condition ── Eval(context, mode) ──▶ bool
//	     └─ Parse ───────────▶ Criteria ─── Check(output, context) ─▶ Verdict
//
// Parsing does all that can fail: shapes, regular expressions and JSON Schemas are checked and compiled once, and what
// is wrong with them is a [ShapeError] or a [SchemaError] with the path of the fault. A parsed value never fails later,
// holds no reference to what it was parsed from and is safe for concurrent use.
//
// Both take JSON as encoding/json decodes it: map[string]any, []any, string, bool, nil and json.Number (or any Go
// number, which is what YAML gives). Every evaluation is bounded: nesting by [MaxDepth], time by a budget of half a
// second that the regular expressions and JSON Schemas of one call share.
package criteria
