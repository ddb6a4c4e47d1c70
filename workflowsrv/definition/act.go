package definition

import (
	"fmt"
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
		}
		if v := n.Get("retries"); v != nil {
			fmt.Sscanf(v.Value, "%d", &a.Retries) // as above
		}
		a.Expect = b.condition(n.Get("expect"), path+"/expect")
		fmt.Fprintf(&prompt, "Call the tool %s of the server %s in the toolbox %s with these arguments: %s", a.Tool, a.Server, a.Toolbox, a.Arguments)
	case ActWait:
		a.For, a.File, a.Webhook = seconds("seconds"), n.Str("file"), n.Truth("webhook")
		given := 0
		for _, there := range []bool{a.For > 0, a.File != "", a.Webhook} {
			if there {
				given++
			}
		}
		if given != 1 {
			b.faults.Add(n, path, `needs one of "seconds", "file" and "webhook": true`)
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
