package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/model"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/workflowsrv/agent"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/command/example"
	"github.com/mcp-workbench/workbench/workflowsrv/commandsrv"
)

// commandsBuiltin is the name of the server of commands in a configuration.
const commandsBuiltin = "commands"

// desks are the servers of commands of this process, by what they serve, with
// the store and the toolboxes that they share. Nothing of it is there before
// the first is wanted.
type desks struct {
	env     *environment
	startup string // the command that sessions begin with, "" for that of the workflow

	mu     sync.Mutex // guards what follows
	cfg    *config.Config
	direct string
	log    zerolog.Logger
	made   map[string]*desk
	stale  []*desk // made for an earlier configuration, and still in use by who had them
	store  *store.Store
	end    func() // ends what goes on beside while there is a store
	boxes  map[string]*toolbox.Toolbox
	closed bool

	pulse pulse
	owed  sync.WaitGroup // what is looked at beside
}

// A desk is one server of commands. Its mutex is held while it is made.
type desk struct {
	mu     sync.Mutex
	server *commandsrv.Server
	failed atomic.Bool // it could not be made when it was wanted last
	told   string      // why, as the log has it; guarded by mu
}

func newDesks(env *environment) *desks {
	return &desks{env: env, made: map[string]*desk{}, boxes: map[string]*toolbox.Toolbox{}}
}

// use says what the desks work by: a configuration, and the one toolbox of it
// that is served over HTTP, "" for all. It is called before anything is wanted
// of them.
func (d *desks) use(cfg *config.Config, direct string, log zerolog.Logger) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cfg, d.direct, d.log = cfg, direct, log
}

// Reload has the desks work by another configuration. Servers of commands are
// made anew when they are wanted the next time; who is connected to one keeps
// it. The models and the store are those of the start.
func (d *desks) Reload(cfg *config.Config) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := *cfg
	now.Models, now.Store = d.cfg.Models, d.cfg.Store
	d.cfg = &now
	for source, one := range d.made {
		d.stale = append(d.stale, one)
		delete(d.made, source)
	}
	for name, box := range d.boxes {
		if found, ok := cfg.Toolbox(name); ok {
			for _, gone := range box.Update(withoutDesks(found)) {
				heir, _ := box.Server(gone.Name)
				gone.Retire(heir)
			}
		}
	}
}

// withDesks is a front and the desks behind it, which are reloaded together.
type withDesks struct {
	front interface{ Reload(*config.Config) }
	desks *desks
}

func (w withDesks) Reload(cfg *config.Config) {
	w.desks.Reload(cfg)
	w.desks.report()
	w.front.Reload(cfg)
}

// now returns what the desks work by.
func (d *desks) now() (*config.Config, zerolog.Logger) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cfg, d.log
}

// builtin makes the MCP side of a server of commands.
func (d *desks) builtin(who principal.Principal, s config.Server) (wire.Endpoint, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.Timeouts.Start)
	defer cancel()
	server, err := d.get(ctx, s.Commands)
	if err != nil {
		return nil, d.told(who, err)
	}
	return server.For(who), nil
}

// told is what somebody is told of why commands cannot be served. The reason
// names folders of this machine: it is for who owns the machine, and in the log.
func (d *desks) told(who principal.Principal, err error) error {
	if who.Admin || who.Name == principal.Default {
		return err
	}
	return errors.New("its commands cannot be served at present; the log of workbench says why")
}

// ServeHTTP serves /commands/TOOLBOX/…, the operations of the toolbox's server
// of commands.
func (d *desks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, path := splitDeskPath(r.URL.Path)
	source := d.source(name)
	if source == "" || !principal.From(r.Context()).May(name) {
		commandsrv.Refuse(w, http.StatusNotFound, fmt.Sprintf("there is no toolbox %q with a server of commands here", foreign.NewName(name)))
		return
	}
	server, err := d.get(r.Context(), source)
	if err != nil {
		commandsrv.Refuse(w, http.StatusServiceUnavailable, d.told(principal.From(r.Context()), err).Error())
		return
	}
	inner := r.Clone(r.Context())
	inner.URL.Path, inner.URL.RawPath = path, ""
	server.ServeHTTP(w, inner)
}

// source is what the server of commands of a toolbox serves over HTTP, "" if
// there is none.
func (d *desks) source(name string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	box, ok := d.cfg.Toolbox(name)
	if !ok || d.direct != "" && d.direct != name {
		return ""
	}
	for _, s := range box.Servers {
		if s.Builtin == commandsBuiltin && !s.Disabled && s.Problem == nil {
			return s.Commands
		}
	}
	return ""
}

// served names the toolboxes whose commands are served over HTTP.
func (d *desks) served() []string {
	cfg, _ := d.now()
	var names []string
	for _, t := range cfg.Toolboxes {
		if d.source(t.Name) != "" {
			names = append(names, t.Name)
		}
	}
	return names
}

// splitDeskPath takes the toolbox and the rest from a path below /commands/.
func splitDeskPath(path string) (name, rest string) {
	name, rest, _ = strings.Cut(strings.TrimPrefix(path, "/commands/"), "/")
	return name, "/" + rest
}

// probe answers the requests below /commands/ that are a supervisor's, and
// reports whether one is. It says the same of every toolbox, there or not: how
// all those are that run.
func (d *desks) probe(w http.ResponseWriter, r *http.Request) bool {
	_, path := splitDeskPath(r.URL.Path)
	return commandsrv.ServeProbe(w, r, path, d.pulse.of(d.checks))
}

// checks say how the desks are that somebody has wanted: one that can work is
// enough.
func (d *desks) checks(ctx context.Context) commandsrv.Checks {
	d.mu.Lock()
	st, open, failed := d.store, !d.closed, len(d.made) > 0
	for _, one := range d.made {
		failed = failed && one.failed.Load()
	}
	d.mu.Unlock()
	return commandsrv.Checks{"workflow": !failed, "store": st == nil || st.Try(ctx) == nil, "open": open}
}

// A pulse is felt at most once a second, however many ask: anybody may.
type pulse struct {
	mu   sync.Mutex
	at   time.Time
	last commandsrv.Checks
}

func (p *pulse) of(checks func(context.Context) commandsrv.Checks) func(context.Context) commandsrv.Checks {
	return func(ctx context.Context) commandsrv.Checks {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.last == nil || time.Since(p.at) > time.Second {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second) // who asks may go away
			p.last, p.at = checks(ctx), time.Now()
			cancel()
		}
		return p.last
	}
}

// get returns the server of what a configuration names, making it if there is
// none. One that could not be made is tried again.
func (d *desks) get(ctx context.Context, source string) (*commandsrv.Server, error) {
	d.mu.Lock()
	cfg, log := d.cfg, d.log
	one := d.made[source]
	if one == nil {
		one = new(desk)
		d.made[source] = one
	}
	d.mu.Unlock()
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.server != nil {
		return one.server, nil
	}
	var err error
	one.server, err = d.make(ctx, cfg, log, source)
	one.failed.Store(err != nil && ctx.Err() == nil)
	if one.failed.Load() && one.told != err.Error() {
		one.told = err.Error()
		log.Error().AnErr(logkey.Err, err).Msg("commands cannot be served")
	}
	return one.server, err
}

// make makes the server of what a configuration names.
func (d *desks) make(ctx context.Context, cfg *config.Config, log zerolog.Logger, source string) (*commandsrv.Server, error) {
	print := ""
	if isFolderSource(source) {
		print = footprint(source) // before it is read: an edit meanwhile is seen later
	}
	w, with, err := d.workflow(ctx, cfg, log, source)
	if err != nil {
		return nil, fmt.Errorf("the commands %s cannot be served: %w", source, err)
	}
	opts := commandsrv.Options{Version: version(), Startup: d.startup, Logger: log, Sampled: sampled}
	if m := &cfg.Models; m.Answer() && m.Problem == nil {
		key, err := d.env.revealed(ctx, cfg, m.APIKey)
		if err != nil {
			return nil, fmt.Errorf("models.apiKey: %w", err)
		}
		a, err := newAgent(m, key, toolbox.RemoteClient(d.env.environ), log)
		if err != nil {
			return nil, err
		}
		opts.Agent, opts.Summarizer, with.Chooser = a, a, a
	}
	kept, err := d.kept(ctx)
	if err != nil {
		return nil, err
	}
	if isFolderSource(source) {
		opts.Refresh = (&editedFolder{desks: d, dir: source, name: w.Name, with: with, at: time.Now(), print: print}).engine
	}
	return commandsrv.New(command.New(w, with), kept, opts), nil
}

// isFolderSource reports whether what a server of commands serves is a folder.
func isFolderSource(source string) bool {
	return source != config.CommandsExample && !strings.HasPrefix(source, config.CommandsToolbox)
}

// kept opens the store, if it is not open yet: all share it.
func (d *desks) kept(ctx context.Context) (*store.Store, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return nil, errors.New("workbench is shutting down")
	case d.store != nil:
		return d.store, nil
	case d.cfg == nil:
		return nil, errors.New("there is no configuration that says where to keep anything")
	}
	log := d.log
	opened, err := d.env.openStore(ctx, d.cfg, func(err error) { log.Warn().AnErr(logkey.Err, err).Msg("the store of conversations") })
	if err == nil {
		d.store = opened
		life, end := context.WithCancel(context.Background()) // until Close
		d.end = end
		d.owed.Go(func() { expire(life, opened, log) })
	}
	return opened, err
}

// newAgent returns what asks the models of a configuration.
func newAgent(m *config.Models, key string, client *http.Client, log zerolog.Logger) (*agent.Agent, error) {
	asked, err := model.New(m.BaseURL, model.Options{
		Models: model.Models{Default: m.Default, Planner: m.Planner, Agent: m.Agent, Assistant: m.Assistant, Summary: m.Summary},
		Key:    key, ReplyTimeout: m.ReplyTimeout, MaxTokens: m.MaxTokens, HTTP: client, Logger: log,
	})
	return agent.New(asked, agent.Options{}), err
}

// sampled returns an agent that asks the model of a client.
func sampled(create func(ctx context.Context, params []byte) ([]byte, error)) commandsrv.Agent {
	return agent.New(model.NewSampled(create), agent.Options{})
}

// workflow loads what a configuration names, and says what its commands run
// with.
func (d *desks) workflow(ctx context.Context, cfg *config.Config, log zerolog.Logger, source string) (*command.Workflow, command.Options, error) {
	name, isToolbox := strings.CutPrefix(source, config.CommandsToolbox)
	switch {
	case source == config.CommandsExample:
		shop := example.New()
		w, err := command.Load(example.Files(), command.LoadOptions{Tools: shop.Tools()})
		return w, command.Options{Caller: shop}, err
	case isToolbox:
		box, ok := cfg.Toolbox(name)
		if !ok {
			return nil, command.Options{}, unknownToolbox(cfg, name)
		}
		tools, unlisted, err := d.tools(ctx, name)
		if err != nil {
			return nil, command.Options{}, err
		}
		if len(tools) == 0 {
			return nil, command.Options{}, fmt.Errorf("toolbox %q has no tools: %s", name, orWhen(join(unlisted), "it has no servers besides those of commands"))
		}
		return command.Project(name, box.Description.String(), tools), command.Options{Caller: toolCaller{d}}, nil
	}
	w, err := d.folder(ctx, cfg, log, source)
	return w, command.Options{
		Caller: toolCaller{d}, HTTP: newRequester(d.env.environ), Process: programs{d.env}, LookupEnv: d.env.lookup, Credential: d.env.credential,
	}, err
}

// folder loads a workflow from a folder, which may make requests and run
// programs: the operator has named it.
func (d *desks) folder(ctx context.Context, cfg *config.Config, log zerolog.Logger, dir string) (*command.Workflow, error) {
	root, err := openWorkflow(dir)
	if err != nil {
		return nil, cannotOpen(dir, err)
	}
	defer root.Close()
	load := root.options()
	load.Tools = []command.Tool{}
	for _, name := range command.Toolboxes(root.FS(), load) {
		if _, ok := cfg.Toolbox(name); !ok {
			continue // the folder's fault, which loading it tells
		}
		tools, unlisted, err := d.tools(ctx, name)
		if err != nil {
			return nil, err
		}
		load.Tools, load.Unlisted = append(load.Tools, tools...), append(load.Unlisted, unlisted...)
	}
	w, err := command.Load(root.FS(), load)
	if err != nil {
		return nil, fmt.Errorf("%w\nworkbench commands check %s shows more", err, dir)
	}
	for _, doubt := range w.Warnings {
		log.Warn().Str(logkey.Detail, doubt.String()).Msg("a command workflow")
	}
	return w, nil
}

// Close ends the servers, then what they work with.
func (d *desks) Close() {
	d.mu.Lock()
	d.closed = true
	made, boxes, st, end := d.stale, d.boxes, d.store, d.end
	for _, one := range d.made {
		made = append(made, one)
	}
	d.mu.Unlock()
	var all sync.WaitGroup
	for _, one := range made {
		all.Go(func() {
			one.mu.Lock()
			defer one.mu.Unlock()
			if one.server != nil {
				_ = one.server.Close()
			}
		})
	}
	all.Wait()
	if end != nil {
		end()
	}
	d.owed.Wait()
	for _, box := range boxes {
		all.Go(func() { _ = box.Close() })
	}
	all.Wait()
	if st != nil {
		_ = st.Close()
	}
}
