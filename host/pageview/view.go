// Package pageview answers what the page for browsers asks: of the user of a machine, who sees all their workbenches,
// or of those whom a gateway lets in. Most answers are what commands of the program print as JSON.
//
//	View ──► page.Page, which lets in and frames
//	  └────► tools, record, watch, configuration ──► Front, commands, the sockets of other workbenches
package pageview

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/page"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/status"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Options are what a View gets from the program around it.
type Options struct {
	Version string
	// Way is how one comes in. By [page.ByKey] comes the user of this machine; otherwise the page is a gateway's.
	Way string
	// Secure says that browsers come by HTTPS.
	Secure bool
	// Told hears who came in and who was turned away; nil means nobody does.
	Told func(r *http.Request, who page.Viewer, status int, why string)
	// Run runs a command of this program as its user would, and gives what it writes to out. An error with advice is a
	// *page.Refusal.
	Run func(ctx context.Context, out io.Writer, args ...string) error
	// Recall gives all toolboxes of the configuration as it is now, with what was last seen of their servers.
	Recall func() ([]*toolbox.Toolbox, *config.Config, error)
	// Builtins gives the tools of the servers inside this process that a toolbox has, as commands print them.
	Builtins func(ctx context.Context, box string) ([]json.RawMessage, error)
	// Running calls a tool of a server that runs for a client of this user here. It reports false if there is none.
	Running func(ctx context.Context, who *Person, box, server, tool string, arguments json.RawMessage) (result json.RawMessage, found bool, err error)
	// Files gives the files of the configuration, and what is wrong with them.
	Files func() (paths []string, wrong, err error)
	// Pending gives what a run of a workflow asks a person, and the answers there are to choose from; nil: any text.
	// Say has the run go by an answer to the question with the state. The user is whose it is, "" where no other has one
	// of that name.
	Pending func(ctx context.Context, user, run string) (question, state string, answers []string, err error)
	Say     func(ctx context.Context, user, run, state, answer, reason string) error
	// Workflows and HasRuns say what somebody may see of what is kept whose token is limited to toolboxes: the conversations
	// of which workflows, and whether runs.
	Workflows func(who principal.Principal) ([]string, error)
	HasRuns   func(who principal.Principal) bool
	// Approvals are the calls of this process that wait for a person.
	Approvals *approval.Register
	// Dirs are the folders of the sockets by which workbenches of this user are reached.
	Dirs []string
}

// View is what the page of a process shows and does.
type View struct {
	Page *page.Page
	Key  *page.Key // lets in the user of this machine; nil on a gateway, where tokens do

	served *served
}

// New makes the view and its page, which is served after Begin.
func New(opts Options) *View {
	v := &View{served: new(served)}
	if opts.Way == page.ByKey {
		v.Key = page.NewKey()
	}
	v.Page = page.New(page.Options{Enter: v.enter, Stays: v.stays, Told: opts.Told, Way: opts.Way, Secure: opts.Secure, Actions: v.actions(&opts)})
	return v
}

// Begin says which front the page asks, and what says where this process stands.
func (v *View) Begin(front Front, own func() status.Workbench) {
	v.served.Front, v.served.own = front, own
}

// enter says who a credential stands for.
func (v *View) enter(ctx context.Context, credential string) (page.Viewer, error) {
	if v.Key != nil {
		if !v.Key.Use(credential) {
			return page.Viewer{}, &page.Refusal{Reason: errors.New("this address was used already, or is incomplete"), Hint: "run workbench ui again: it prints a new one"}
		}
		return page.Viewer{Principal: principal.Principal{Name: principal.Default, Admin: true}}, nil
	}
	who, err := v.served.Admit(ctx, credential)
	return page.Viewer{Principal: who, Token: credential}, err
}

// stays reports whether who came in with a token still would.
func (v *View) stays(ctx context.Context, of page.Viewer) error {
	if v.Key != nil {
		return nil
	}
	_, err := v.served.Admit(ctx, of.Token)
	if denied := new(principal.DeniedError); errors.As(err, &denied) {
		return page.ErrOut
	}
	return err
}

// actions are all that the page can ask for.
func (v *View) actions(opts *Options) map[string]page.Action {
	run := commands(opts.Run)
	others := peers{dirs: opts.Dirs, local: v.Key != nil}
	record := recorded{front: v.served, others: others}
	kept := keeps{run: run, of: opts.Workflows}
	runs := &runs{run: run, of: opts.HasRuns, pending: opts.Pending, say: opts.Say, last: make(map[string]*latest)}
	seen := watch{served: v.served, others: others, approvals: opts.Approvals, run: run, runs: runs}
	tools := tools{served: v.served, run: run, recall: opts.Recall, builtins: opts.Builtins, version: opts.Version, asks: &questions{open: make(map[string]chan []byte)}}
	if v.Key != nil {
		tools.running = opts.Running
	}
	server := servers{served: v.served, others: others, run: run}
	return map[string]page.Action{
		"watch":         {Follows: true, Do: seen.follow},
		"answer":        {Admin: true, Do: asking(seen.answer)},
		"toolboxes":     {Do: tools.toolboxes},
		"tools":         {Do: inToolbox(tools.list)},
		"open":          {Do: inToolbox(tools.open)},
		"call":          {Do: inToolbox(tools.call)},
		"reply":         {Do: asking(tools.asks.reply)},
		"calls":         {Follows: true, Do: record.follow},
		"recorded":      {Do: asking(record.one)},
		"restart":       {Do: inToolbox(server.restart)},
		"able":          {Admin: true, Do: inToolbox(server.able)},
		"login":         {Admin: true, Do: inToolbox(server.login)},
		"config":        {Admin: true, Do: configuration{files: opts.Files, run: run}.show},
		"workflows":     {Admin: true, Do: run.printed("workflow", "list", "--json")},
		"workflow":      {Admin: true, Do: asking(run.printedOf("workflow", "show", "--json"))},
		"run":           {Do: asking(runs.one)},
		"say":           {Admin: true, Do: asking(runs.answer)},
		"conversations": {Do: kept.conversations},
		"conversation":  {Do: asking(kept.conversation)},
	}
}
