package criteria

import "strings"

// issues are the messages of what failed. An "or" is one issue that names every alternative; what stands in a "not"
// is an issue by the message of the rule that should not have passed.
func (n *Node) issues() []string {
	if n.Outcome != Failed && n.Kind != opNot {
		return nil
	}
	switch n.Kind {
	case opOr:
		var alternatives []string
		for _, child := range n.Children {
			alternatives = append(alternatives, strings.Join(child.issues(), " and "))
		}
		return []string{"At least one of these is needed: " + strings.Join(alternatives, "; ")}
	case opNot:
		return n.Children[0].messages()
	case kindAll, opAnd:
		var list []string
		for _, child := range n.Children {
			if child.Outcome == Failed {
				list = append(list, child.issues()...)
			}
		}
		return list
	}
	return []string{n.Message}
}

// messages are those of the rules under a node, whatever their outcome.
func (n *Node) messages() []string {
	if len(n.Children) == 0 || n.Kind == "schema" {
		return []string{n.Message}
	}
	var list []string
	for _, child := range n.Children {
		list = append(list, child.messages()...)
	}
	return list
}

// suggestions say what to do about each failure.
func (n *Node) suggestions() []string {
	if n.Outcome != Failed {
		return nil
	}
	if n.advice != "" {
		return []string{n.advice}
	}
	var list []string
	for _, child := range n.Children {
		list = append(list, child.suggestions()...)
	}
	return list
}
