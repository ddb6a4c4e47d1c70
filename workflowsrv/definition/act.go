package definition

import (
	"fmt"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
)

// ActKind says who or what carries out a step that is not the agent's.
type ActKind string

// The kinds of steps that are not the agent's. Where no run is kept, the agent is asked to do them.
const (
	ActTool ActKind = "tool" // a call of a tool
	ActWait ActKind = "wait" // until a time or for a file
	ActAsk  ActKind = "ask"  // a question to the person
)

// An Act is what such a step does.
type Act struct {
	Kind ActKind
	// Result names the variable that takes what came of it, "" for none.
	Result string
	// Timeout bounds a call or the waiting for a file; 0 is none of the step's own.
	Timeout time.Duration

	// Toolbox, Server and Tool are what is called, with Arguments, JSON in whose strings {{name}} stands for a variable. A call
	// that fails, or after which Expect does not hold, is made Retries times more.
	Toolbox, Server, Tool string
	Arguments             []byte
	Retries               int
	Expect                *criteria.Condition

	// For is how long to wait; File and Webhook are what to wait for, the latter a request at a gateway.
	For     time.Duration
	File    string
	Webhook bool

	// Question is what the person is asked, and Answers what there is to choose from; none: any text.
	Question string
	Answers  []string
}

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

// Acts returns what carries out the step if that is not the agent, "" if it is.
func (s *Step) Acts() ActKind {
	if s.Act == nil {
		return ""
	}
	return s.Act.Kind
}
