package pageview

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/page"
	"github.com/mcp-workbench/workbench/internal/principal"
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

// keeps shows the conversations that are kept.
type keeps struct {
	run commands
	of  func(who principal.Principal) (workflows []string, err error)
}

// isLimited reports whether somebody may use some toolboxes alone, and does not act for others.
func isLimited(who principal.Principal) bool { return !who.Admin && who.Toolboxes != nil }

// mostSought is among how many conversations of a viewer those are sought that a limited token may see.
const mostSought = "10000"

// conversations are those of the viewer, or of all if the viewer may act for others.
func (k keeps) conversations(ctx context.Context, q *page.Query) (any, error) {
	list := whose(q, "conversations", "list", "--json")
	if !isLimited(q.Principal) {
		return k.run.json(ctx, append(list, "--limit="+mostKept)...)
	}
	workflows, err := k.of(q.Principal)
	if err != nil {
		return nil, err
	}
	text, err := k.run.json(ctx, append(list, "--limit="+mostSought)...)
	if err != nil {
		return nil, err
	}
	var all []json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c json.RawMessage) bool { return !slices.Contains(workflows, workflowOf(c)) })
	return all[:min(len(all), mostShown)], nil
}

// workflowOf is the workflow that a conversation, as commands print it, is about.
func workflowOf(conversation json.RawMessage) string {
	var about struct{ Workflow string }
	_ = json.Unmarshal(conversation, &about) // commands of this program print objects
	return about.Workflow
}

func (k keeps) conversation(ctx context.Context, q *page.Query, a *asked) (any, error) {
	text, err := k.run.json(ctx, about(whose(q, "conversations", "show", "--json"), a.ID)...)
	if err != nil || !isLimited(q.Principal) {
		return text, err
	}
	workflows, err := k.of(q.Principal)
	if err == nil && !slices.Contains(workflows, workflowOf(text)) {
		err = errors.New("this token may use no toolbox that the conversation belongs to")
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// whose keeps a command about runs or conversations to those of the viewer.
func whose(q *page.Query, args ...string) []string {
	if q.Admin {
		return args
	}
	return append(args, "--user="+q.Name)
}
