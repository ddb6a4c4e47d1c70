package criteria

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
)

func (j *judge) schema(r *rule, n *Node) {
	n.Expected = "JSON that satisfies the schema"
	if j.document == nil {
		d := decode(j.output)
		j.document = &d
	}
	if j.document.err != nil {
		n.giveUp(j.document.err)
		n.mend = []string{fmt.Sprintf("Send JSON that can be judged: %v.", j.document.err)}
		return
	}
	if j.document.fault != "" {
		n.Outcome, n.Got, n.Message = Failed, "no JSON: "+j.document.fault, cmp.Or(r.message, issueNotJSON)
		n.mend = []string{j.mendJSON()}
		return
	}
	v := j.document.value
	faults, err := r.schema.run(v, j.meter)
	if s, ok := v.(string); ok && faults != nil {
		switch d := decode(s); d.value.(type) {
		case map[string]any, []any:
			j.warn("The output was a JSON string that holds JSON; it was judged by what the string holds. Return the JSON itself.")
			v = d.value
			faults, err = r.schema.run(v, j.meter)
		case nil:
			err = d.err
		}
	}
	switch {
	case err != nil:
		n.giveUp(err)
	case faults == nil:
		n.Outcome, n.Got = Passed, document.Brief(v)
		n.undo = "Change the JSON so that it does not satisfy the schema of this rule."
	default:
		n.Outcome, n.Got = Failed, document.Brief(v)
		n.Children = explainFaults(faults, v)
		n.describe(r)
	}
}

func (j *judge) mendJSON() string {
	if at, ok := embedded(j.output); ok {
		return fmt.Sprintf("Send the JSON alone, without the text around it; a JSON value seems to start at %s.", place(j.output, at))
	}
	return fmt.Sprintf("Send one JSON value: %s.", j.document.fault)
}

// describe sums the faults up in the node of the rule.
func (n *Node) describe(r *rule) {
	var texts []string
	for _, child := range n.Children {
		n.mend = append(n.mend, child.mend...)
		texts = append(texts, fmt.Sprintf("Validation Error at '%s': %s", strings.TrimPrefix(child.Where, spot("")), child.Expected))
	}
	if r.message == "" && len(texts) > 0 {
		n.Message = strings.Join(texts, "; ")
	}
}
