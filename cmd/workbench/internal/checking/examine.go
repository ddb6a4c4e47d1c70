package checking

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/host/commandhost"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/diagnosis"
	"github.com/mcp-workbench/workbench/internal/gitaddress"
	"github.com/mcp-workbench/workbench/internal/lock"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/internal/tokencount"
	"github.com/mcp-workbench/workbench/internal/tokens"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/launch"
	"github.com/mcp-workbench/workbench/toolbox/offered"
)

// examined is what check and doctor have found.
type examined struct {
	Config   string              `json:"config,omitempty"`
	Servers  []examinedServer    `json:"servers"`
	Clients  []examinedClient    `json:"clients,omitempty"`
	Findings []diagnosis.Finding `json:"findings"`
}

// examinedServer is where a server stands; of one that was not started, only how it is reached.
type examinedServer struct {
	Toolbox   string           `json:"toolbox"`
	Server    string           `json:"server"`
	Transport config.Transport `json:"transport"`
	State     string           `json:"state"` // "ok", "fault" or "disabled", or the state of a server that was started
	Seconds   float64          `json:"seconds,omitempty"`
	Tools     int              `json:"tools,omitempty"`
	Tokens    int              `json:"tokens,omitempty"` // what the definitions of its tools cost, reckoned

	size int // of these definitions, in bytes
}

// examine looks at all servers of a configuration. Nothing is started.
func examine(ctx context.Context, e *opening.Environment, cfg *config.Config) *examined {
	x := &examined{Config: cfg.Path, Findings: []diagnosis.Finding{}, Servers: []examinedServer{}}
	servers := 0
	for range cfg.Servers() {
		servers++
	}
	found, secrets := make([][]diagnosis.Finding, servers), secretsThere(e, cfg) // it stays where it is while servers are looked at
	var all errgroup.Group
	all.SetLimit(32)
	for t, s := range cfg.Servers() {
		i := len(x.Servers)
		x.Servers = append(x.Servers, examinedServer{Toolbox: t.Name, Server: s.Name, Transport: s.Transport, State: "ok"})
		switch {
		case s.Disabled:
			x.Servers[i].State = "disabled"
		case s.Problem != nil:
			found[i] = []diagnosis.Finding{{Level: diagnosis.Fault, Message: s.Problem.Error()}}
		case s.Builtin == config.BuiltinCommands:
			all.Go(func() error { found[i] = commandhost.Diagnose(*s); return ctx.Err() })
		case s.Builtin == config.BuiltinWorkflow:
			found[i] = missingFolders(s.Workflows)
		case s.Transport != config.TransportBuiltin:
			all.Go(func() error {
				found[i] = slices.Concat(lookAt(e, t.Name, *s), unsetSecrets(*s, secrets), unread(e.Environ, *s))
				return ctx.Err()
			})
		}
	}
	_ = all.Wait() // whoever asked hears of the end of ctx
	for i := range found {
		x.add(i, found[i]...)
	}
	if file := cfg.HTTP.JWT.KeyFile; file != "" {
		if err := tokens.CheckFile(file); err != nil {
			x.Findings = append(x.Findings, diagnosis.Finding{Level: diagnosis.Fault, Message: fmt.Sprintf("http.jwt.keyFile: %v", err), Remedy: "correct the path, or the file"})
		}
	}
	x.relations(cfg)
	recallInto(e, x, cfg)
	x.Findings = append(x.Findings, diagnosis.Torn(e.Environ)...)
	return x
}

// lookAt looks at one server of a toolbox.
func lookAt(e *opening.Environment, box string, s config.Server) []diagnosis.Finding {
	s, err := plainServer(e, s)
	if err != nil {
		return []diagnosis.Finding{{Level: diagnosis.Fault, Message: err.Error(), Remedy: "correct the entry, or what it names"}}
	}
	found := diagnosis.Server{Command: s.Command, Args: s.Args, Env: launch.Environment(s, e.Environ), Given: s.Env, Cwd: s.Cwd, URL: s.URL, Headers: s.Headers}.Look()
	if !slices.ContainsFunc(found, func(f diagnosis.Finding) bool { return f.Level == diagnosis.Fault }) {
		found = append(found, unsandboxed(e.Environment, box, s)...)
	}
	return found
}

// unread finds what the secrets and the login of a server are to be read from, and cannot be.
func unread(environ []string, s config.Server) (found []diagnosis.Finding) {
	need := func(what, file string, command []string) {
		var err error
		switch {
		case file != "":
			var f *os.File
			if f, _, err = openfile.Open(file); err == nil {
				err = f.Close()
			}
		case len(command) > 0:
			err = child.Spec{Command: command[0], Args: command[1:], Env: environ}.Look()
		}
		if err != nil {
			found = append(found, diagnosis.Finding{Level: diagnosis.Fault, Message: fmt.Sprintf("%s: %v", what, err), Remedy: "correct the entry, or what it names"})
		}
	}
	for _, secret := range s.Secrets() {
		need("its secret "+secret.Name, "", secret.Command)
	}
	need("oauth.privateKeyFile", s.OAuth.PrivateKeyFile, nil)
	need("oauth.assertion", s.OAuth.Assertion.File, s.OAuth.Assertion.Command)
	need("oauth.identityProvider.idToken", s.OAuth.IdentityProvider.IDToken.File, s.OAuth.IdentityProvider.IDToken.Command)
	return found
}

// missingFolders says which folders of workflows are not there. One that is made later is found, so that this need not
// be a fault.
func missingFolders(places []string) (found []diagnosis.Finding) {
	for _, place := range places {
		if _, err := os.Stat(place); !strings.HasPrefix(place, gitaddress.Prefix) && errors.Is(err, fs.ErrNotExist) {
			found = append(found, diagnosis.Finding{Level: diagnosis.Warning, Message: "its folder of workflows " + place + " does not exist",
				Remedy: "make the folder, or correct its name in workflows"})
		}
	}
	return found
}

// unsetSecrets says which secrets of a server are not among those that are there.
func unsetSecrets(s config.Server, there map[string]bool) (found []diagnosis.Finding) {
	for _, secret := range s.Secrets() {
		if !there[secret.Name] {
			found = append(found, diagnosis.Finding{Level: diagnosis.Warning, Message: fmt.Sprintf("its secret %s is not kept here", secret.Name),
				Remedy: "workbench secret set " + secret.Name})
		}
	}
	return found
}

// secretsThere are the names of the secrets that are kept, or that a command of the configuration gives.
func secretsThere(e *opening.Environment, cfg *config.Config) map[string]bool {
	there := make(map[string]bool)
	for _, s := range cli.ListSecrets(e.Environment, cfg) {
		there[s.Name] = there[s.Name] || s.User == "" && s.Where != cli.InNone
	}
	return there
}

// plainServer returns a server with its files of variables read. Secrets are not looked up: something stands in their
// place.
func plainServer(e *opening.Environment, s config.Server) (config.Server, error) {
	secrets := make(map[string]string)
	for _, secret := range s.Secrets() {
		secrets[secret.Name] = "secret"
	}
	plain, err := s.Reveal(secrets)
	if err != nil {
		return s, nil // a url that is made of a secret is not looked at
	}
	env, err := launch.FileVariables(s.EnvFile, e.Environ)
	if env != nil {
		maps.Copy(env, plain.Env)
		plain.Env = env
	}
	return plain, err
}

// add notes what was found of a server.
func (x *examined) add(i int, found ...diagnosis.Finding) {
	for _, f := range found {
		f.Toolbox, f.Server = x.Servers[i].Toolbox, x.Servers[i].Server
		if f.Level == diagnosis.Fault && x.Servers[i].State == "ok" {
			x.Servers[i].State = "fault"
		}
		x.Findings = append(x.Findings, f)
	}
}

// alike reports whether two servers are started in the same way and offer the same tools under the same conditions.
func alike(a, b config.Server) bool {
	a.Name = b.Name
	return a.StartsLike(&b) && a.ReadOnly == b.ReadOnly && reflect.DeepEqual(a.ToolFilters, b.ToolFilters) &&
		reflect.DeepEqual(a.Tools, b.Tools) && reflect.DeepEqual(a.Approve, b.Approve)
}

// relations finds what is wrong with servers beside each other: the same one twice, and toolboxes that offer nothing.
func (x *examined) relations(cfg *config.Config) {
	type named struct {
		name string
		config.Server
	}
	seen := make(map[string][]named) // by what nearly all servers differ in, for there may be thousands
	for _, t := range cfg.Toolboxes {
		enabled := false
		for _, s := range t.Servers {
			enabled = enabled || !s.Disabled
			if s.Disabled || s.Problem != nil || s.Transport == config.TransportBuiltin {
				continue // of an entry with a problem not all was read
			}
			line := strings.Join(append([]string{s.Command, s.URL, s.Cwd}, s.Args...), "\x00")
			others := seen[line]
			if i := slices.IndexFunc(others, func(n named) bool { return alike(n.Server, s) }); i >= 0 {
				x.Findings = append(x.Findings, diagnosis.Finding{Level: diagnosis.Warning, Toolbox: t.Name, Server: s.Name,
					Message: "it is the same as " + others[i].name, Remedy: "remove one of the two: each costs a process and the tokens of its tools"})
				continue
			}
			seen[line] = append(others, named{t.Name + "/" + s.Name, s})
		}
		if !enabled && len(t.Servers) > 0 {
			x.Findings = append(x.Findings, diagnosis.Finding{Level: diagnosis.Warning, Toolbox: t.Name,
				Message: "all its servers are disabled", Remedy: `remove "disabled" from one, or remove the toolbox`})
		}
	}
}

// recallInto finds filters, and rules of approval, that match none of the tools that were seen when a server last ran.
func recallInto(e *opening.Environment, x *examined, cfg *config.Config) {
	unfiltered := func(t *config.Toolbox) config.Toolbox {
		open := *t
		open.Servers = slices.Clone(t.Servers)
		for i := range open.Servers {
			open.Servers[i].ToolFilters = nil
		}
		return open
	}
	boxes, _, err := e.RecallBoxes(context.Background(), unfiltered)
	if err != nil {
		return // which is told elsewhere
	}
	for _, b := range boxes {
		of, ok := cfg.Toolbox(b.Name)
		if !ok {
			continue
		}
		for _, s := range of.Servers {
			if srv, ok := b.Server(s.Name); ok && !s.Disabled {
				x.Findings = append(x.Findings, idlePatterns(srv, s)...)
			}
		}
	}
}

// idlePatterns finds the filters and the rules of "approve" that match no tool of a server: what was to be left out is
// offered, and what was to be asked about is not.
func idlePatterns(srv *toolbox.Server, cfg config.Server) (found []diagnosis.Finding) {
	tools := srv.Items(toolbox.Tools)
	if len(tools) == 0 {
		return nil // they were never seen
	}
	var own []string // names of its tools
	for _, it := range tools {
		own = append(own, it.Key.Verbatim())
	}
	all := slices.Clone(own) // and those that the configuration gives them
	for _, t := range cfg.Tools {
		if slices.Contains(own, t.Name) {
			all = append(all, t.Rename)
		}
	}
	look := func(what, pattern string, names []string) {
		if slices.ContainsFunc(names, func(name string) bool { return offered.Matches(strings.TrimPrefix(pattern, "!"), name) }) {
			return
		}
		found = append(found, diagnosis.Finding{Level: diagnosis.Warning, Toolbox: srv.Toolbox, Server: srv.Name,
			Message: fmt.Sprintf("its %s %q matches none of its %d tools", what, pattern, len(tools)), Remedy: shellword.Line("workbench", "tools", srv.Toolbox) + " lists them"})
	}
	for _, f := range cfg.ToolFilters {
		look("filter", f, own)
	}
	for _, r := range cfg.Approve {
		look(`rule of "approve" for`, r.Tools, all)
	}
	return found
}

// doctorTime is how long servers may take to start before they are told of as late. A package that is being installed
// is waited for.
const doctorTime = 7 * time.Second

// start starts each server once, all beside each other, and tells how they stand.
func (x *examined) start(ctx context.Context, e *opening.Environment) error {
	boxes, _, log, err := e.BoxesFor(ableClient(), nil, nil) // the one that a lock file is made for
	if err != nil {
		return err
	}
	defer opening.CloseBoxes(boxes, log)
	shown := opening.ShowStarting(e.Environment, boxes)
	began := time.Now()
	var all errgroup.Group
	took := make([]float64, len(x.Servers))
	for i, one := range x.Servers {
		b := boxes[slices.IndexFunc(boxes, func(b *toolbox.Toolbox) bool { return b.Name == one.Toolbox })]
		all.Go(func() error {
			late, cancel := context.WithTimeout(ctx, doctorTime)
			defer cancel()
			if err := b.Start(late, one.Server); err != nil && late.Err() == nil {
				return err
			}
			srv, _ := b.Server(one.Server)
			if srv.Status().State == toolbox.Installing {
				toolbox.Settle(ctx, srv)
			}
			took[i] = time.Since(began).Seconds()
			return nil
		})
	}
	err = all.Wait()
	shown()
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	for i, one := range x.Servers {
		b := boxes[slices.IndexFunc(boxes, func(b *toolbox.Toolbox) bool { return b.Name == one.Toolbox })]
		if srv, ok := b.Server(one.Server); ok {
			x.Servers[i].Seconds = took[i]
			x.stood(i, srv)
		}
	}
	x.audit(boxes)
	return nil
}

// audit notes what is odd in what servers say.
func (x *examined) audit(boxes []*toolbox.Toolbox) {
	for _, h := range toolbox.Audit(opening.Servers(boxes)) {
		for i, one := range x.Servers {
			if one.Toolbox+"/"+one.Server == h.Server {
				x.add(i, diagnosis.Finding{Level: diagnosis.Note, Message: "look at " + h.String()})
			}
		}
	}
}

// stood notes how a server that was started stands.
func (x *examined) stood(i int, srv *toolbox.Server) {
	one := &x.Servers[i]
	st := srv.Status()
	if st.State == toolbox.Disabled {
		return
	}
	one.State, one.Tools, one.size = string(st.State), st.Tools, srv.ToolsSize()
	one.Tokens = tokencount.Of(one.size)
	told := slices.ContainsFunc(x.Findings, func(f diagnosis.Finding) bool {
		return f.Toolbox == one.Toolbox && f.Server == one.Server && f.Level == diagnosis.Fault
	})
	switch {
	case st.State == toolbox.Ready:
	case told: // why it could not be started was seen before
	case st.State == toolbox.NeedsLogin:
		x.add(i, diagnosis.Finding{Level: diagnosis.Fault, Message: st.Cause.Error(), Remedy: shellword.Line("workbench", "login", one.Toolbox+"/"+one.Server) + ", or its headers"})
	case st.State.IsStarting() && st.Cause == nil:
		f := diagnosis.Finding{Level: diagnosis.Fault, Message: fmt.Sprintf("it has not answered for %s", doctorTime), Remedy: "workbench tools waits for all of timeouts.start; a server that hangs at each start has to be fixed"}
		if words := srv.LastWords(); len(words) > 0 {
			f.Message += fmt.Sprintf("; its last words: %q", words)
		}
		x.add(i, f)
	case st.Cause != nil:
		x.failed(i, st.Cause.Error())
	}
	if st.State != toolbox.Ready {
		return
	}
	if n, by := srv.Hidden(); n > 0 && one.Tools == 0 {
		x.add(i, diagnosis.Finding{Level: diagnosis.Fault, Message: fmt.Sprintf("%s all of its tools (%d)", by, n), Remedy: "correct or remove that in the configuration"})
	} else if err := srv.Unread(toolbox.Tools); err != nil {
		x.failed(i, err.Error())
	} else if one.Tools == 0 && len(srv.Held(toolbox.Tools)) == 0 {
		x.add(i, diagnosis.Finding{Level: diagnosis.Warning, Message: "it has no tools", Remedy: "check whether it needs other arguments, or a key"})
	}
	if noise := srv.Noise(); noise != "" {
		x.add(i, diagnosis.Finding{Level: diagnosis.Warning, Message: noise, Remedy: "make it log to standard error, or tell its author: standard output is only for messages, and some clients stop there"})
	}
	for _, change := range srv.Changes() {
		x.add(i, diagnosis.Finding{Level: diagnosis.Warning, Message: "it has changed since it last ran: " + change, Remedy: "check whether you want that; workbench lock agrees to it"})
	}
}

// compare notes of which servers nothing can be compared with what was agreed to, in place of what was found of them for
// that reason when they were started.
func (x *examined) compare(cfg *config.Config) {
	for i, one := range x.Servers {
		t, _ := cfg.Toolbox(one.Toolbox)
		s, _ := t.Server(one.Server)
		doubt := s.Pins.Doubt()
		if doubt == nil || s.Disabled {
			continue
		}
		x.Findings = slices.DeleteFunc(x.Findings, func(f diagnosis.Finding) bool {
			return f.Toolbox == one.Toolbox && f.Server == one.Server && strings.HasSuffix(f.Message, doubt.Error())
		})
		f := diagnosis.Finding{Level: diagnosis.Warning, Message: fmt.Sprintf("nothing of it can be compared with the lock file: %v", doubt.Fault), Remedy: doubt.Remedy}
		if s.Pins.Mode == lock.Hold {
			f.Level, f.Message = diagnosis.Fault, "nothing of it is offered: "+f.Message
		}
		x.add(i, f)
	}
}

// failed notes why a server did not start. A warning that has told the same, before it was started, goes and leaves its
// remedy.
func (x *examined) failed(i int, cause string) {
	one := x.Servers[i]
	f := diagnosis.Finding{Level: diagnosis.Fault, Message: cause, Remedy: "fix that, then workbench tools " + shellword.Word(one.Toolbox)}
	x.Findings = slices.DeleteFunc(x.Findings, func(w diagnosis.Finding) bool {
		told := w.Toolbox == one.Toolbox && w.Server == one.Server && (strings.Contains(cause, w.Message) || strings.Contains(cause, w.Remedy))
		if told {
			f.Remedy = w.Remedy
		}
		return told
	})
	x.add(i, f)
}

// mend does what may be done without a risk.
func (x *examined) mend() {
	for i := range x.Findings {
		f := &x.Findings[i]
		if f.Fix == nil {
			continue
		}
		if err := f.Fix(); err != nil {
			f.Remedy += fmt.Sprintf(" (tried: %v)", err)
			continue
		}
		f.Fixed = true
		for j := range x.Servers {
			if s := &x.Servers[j]; s.Toolbox == f.Toolbox && s.Server == f.Server && s.State == "fault" {
				s.State = "ok"
			}
		}
	}
}

// count counts the findings of a level that were not mended.
func (x *examined) count(level diagnosis.Level) (n int) {
	for _, f := range x.Findings {
		if f.Level == level && !f.Fixed {
			n++
		}
	}
	return n
}

// desktopPath is the PATH of programs that are started from a desktop.
func desktopPath(goos string) string {
	if goos == "darwin" {
		return "/usr/bin:/bin:/usr/sbin:/sbin"
	}
	return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
}

// beyondDesktop finds programs that a client which is started from a desktop would not find.
func beyondDesktop(e *opening.Environment, x *examined, cfg *config.Config, client, path string) {
	for t, s := range cfg.Servers() {
		if _, own := s.Env["PATH"]; own || s.Disabled || s.Command == "" || filepath.Base(s.Command) != s.Command {
			continue
		}
		found := foundProgram(e, *s, "")
		if found != "" && foundProgram(e, *s, path) == "" {
			x.Findings = append(x.Findings, diagnosis.Finding{Level: diagnosis.Warning, Toolbox: t.Name, Server: s.Name, Client: client,
				Message: fmt.Sprintf("%s is in %s, which is not in the PATH of programs started from a desktop, as %s is", s.Command, filepath.Dir(found), client),
				Remedy:  fmt.Sprintf(`write "command": %q, or give "PATH" in its "env"`, found)})
		}
	}
}

// foundProgram finds the program of a server in a PATH; "" is the one of the server.
func foundProgram(e *opening.Environment, s config.Server, path string) string {
	s, _ = plainServer(e, s)
	env := maps.Clone(s.Env)
	if path != "" {
		if env == nil {
			env = make(map[string]string)
		}
		env["PATH"] = path
	}
	s.Env = env
	file, err := programOf(s, e.Environ)
	if err != nil {
		return ""
	}
	return file
}
