package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/internal/page"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/status"
	"github.com/mcp-workbench/workbench/internal/trail"
	"github.com/mcp-workbench/workbench/proxy"
)

// viewing is what the page of this process shows and does. Most of it is what commands of this program print as JSON.
type viewing struct {
	env  *environment
	page *page.Page
	key  *page.Key // lets in the user of this machine, to see all their workbenches; nil on a gateway, where tokens do

	// Both are set before the page is served.
	front *proxy.HTTP // by which the page calls tools
	own   func() status.Workbench
}

// newViewing makes the page, for which way says how one comes in.
func newViewing(env *environment, way string, secure bool) *viewing {
	v := &viewing{env: env}
	if way == page.ByKey {
		v.key = page.NewKey()
	}
	v.page = page.New(page.Options{Enter: v.enter, Stays: v.stays, Told: pageTrail, Way: way, Secure: secure, Actions: v.actions()})
	return v
}

// pageTrail has it told who came in by the page of a gateway, and who was turned away.
func pageTrail(r *http.Request, who page.Viewer, status int, why string) {
	e := trail.Event{Event: trail.Login, User: who.Name, Status: status, Err: why}
	if e.Outcome = "entered"; status != http.StatusOK {
		e.Event, e.Outcome = trail.Refused, ""
	}
	proxy.TellOf(r, e)
}

// enter says who a credential stands for.
func (v *viewing) enter(ctx context.Context, credential string) (page.Viewer, error) {
	if v.key != nil {
		if !v.key.Use(credential) {
			return page.Viewer{}, &page.Refusal{Reason: errors.New("this address has been used, or is not whole"), Hint: "run workbench ui again: it prints a new one"}
		}
		return page.Viewer{Principal: principal.Principal{Name: principal.Default, Admin: true}}, nil
	}
	who, err := v.front.Admit(ctx, credential)
	return page.Viewer{Principal: who, Token: credential}, err
}

// stays reports whether who came in with a token still would.
func (v *viewing) stays(ctx context.Context, of page.Viewer) error {
	if v.key != nil {
		return nil
	}
	_, err := v.front.Admit(ctx, of.Token)
	if denied := new(principal.DeniedError); errors.As(err, &denied) {
		return page.ErrOut
	}
	return err
}

// actions are all that the page can ask for.
func (v *viewing) actions() map[string]page.Action {
	return map[string]page.Action{
		"watch":         {Do: v.watch},
		"toolboxes":     {Do: v.toolboxes},
		"tools":         {Do: v.tools},
		"open":          {Do: v.open},
		"call":          {Do: v.call},
		"calls":         {Do: v.calls},
		"recorded":      {Do: v.recorded},
		"restart":       {Do: v.restart},
		"able":          {Admin: true, Do: v.able},
		"login":         {Admin: true, Do: v.login},
		"answer":        {Admin: true, Do: v.answer},
		"config":        {Admin: true, Do: v.config},
		"workflows":     {Admin: true, Do: v.printed("workflow", "list", "--json")},
		"workflow":      {Admin: true, Do: v.printedOf("workflow", "show", "--json")},
		"conversations": {Do: v.conversations},
		"conversation":  {Do: v.conversation},
	}
}

// aside runs a command of this program as the user would, and gives what it writes to out. That a command has printed all
// there is to say and ends with another code than 0 is no error.
func (e *environment) aside(ctx context.Context, out io.Writer, args ...string) error {
	sub := e.beside(out)
	defer func() { sub.hosts.close() }()
	defer sub.Logs.Close()
	root := rootCommand(sub)
	sub.ConfigPath = e.ConfigPath // the flag has its default
	root.SetArgs(append([]string{"--log-level", "off"}, args...))
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	err := root.ExecuteContext(ctx)
	hint := cli.HintOf(err)
	switch {
	case errors.As(err, new(cli.SilentError)):
		return nil
	case hint != "":
		return &page.Refusal{Reason: err, Hint: hint}
	}
	return err
}

// beside is an environment for one more command in this process.
func (e *environment) beside(out io.Writer) *environment {
	return &environment{Environment: e.Environment.Beside(out), approvals: e.approvals, masks: e.masks}
}

// json runs a command that prints JSON.
func (v *viewing) json(ctx context.Context, args ...string) (json.RawMessage, error) {
	var out bytes.Buffer
	if err := v.env.aside(ctx, &out, args...); err != nil {
		return nil, err
	}
	return json.RawMessage(bytes.TrimSpace(out.Bytes())), nil
}

// printed is an action that gives what a command prints.
func (v *viewing) printed(args ...string) func(context.Context, *page.Query) (any, error) {
	return func(ctx context.Context, _ *page.Query) (any, error) { return v.json(ctx, args...) }
}

// printedOf is printed for a command about one thing, which the query names.
func (v *viewing) printedOf(args ...string) func(context.Context, *page.Query) (any, error) {
	return func(ctx context.Context, q *page.Query) (any, error) {
		var asked struct {
			ID string `json:"id"`
		}
		if err := read(q, &asked); err != nil {
			return nil, err
		}
		return v.json(ctx, about(args, asked.ID)...)
	}
}

// about adds to the arguments of a command what is not one of its flags, whatever it looks like.
func about(args []string, names ...string) []string {
	return append(append(args[:len(args):len(args)], "--"), names...)
}

// read reads what a query says.
func read(q *page.Query, to any) error {
	if err := json.Unmarshal(q.Body, to); err != nil {
		return fmt.Errorf("the request is not understood: %w", err)
	}
	return nil
}

// conversations are those of the viewer, or of all if the viewer may act for others.
func (v *viewing) conversations(ctx context.Context, q *page.Query) (any, error) {
	list, err := v.json(ctx, v.whose(q, "conversations", "list", "--json")...)
	if errors.Is(err, errNoneKept) {
		return []any{}, nil
	}
	return list, err
}

func (v *viewing) conversation(ctx context.Context, q *page.Query) (any, error) {
	return v.printedOf(v.whose(q, "conversations", "show", "--json")...)(ctx, q)
}

// whose keeps a command about conversations to those of the viewer.
func (v *viewing) whose(q *page.Query, args ...string) []string {
	if q.Admin {
		return args
	}
	return append(args, "--user="+q.Name)
}
