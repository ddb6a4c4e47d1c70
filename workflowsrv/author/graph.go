package author

import (
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// Mermaid draws the workflow as a flow chart in the language of mermaid.js.
func Mermaid(w *definition.Workflow) string {
	m := &mermaid{}
	m.line("flowchart TD")
	m.line(`  start(["%s"])`, quoted(w.Name))
	m.ends = []string{"start"}
	for i, s := range w.Steps {
		if !s.InLoop {
			m.step(s, fmt.Sprintf("s%d", i), "  ")
		}
	}
	m.line(`  done(["done"])`)
	m.join("done", "  ")
	return m.b.String()
}

type mermaid struct {
	b    strings.Builder
	ends []string // what leads to the next node, with the label of its edge
}

func (m *mermaid) line(format string, args ...any) { fmt.Fprintf(&m.b, format+"\n", args...) }

// join draws the edges to a node.
func (m *mermaid) join(id, indent string) {
	for _, from := range m.ends {
		m.line("%s%s --> %s", indent, from, id)
	}
	m.ends = nil
}

func (m *mermaid) step(s *definition.Step, id, indent string) {
	var skipped []string
	if s.RunCondition != nil {
		m.line(`%s%sc{"%s"}`, indent, id, quoted(s.RunCondition.String()))
		m.join(id+"c", indent)
		m.ends, skipped = []string{id + "c -- yes"}, []string{id + "c -- no"}
	}
	if s.Loop == nil {
		m.line(`%s%s["%s"]`, indent, id, quoted(label(s)))
		m.join(id, indent)
		m.ends = append([]string{id}, skipped...)
		return
	}
	m.line(`%s%sl{{"%s"}}`, indent, id, quoted(s.ID+": "+LoopText(s.Loop)))
	m.join(id+"l", indent)
	m.line(`%ssubgraph %s ["%s"]`, indent, id, quoted(s.Title))
	m.ends = []string{id + "l -- pass"}
	for i, body := range s.Loop.Body {
		m.step(body, fmt.Sprintf("%sb%d", id, i), indent+"  ")
	}
	m.line("%send", indent)
	m.join(id+"l", indent)
	m.ends = append([]string{id + "l -- end"}, skipped...)
}

// quoted makes a text fit for a label.
func quoted(text string) string {
	return strings.NewReplacer(`"`, "#quot;", "<", "#lt;", ">", "#gt;", "\n", " ", "\r", " ").Replace(text)
}

func label(s *definition.Step) string {
	text := s.ID + ": " + s.Title
	if s.Confirm.Always || s.Confirm.When != nil {
		text += " (asks the user)"
	}
	return text
}

// LoopText says in words how a loop goes round.
func LoopText(l *definition.Loop) string {
	most := "at most " + passes(l.MaxIterations)
	switch {
	case l.ItemsVar != "":
		return "for each of " + l.ItemsVar + ", " + most
	case l.CountVar != "":
		return l.CountVar + " times, " + most
	case l.Kind == definition.For:
		return passes(l.Count)
	case l.Condition != nil:
		return string(l.Kind) + " " + l.Condition.String() + ", " + most
	case l.ByArtifact:
		return "until the agent stops it, " + most
	}
	return most
}

func passes(n int) string {
	if n == 1 {
		return "1 pass"
	}
	return fmt.Sprintf("%d passes", n)
}
