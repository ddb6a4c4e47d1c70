package pageview

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/page"
)

// asked is what a query may say. Each action has its part of it.
type asked struct {
	ID        string          `json:"id"`
	Agree     bool            `json:"agree"`
	User      string          `json:"user"`
	State     string          `json:"state"`
	Answer    string          `json:"answer"`
	Reason    string          `json:"reason"`
	PID       int             `json:"pid"`
	Toolbox   string          `json:"toolbox"`
	Server    string          `json:"server"`
	Enabled   bool            `json:"enabled"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// asking is an action that reads what the query says.
func asking(do func(context.Context, *page.Query, *asked) (any, error)) func(context.Context, *page.Query) (any, error) {
	return func(ctx context.Context, q *page.Query) (any, error) {
		var a asked
		if err := json.Unmarshal(q.Body, &a); err != nil {
			return nil, fmt.Errorf("the request is not understood: %w", foreign.NewError(err))
		}
		return do(ctx, q, &a)
	}
}

// inToolbox is an action about a toolbox, which the viewer must be allowed to use.
func inToolbox(do func(context.Context, *page.Query, *asked) (any, error)) func(context.Context, *page.Query) (any, error) {
	return asking(func(ctx context.Context, q *page.Query, a *asked) (any, error) {
		if a.Toolbox == "" || !q.May(a.Toolbox) {
			return nil, fmt.Errorf("there is no toolbox %q here", foreign.NewName(a.Toolbox))
		}
		return do(ctx, q, a)
	})
}

// commands run commands of this program.
type commands func(ctx context.Context, out io.Writer, args ...string) error

// json runs a command that prints JSON.
func (run commands) json(ctx context.Context, args ...string) (json.RawMessage, error) {
	var out bytes.Buffer
	if err := run(ctx, &out, args...); err != nil {
		return nil, err
	}
	return json.RawMessage(bytes.TrimSpace(out.Bytes())), nil
}

// printed is an action that gives what a command prints.
func (run commands) printed(args ...string) func(context.Context, *page.Query) (any, error) {
	return func(ctx context.Context, _ *page.Query) (any, error) { return run.json(ctx, args...) }
}

// printedOf is printed for a command about one thing, which the query names.
func (run commands) printedOf(args ...string) func(context.Context, *page.Query, *asked) (any, error) {
	return func(ctx context.Context, _ *page.Query, a *asked) (any, error) {
		return run.json(ctx, about(args, a.ID)...)
	}
}

// about adds to the arguments of a command what is not one of its flags, whatever it looks like.
func about(args []string, names ...string) []string {
	return append(append(args[:len(args):len(args)], "--"), names...)
}

// conversations are those of the viewer, or of all if the viewer may act for others.
func (run commands) conversations(ctx context.Context, q *page.Query) (any, error) {
	return run.json(ctx, whose(q, "conversations", "list", "--json", "--limit="+mostKept)...)
}

func (run commands) conversation(ctx context.Context, q *page.Query, a *asked) (any, error) {
	return run.json(ctx, about(whose(q, "conversations", "show", "--json"), a.ID)...)
}

// whose keeps a command about runs or conversations to those of the viewer.
func whose(q *page.Query, args ...string) []string {
	if q.Admin {
		return args
	}
	return append(args, "--user="+q.Name)
}
