package workflowsrv

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/mcp-workbench/workbench/internal/mcpserve"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// A service carries out tools.
type service struct {
	*shelf
	opts   Options
	runs   *runs.Engine
	listed atomic.Pointer[cachedList] // the answer of workflow_list for one catalogue
}

// A tool is one operation, the same through both doors.
type tool struct {
	name, title, description string
	// short is the description in the bare form.
	short string
	// input and output are JSON Schemas; bareOutput is that of the bare form where the published API has another, and
	// example is its pair of request and response.
	input, output string
	bareOutput    string
	example       string
	// arguments are the names it knows, aliases included.
	arguments []string
	run       func(ctx context.Context, s *service, a arguments) (result, *fault)

	// keep is what the tool does that the bare form does not know: nil if nothing. Where there is run, too, keep is for
	// calls with one of the arguments in more. These are the arguments that it knows besides, and keptInput and
	// keptOutput the schemas with them, "" for those above.
	keep                  func(ctx context.Context, s *service, a arguments, who runs.Caller) (result, *fault)
	more                  []string
	keptInput, keptOutput string
	// changes says that the tool changes what is kept.
	changes bool
}

// A result is what a tool gives: a JSON object.
type result struct {
	json []byte
	// more are members that only the MCP door adds: what helps an agent to do better.
	more []byte
	// quoted is the text for the model as a JSON string, or nil: the text is then json.
	quoted []byte
	// question takes the place of both where it is not nil.
	question *runs.Question
}

// call carries out a tool. Both doors lead here; who is nil for the bare one, which knows no runs. A panic costs this
// call only: the server goes on for all the others.
func (s *service) call(ctx context.Context, t *tool, raw []byte, who *runs.Caller) (r result, f *fault) {
	defer mcpserve.Recover(s.opts.Logger, t.name, func() {
		r, f = result{}, &fault{code: wire.CodeInternal, advice: "this is a fault of the server; its log says more"}
	})
	known := t.arguments
	if who != nil {
		known = append(slices.Clip(known), t.more...)
	}
	a := parseArguments(raw, t.name, known)
	if a.fault != nil {
		return result{}, a.fault
	}
	a.bare = who == nil
	if t.keep != nil && (t.run == nil || slices.ContainsFunc(t.more, a.has)) {
		if who.Principal == "" {
			return result{}, &fault{code: codeState, advice: "a run belongs to a user, and this call is for none: what a step or a command calls cannot begin, read or change runs"}
		}
		return t.keep(ctx, s, a, *who)
	}
	return t.run(ctx, s, a)
}
