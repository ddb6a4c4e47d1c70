package config

import (
	"path"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
)

// Approve says before which calls of a server's tools a person is asked, by the names of the tools.
type Approve []ApproveRule

// ApproveRule is what holds for the tools that a name or glob fits.
type ApproveRule struct {
	Tools string
	When  ApproveWhen
}

// ApproveWhen says when a person is asked before a call.
type ApproveWhen string

// When a person is asked.
const (
	ApproveNever  ApproveWhen = "never"
	ApproveWrites ApproveWhen = "writes" // before calls of tools that do not say that they only read
	ApproveAlways ApproveWhen = "always"
)

func approveChoices() []string {
	return []string{string(ApproveNever), string(ApproveWrites), string(ApproveAlways)}
}

// readApprove reads when a person is asked: one word for all tools, or one by names and globs, of which the first that
// fits counts.
func readApprove(o *object) Approve {
	n, at, ok := o.take("approve")
	switch {
	case !ok:
		return nil
	case n.Kind == document.Text:
		return o.c.approveRule(nil, "*", n, at)
	case n.Kind != document.Object:
		o.c.fault(position{n.Line, n.Column}, at, "want "+oneOf(approveChoices())+", or an object of these by names of tools, got "+got(n, false), "")
		return nil
	}
	var rules Approve
	members, _ := o.c.members(n, at, func(string) bool { return false })
	for _, m := range members {
		if _, err := path.Match(m.Key, ""); err != nil || m.Key == "" || strings.HasPrefix(m.Key, "!") {
			o.c.fault(position{m.Line, m.Column}, join(at, m.Key), "want the name of a tool or a glob of *, ? and [a-z], got "+quote(m.Key), "the first that fits counts")
		}
		rules = o.c.approveRule(rules, m.Key, m.Value, join(at, m.Key))
	}
	return rules
}

func (c *checker) approveRule(rules Approve, tools string, n *document.Node, at string) Approve {
	v, ok := c.choice(n, at, approveChoices())
	if !ok {
		// A user who wanted to be asked must not go unasked because of a mistake.
		return append(rules, ApproveRule{tools, ApproveAlways})
	}
	return append(rules, ApproveRule{tools, ApproveWhen(v.text)})
}
