package criteria

import (
	"fmt"
	"slices"
	"strings"
)

// issues name what keeps a node from being as wanted, by the messages of its rules. Where any one of several would do,
// they are one issue.
func (n *Node) issues(want Outcome) []string {
	if n.Outcome == want || n.Outcome == Skipped {
		return nil
	}
	if n.leaf() {
		return []string{n.Message}
	}
	if n.Kind == opNot {
		return n.Children[0].issues(opposite(want))
	}
	groups := n.gather(want, (*Node).issues)
	if !n.anyOne(want) || len(groups) < 2 {
		return slices.Concat(groups...)
	}
	text := "At least one of these is needed: "
	if want == Failed {
		text = "These must not all hold: "
	}
	return []string{text + join(groups, " and ", "; ")}
}

// suggestions say what to do so that a node becomes as wanted.
func (n *Node) suggestions(want Outcome) []string {
	switch {
	case n.Outcome == want || n.Outcome == Skipped:
		return nil
	case n.leaf() && n.Outcome == Passed && n.undo != "":
		return []string{n.undo}
	case n.leaf():
		return n.mend
	case n.Kind == opNot:
		return n.Children[0].suggestions(opposite(want))
	}
	groups := n.gather(want, (*Node).suggestions)
	if !n.anyOne(want) || len(groups) < 2 {
		return slices.Concat(groups...)
	}
	for i, group := range groups {
		groups[i] = []string{fmt.Sprintf("(%d) %s", i+1, strings.Join(group, " "))}
	}
	return []string{"One of these is enough: " + join(groups, " ", " ")}
}

// leaf reports whether a node stands for one rule, as against a combination of rules.
func (n *Node) leaf() bool { return !combines(n.Kind) }

// anyOne reports whether one child is enough to make a combination as wanted.
func (n *Node) anyOne(want Outcome) bool { return (n.Kind == opOr) == (want == Passed) }

func (n *Node) gather(want Outcome, texts func(*Node, Outcome) []string) [][]string {
	var groups [][]string
	for _, child := range n.Children {
		if list := texts(child, want); len(list) > 0 {
			groups = append(groups, list)
		}
	}
	return groups
}

func opposite(o Outcome) Outcome {
	if o == Passed {
		return Failed
	}
	return Passed
}

func join(groups [][]string, within, between string) string {
	parts := make([]string, len(groups))
	for i, group := range groups {
		parts[i] = strings.Join(group, within)
	}
	return strings.Join(parts, between)
}
