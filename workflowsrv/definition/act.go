package definition

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/document"
)

// act builds what a step does that is not the agent's, and the prompt by which the agent is asked to do it.
func (b *builder) act(s *Step, n *document.Node, path string) {
	seconds := func(key string) time.Duration {
		var f float64
		if v := n.Get(key); v != nil {
			fmt.Sscanf(v.Value, "%g", &f) // The schema has seen to it that it is a number.
		}
		return time.Duration(f * float64(time.Second))
	}
	a := &Act{Kind: ActKind(n.Str("type")), Result: n.Str("result"), Timeout: seconds("timeoutSeconds")}
	var prompt strings.Builder
	switch a.Kind {
	case ActTool:
		box, rest, _ := strings.Cut(n.Str("tool"), "/")
		server, tool, _ := strings.Cut(rest, "/")
		a.Toolbox, a.Server, a.Tool = box, server, tool
		a.Arguments = []byte("{}")
		if v := n.Get("arguments"); v != nil {
			a.Arguments = v.AppendJSON(nil)
			b.needs(a, v, path+"/arguments")
		}
		a.Retries = n.Integer("retries")
		a.Expect = b.condition(n.Get("expect"), path+"/expect")
		fmt.Fprintf(&prompt, "Call the tool %s of the server %s in the toolbox %s with these arguments: %s", a.Tool, a.Server, a.Toolbox, a.Arguments)
	case ActWait:
		a.For, a.File, a.Webhook = seconds("seconds"), n.Str("file"), n.Truth("webhook")
		if v := n.Get("file"); v != nil {
			b.needs(a, v, path+"/file")
		}
		given := 0
		for _, there := range []bool{a.For > 0, a.File != "", a.Webhook} {
			if there {
				given++
			}
		}
		if given != 1 {
			b.faults.Add(n, path, `needs one of "seconds", "file" and "webhook": true`)
		}
		if v := n.Get("result"); v != nil && !a.Webhook {
			b.warnings.Add(v, path+"/result", `has no effect: only a step with "webhook": true has a result`)
		}
		if v := n.Get("timeoutSeconds"); v != nil && a.For > 0 {
			b.warnings.Add(v, path+"/timeoutSeconds", `has no effect beside "seconds"`)
		}
		switch {
		case a.Webhook:
			prompt.WriteString("Wait until the user says that what this step waits for has happened, then go on.")
		case a.File != "":
			fmt.Fprintf(&prompt, "Wait until there is a file %s, then go on.", a.File)
		default:
			fmt.Fprintf(&prompt, "Wait %v, then go on.", a.For)
		}
	case ActAsk:
		a.Question, a.Answers = n.Str("prompt"), n.Strs("answers")
		prompt.WriteString("Ask the user this, and wait for the answer; do not answer yourself:\n\n" + a.Question)
		if len(a.Answers) > 0 {
			prompt.WriteString("\n\nThe answer is one of: " + strings.Join(a.Answers, ", "))
		}
	default:
		return
	}
	if a.Result != "" {
		fmt.Fprintf(&prompt, "\n\nSet the context variable '%s' to what came of it.", a.Result)
	}
	s.Act, s.Prompt = a, prompt.String()
}

var (
	// braced is what stands for a variable, and partOf the variable of which it is a field, or to which it adds.
	braced = regexp.MustCompile(`\{\{\s*(.*?)\s*\}\}`)
	partOf = regexp.MustCompile(`^([\pL_][\pL\pN_]*)(?:\..+|\s*[+-]\s*\d+)$`)
)

// needs notes the variables that the texts below n are made of: without one of them the step cannot be carried out.
func (b *builder) needs(a *Act, n *document.Node, path string) {
	for i, item := range n.Items {
		b.needs(a, item, path+document.Pointer(strconv.Itoa(i)))
	}
	for _, m := range n.Members {
		b.needs(a, m.Value, path+document.Pointer(m.Key))
	}
	for _, braces := range braced.FindAllStringSubmatch(n.Text(), -1) {
		name := braces[1]
		if part := partOf.FindStringSubmatch(name); part != nil {
			name = part[1]
		}
		if name == "" || name[0] == '.' {
			b.warnings.Add(n, path, "%s is no variable, so the step cannot be carried out; a text with such braces has to be the value of a variable", braces[0])
			continue
		}
		b.tests(name, placedAt{n, path})
		if !slices.Contains(a.Needs, name) {
			a.Needs = append(a.Needs, name)
		}
	}
}
