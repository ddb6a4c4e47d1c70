package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/runs"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/tools"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/host/commandhost"
	"github.com/mcp-workbench/workbench/host/pageview"
	"github.com/mcp-workbench/workbench/internal/page"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/trail"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/proxy/httpfront"
	workflowruns "github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// newView makes the page of this process, for which way says how one comes in.
func newView(env *opening.Environment, way string, secure bool) *pageview.View {
	side := pageSide{env}
	return pageview.New(pageview.Options{
		Version: cli.Version(), Way: way, Secure: secure, Told: pageTrail, Run: side.aside, Approvals: env.Approvals, Dirs: env.RuntimeDirs(),
		Recall: env.Recalled, Builtins: env.Builtins, Running: side.callRunning, Files: side.files,
		Pending: side.pending, Say: side.say, Workflows: side.workflows, HasRuns: side.hasRuns,
	})
}

// pageSide is what the page has the program do.
type pageSide struct{ *opening.Environment }

// pageFront is what the page asks: who is let in over HTTP, and what is served.
type pageFront struct {
	*httpfront.Front
	*proxy.Proxy
}

// pageTrail has it told who came in by the page of a gateway, and who was turned away.
func pageTrail(r *http.Request, who page.Viewer, status int, why string) {
	e := trail.Event{Event: trail.Login, User: who.Name, Status: status, Err: why}
	if e.Outcome = "entered"; status != http.StatusOK {
		e.Event, e.Outcome = trail.Refused, ""
	}
	httpfront.TellOf(r, e)
}

// aside runs a command of this program as the user would, and gives what it writes to out.
func (e pageSide) aside(ctx context.Context, out io.Writer, args ...string) error {
	err := e.Aside(ctx, out, io.Discard, args...)
	if hint := cli.HintOf(err); hint != "" {
		return &page.Refusal{Reason: err, Hint: hint}
	}
	return err
}

// callRunning calls a tool of a server that runs for a client of this user here. It reports false if there is none.
func (e pageSide) callRunning(ctx context.Context, who *pageview.Person, box, server, tool string, arguments json.RawMessage) (json.RawMessage, bool, error) {
	cfg, _, err := e.LoadBy((*config.Source).ParseUsable)
	if err != nil {
		return nil, false, err
	}
	guest, found := tools.Running(ctx, e.Environment, cfg, box, server, box+"/"+server+"/"+tool)
	if guest == nil {
		return nil, false, nil
	}
	params, err := guest.Params(found, arguments)
	if err != nil {
		return nil, true, err
	}
	result, err := tools.NewCaller(ctx, "workbench ui", tools.Person{Progress: who.Progress, Ask: who.Ask}).Call(ctx, guest, "tools/call", params)
	return result, true, err
}

// pending gives what a run of a workflow asks a person.
func (e pageSide) pending(ctx context.Context, user, run string) (question, state string, answers []string, err error) {
	sub := e.Beside(io.Discard)
	defer func() { sub.Hosts.Close() }()
	q, answers, err := runs.Pending(ctx, sub, user, run)
	return q.Message, q.State, answers, err
}

// usable gives the servers of the configuration that somebody may use.
func (e pageSide) usable(who principal.Principal) (servers []config.Server, err error) {
	cfg, _, err := e.LoadBy((*config.Source).ParseUsable)
	if err != nil {
		return nil, err
	}
	for box, s := range cfg.Servers() {
		if !s.Disabled && s.Problem == nil && who.May(box.Name) {
			servers = append(servers, *s)
		}
	}
	return servers, nil
}

// workflows are those of commands that somebody may use, by which conversations are kept. Their files are read.
func (e pageSide) workflows(who principal.Principal) (names []string, err error) {
	servers, err := e.usable(who)
	for _, s := range servers {
		if s.Builtin == config.BuiltinCommands {
			if name := commandhost.Workflow(s.Commands); name != "" {
				names = append(names, name)
			}
		}
	}
	return names, err
}

// hasRuns reports whether somebody may use a server of workflows, to which runs belong.
func (e pageSide) hasRuns(who principal.Principal) bool {
	servers, _ := e.usable(who) // what cannot be read gives nobody anything
	return slices.ContainsFunc(servers, func(s config.Server) bool { return s.Builtin == config.BuiltinWorkflow })
}

// say has a run go by what a person says on the page.
func (e pageSide) say(ctx context.Context, user, run, state, answer, reason string) error {
	sub := e.Beside(io.Discard)
	defer func() { sub.Hosts.Close() }()
	o := workflowruns.Opinion{Run: run, Question: state, Answer: answer, Reason: reason, How: "page"}
	_, err := runs.Say(ctx, sub, user, o)
	return err
}

// files gives the files of the configuration, and what is wrong with them.
func (e pageSide) files() (paths []string, wrong, err error) {
	from, err := cli.FindSources(e.Environment.Environment)
	if err != nil {
		return nil, nil, err
	}
	_, wrong = from.Load((*config.Source).Parse)
	for _, path := range []string{from.Places.Named, from.Places.User, from.Places.Project} {
		if path != "" {
			paths = append(paths, path)
		}
	}
	return paths, wrong, nil
}
