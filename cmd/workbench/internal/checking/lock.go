package checking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/lifetime"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/lock"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/internal/slots"
	"github.com/mcp-workbench/workbench/toolbox"
)

// exitUnknown is the exit code of lock --check and --diff where it cannot be told whether anything differs.
const exitUnknown = 2

// locking is how `workbench lock` was called.
type locking struct {
	check, diff, offline bool
	accept               []string
}

func Lock(env *opening.Environment) *cobra.Command {
	var l locking
	cmd := &cobra.Command{
		Use:   "lock [TOOLBOX…]",
		Short: "Record what servers offer, and show what has changed since",
		Long: `Lock opens all toolboxes, or those that are named, and writes what their servers are,
say about themselves and offer into workbench-lock.json beside the configuration.
Look at that file, agree to it, and keep it in version control. From then on, opening
a toolbox reports every definition that differs from it. With "pins": "hold" in the
toolbox such a definition is not offered until somebody agrees to it.

With --check and --diff nothing is written: --check lists what differs, --diff
describes how. The exit code is 0 if nothing differs, 1 if something does, and 2 if
that cannot be found out. With --offline no server is started: lock uses each server
as it was last seen.

--accept agrees to one tool, prompt or resource template, or, with TOOLBOX/SERVER, to
all differences of a server.`,
		Example: `  workbench lock
  workbench lock --check --offline
  workbench lock --diff dev
  workbench lock --accept dev/github/create_issue`,
		Args:              cli.Between(0, -1),
		ValidArgsFunction: cli.OfferEach(env.ToolboxNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case l.accept != nil && (l.check || l.diff || len(args) > 0):
				return cli.Usage(cli.Hint(errors.New("--accept stands alone"), "workbench lock --accept TOOLBOX/SERVER/NAME"))
			case l.accept != nil:
				return l.agree(cmd.Context(), env)
			case l.check || l.diff:
				return l.compare(cmd.Context(), env, args)
			}
			return l.write(cmd.Context(), env, args)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&l.check, "check", false, "list the differences; write nothing")
	f.BoolVar(&l.diff, "diff", false, "describe the differences; write nothing")
	f.BoolVar(&l.offline, "offline", false, "start nothing: use servers as they were last seen")
	f.StringArrayVar(&l.accept, "accept", nil, "agree to what there is now of `TOOLBOX/SERVER/NAME`, or TOOLBOX/SERVER; may be given several times")
	return cmd
}

// lockable is a server that a lock file may have.
type lockable struct {
	lock.ID
	path   string // of the lock file
	now    []lock.Item
	err    error // why now is not known
	server *toolbox.Server
}

// servers gives the servers of the named toolboxes, or all, as they are now. Servers is of which of them; nil is all.
// They are told of a client that can do everything, since some have more tools then.
func (l *locking) servers(ctx context.Context, env *opening.Environment, boxes, servers []string) (all []lockable, cfg *config.Config, err error) {
	made, cfg, log, err := env.BoxesFor(ableClient(), l.unpinned(servers), boxes)
	if err != nil {
		return nil, nil, err
	}
	closeAll := func() {}
	if l.offline {
		toolbox.Recall(made...)
	} else if closeAll, err = env.StartBoxes(ctx, made, log); err != nil {
		return nil, nil, err
	}
	defer closeAll()
	for _, b := range made {
		of, _ := cfg.Toolbox(b.Name)
		for _, s := range b.Servers() {
			one, _ := of.Server(s.Name)
			if one.Pins.Path == "" || one.Disabled {
				continue // it is this program, or not there
			}
			it := lockable{ID: one.Pins.ID, path: one.Pins.Path, server: s}
			st := s.Status()
			if it.now, it.err = s.Lockable(ctx); !l.offline && st.State != toolbox.Ready {
				it.err = opening.Absent(b.Name, s.Name, st)
			}
			all = append(all, it)
		}
	}
	if all == nil && servers == nil {
		return nil, nil, cli.Hint(errors.New("there is no server to lock"), "servers inside workbench need no lock, and without a configuration file there is no place for one")
	}
	return all, cfg, nil
}

// ableClient is one that can do everything there is.
func ableClient() toolbox.Client {
	return toolbox.Client{Capabilities: json.RawMessage(`{"roots":{"listChanged":true},"sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}},` +
		`"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}},"elicitation":{"create":{}}}},` +
		`"extensions":{"` + eras.Apps + `":{"mimeTypes":["text/html;profile=mcp-app"]},"` + eras.Skills + `":{},"` + eras.Tasks + `":{}}}`)}
}

// unpinned has all tools of a toolbox offered, and leaves it the named servers alone; nil is all.
func (l *locking) unpinned(servers []string) opening.Edit {
	return func(t *config.Toolbox) config.Toolbox {
		changed := *t
		changed.Servers = nil
		for _, s := range t.Servers {
			if servers == nil || slices.Contains(servers, s.Name) {
				if s.Pins.Mode = lock.Off; !l.check {
					s.Pins.Mode = lock.Warn // so that it is known which tools say no more that they only read
				}
				changed.Servers = append(changed.Servers, s)
			}
		}
		return changed
	}
}

// lockFiles are those of a configuration, by their paths.
type lockFiles map[string]*lock.File

// file gives the lock file at a path, which is an empty one if there is none.
func (f lockFiles) file(path string) (*lock.File, error) {
	if f[path] != nil {
		return f[path], nil
	}
	f[path] = lock.New()
	if source := lock.Open(path); source != nil {
		read, err := source.File()
		if doubt := new(lock.DoubtError); errors.As(err, &doubt) {
			return nil, cli.Hint(doubt.Fault, doubt.Remedy)
		}
		f[path] = read
	}
	return f[path], nil
}

// turn waits until no other process changes lock files. Where there is no place to wait in nobody does.
func turn(ctx context.Context, env *opening.Environment) (done func(), err error) {
	dir, err := env.StateDir()
	if err == nil {
		done, err = slots.New(filepath.Join(dir, "run", "lock"), 1).Take(ctx, lock.Name)
	}
	if err != nil {
		done = func() {}
	}
	return done, context.Cause(ctx)
}

// write writes what there is now of the named toolboxes.
func (l *locking) write(ctx context.Context, env *opening.Environment, names []string) error {
	all, cfg, err := l.servers(ctx, env, names, nil)
	if err != nil {
		return err
	}
	done, err := turn(ctx, env)
	if err != nil {
		return err
	}
	defer done()
	files, failed, items := make(lockFiles), false, 0
	for _, s := range all {
		file, err := files.file(s.path)
		if err != nil {
			return err
		}
		if s.err != nil {
			failed = true
			env.Fault(fmt.Sprintf("%s stays as it was: %v", s.ID, s.err))
			continue
		}
		file.Replace(s.ID, s.now)
		items += len(s.now)
	}
	for path, file := range files {
		for _, id := range file.Servers() {
			if !configured(cfg, path, id) && len(names) == 0 {
				file.Remove(id)
			}
		}
		if err := file.Write(path); err != nil {
			return err
		}
		fmt.Fprintf(env.Out, "%s: %s locked\n", cli.Shown(path), terminal.Count(items, "item"))
	}
	audit(env, all)
	if failed {
		return cli.SilentError(cli.ExitFault)
	}
	return nil
}

// audit says what is odd in what servers say.
func audit(env *opening.Environment, all []lockable) {
	var servers []*toolbox.Server
	for _, s := range all {
		servers = append(servers, s.server)
	}
	hints := toolbox.Audit(servers)
	for _, h := range hints {
		fmt.Fprintf(env.Out, "look at %s\n", h)
	}
	if len(hints) > 0 {
		fmt.Fprintln(env.Out, placesToSee(len(hints)))
	}
}

// placesToSee says how many hints there are, and what they are worth.
func placesToSee(n int) string {
	return terminal.CountVerb(n, "place to look at", "places to look at") + ": what was compared is characters and phrases, so there may be more to see"
}

// configured reports whether a configuration has a server of a lock file. One whose toolbox a project's stands in the
// place of is taken to be there: it is not looked at, and is elsewhere as it was.
func configured(cfg *config.Config, path string, id lock.ID) bool {
	if slices.ContainsFunc(cfg.Toolboxes, func(t config.Toolbox) bool {
		return strings.EqualFold(t.Name, id.Toolbox) && lock.Beside(t.File) != path
	}) {
		return true
	}
	t, ok := cfg.Toolbox(id.Toolbox)
	if ok {
		_, ok = t.Server(id.Server)
	}
	return ok
}

// compare says what of the named toolboxes is not as it was agreed to.
func (l *locking) compare(ctx context.Context, env *opening.Environment, names []string) error {
	all, cfg, err := l.servers(ctx, env, names, nil)
	if errors.As(err, new(cli.UsageError)) {
		return err
	} else if err != nil {
		return unknown(env, err)
	}
	files, differ, doubts := make(lockFiles), 0, 0
	doubt := func(id lock.ID, err error) {
		doubts++
		fmt.Fprintf(env.Out, "%s cannot be compared: %s\n", id, env.Advice(err.Error()))
	}
	for _, s := range all {
		file, err := files.file(s.path)
		if err != nil {
			return unknown(env, err)
		}
		locked, ok := file.Items(s.ID)
		switch {
		case s.err != nil:
			doubt(s.ID, s.err)
		case !ok && len(file.Servers()) == 0:
			doubt(s.ID, fmt.Errorf("there is no %s; workbench lock writes it", s.path))
		default:
			changes := lock.Compare(locked, s.now)
			differ += len(changes)
			l.print(env, s.ID, changes)
		}
	}
	for path, file := range files {
		for _, id := range file.Servers() {
			if !configured(cfg, path, id) && (len(names) == 0 || slices.Contains(names, id.Toolbox)) {
				differ++
				fmt.Fprintf(env.Out, "%s is in the lock file and not in the configuration\n", id)
			}
		}
	}
	if l.diff {
		audit(env, all)
	}
	switch {
	case differ > 0:
		fmt.Fprintf(env.Out, "%s from what was agreed to\n", terminal.CountVerb(differ, "item differs", "items differ"))
		return cli.SilentError(cli.ExitFault)
	case doubts > 0:
		return cli.SilentError(exitUnknown)
	}
	fmt.Fprintln(env.Out, "all is as it was agreed to")
	return nil
}

// unknown says why nothing can be compared.
func unknown(env *opening.Environment, err error) error {
	if errors.As(err, new(lifetime.SignalError)) || errors.Is(err, context.Canceled) {
		return err
	}
	env.Report(err)
	return cli.SilentError(exitUnknown)
}

// print says what differs of a server.
func (l *locking) print(env *opening.Environment, id lock.ID, changes []lock.Change) {
	for i := range changes {
		c := &changes[i]
		fmt.Fprintf(env.Out, "%s: %s %s\n", id, c.Item().Label(), map[lock.What]string{
			lock.Changed: "changed", lock.Added: "is new", lock.Removed: "is gone", lock.Renamed: "is new",
		}[c.What])
		if l.diff && c.What != lock.Added && c.What != lock.Removed {
			for _, line := range c.Words(true) {
				fmt.Fprintf(env.Out, "  %s\n", line)
			}
		}
	}
}

// target is what is agreed to: an item of a server, or with no key all of it.
type target struct {
	lock.ID
	key string
}

func parseTarget(text string) (target, error) {
	parts := strings.SplitN(text, "/", 3)
	if len(parts) < 2 || slices.Contains(parts, "") {
		return target{}, cli.Usage(cli.Hint(fmt.Errorf("--accept: got %q", text), "it is TOOLBOX/SERVER/NAME, or TOOLBOX/SERVER"))
	}
	t := target{ID: lock.ID{Toolbox: parts[0], Server: parts[1]}}
	if len(parts) == 3 {
		t.key = parts[2]
	}
	return t, nil
}

// of gives the changes that the target is about, by what their items are called or as that is shown.
func (t target) of(changes []lock.Change) (found []lock.Change) {
	for _, name := range []func(string) string{func(s string) string { return s }, lock.Shown} {
		for _, c := range changes {
			if t.key == "" || name(c.Item().Key()) == t.key {
				found = append(found, c)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// among reports whether the target is about one of the items.
func (t target) among(items []lock.Item) bool {
	return t.key == "" || slices.ContainsFunc(items, func(it lock.Item) bool { return it.Key() == t.key || lock.Shown(it.Key()) == t.key })
}

// agree takes what there is now of some items for agreed to.
func (l *locking) agree(ctx context.Context, env *opening.Environment) error {
	l.diff = true
	for _, text := range l.accept {
		t, err := parseTarget(text)
		if err != nil {
			return err
		}
		all, cfg, err := l.servers(ctx, env, []string{t.Toolbox}, []string{t.Server})
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return unlockable(cfg, t.ID)
		}
		if all[0].err != nil {
			return fmt.Errorf("%s: %w", all[0].ID, all[0].err)
		}
		if err := l.agreeTo(ctx, env, t, text, &all[0]); err != nil {
			return err
		}
	}
	return nil
}

// agreeTo takes what there is now of a server, as far as a target is about it, for agreed to.
func (l *locking) agreeTo(ctx context.Context, env *opening.Environment, t target, text string, s *lockable) error {
	done, err := turn(ctx, env)
	if err != nil {
		return err
	}
	defer done()
	file, err := make(lockFiles).file(s.path)
	if err != nil {
		return err
	}
	locked, _ := file.Items(s.ID)
	found := t.of(lock.Compare(locked, s.now))
	switch {
	case found == nil && t.among(s.now):
		fmt.Fprintf(env.Out, "%s is as it was agreed to\n", text)
		return nil
	case found == nil:
		return cli.Hint(fmt.Errorf("nothing of %s that differs from the lock file is called %q", s.ID, text), "workbench lock --diff "+shellword.Word(t.Toolbox)+" says what differs")
	}
	file.Apply(s.ID, found)
	if err := file.Write(s.path); err != nil {
		return err
	}
	l.print(env, s.ID, found)
	fmt.Fprintf(env.Out, "%s: %s\n", cli.Shown(s.path), terminal.CountVerb(len(found), "item is agreed to", "items are agreed to"))
	return nil
}

// unlockable says why a server has nothing to agree to.
func unlockable(cfg *config.Config, id lock.ID) error {
	t, _ := cfg.Toolbox(id.Toolbox)
	if _, ok := t.Server(id.Server); ok {
		return fmt.Errorf("server %q of toolbox %q is disabled, or inside workbench: there is nothing to lock", id.Server, id.Toolbox)
	}
	return cli.Usage(cli.Hint(fmt.Errorf("toolbox %q has no server %q", id.Toolbox, id.Server), "its servers are: "+strings.Join(t.ServerNames(), ", ")))
}
