package criteria

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// TestOperatorsAreInTheSchema makes sure that the schema of workflow files has each operator, and each operator what
// the schema has: an operator that the schema lacks is refused in every file.
func TestOperatorsAreInTheSchema(t *testing.T) {
	data, err := os.ReadFile("../definition/workflow.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Definitions struct {
			Condition struct {
				Properties map[string]struct{ Type string }
			}
		}
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	properties := schema.Definitions.Condition.Properties
	for _, op := range operators() {
		property, ok := properties[op.name]
		if !ok {
			t.Errorf("the condition in workflow.schema.json lacks %q: add it there and to docs/workflows.md", op.name)
			continue
		}
		for kind, operand := range map[string]any{"string": "x", "number": 1.0, "array": []any{"x"}, "boolean": true} {
			usable := op.unusable(&test{op: op.name, operand: operand}) == ""
			if allowed := property.Type == "" || property.Type == kind; usable != allowed {
				t.Errorf("%s with a %s: got usable %v, allowed by workflow.schema.json %v", op.name, kind, usable, allowed)
			}
		}
	}
	for name := range properties {
		if known := append(operatorNames(), "var", opAnd, opOr, opNot); !slices.Contains(known, name) {
			t.Errorf("workflow.schema.json has %q in a condition, which is no operator", name)
		}
	}
}
