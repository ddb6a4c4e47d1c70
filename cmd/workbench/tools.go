package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/lock"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

func toolsCommand(env *environment) *cobra.Command {
	var asJSON, offline bool
	cmd := &cobra.Command{
		Use:   "tools [TOOLBOX | TOOLBOX/SERVER/TOOL]",
		Short: "Open toolboxes and list their tools, or describe one",
		Long: `Tools opens one toolbox, or all, waits until each server has started or failed
(timeouts.start), prints what they offer and stops them again. The exit code is 1
if a server could not be started, or if its toolFilters leave none of its tools.
Of one tool, named as for call, it prints what it does and takes.

With --offline nothing is started: the tools are those that workbench saw when
a server last ran, and SEEN says when that was. The exit code is 1 if a server
was never seen.`,
		Example: `  workbench tools
  workbench tools workflows --json
  workbench tools workflows/workflow/workflow_begin
  workbench tools --offline`,
		Args: cli.Between(0, 1),
		ValidArgsFunction: cli.Offer(func() []string {
			return append(env.ToolboxNames(), env.itemNames(toolbox.Tools)...)
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			return listTools(cmd.Context(), env, args, asJSON, offline)
		},
	}
	cmd.Flags().BoolVar(&offline, "offline", false, "start nothing: print what was seen the last time, with its age")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array with the tools as their servers define them")
	return cmd
}

// An edit changes a toolbox of the configuration before it is made; nil leaves
// it as it is.
type edit func(*config.Toolbox) config.Toolbox

// boxes makes the named toolboxes, or all, for this program's own use.
func (e *environment) boxes(edited edit, names []string) (boxes []*toolbox.Toolbox, cfg *config.Config, log zerolog.Logger, err error) {
	return e.boxesFor(toolbox.Client{}, edited, names)
}

// boxesFor is boxes whose servers are told of a client.
func (e *environment) boxesFor(client toolbox.Client, edited edit, names []string) (boxes []*toolbox.Toolbox, cfg *config.Config, log zerolog.Logger, err error) {
	log, err = e.Logger()
	if err != nil {
		return nil, nil, log, err
	}
	if log.GetLevel() == zerolog.InfoLevel {
		// What the command prints says enough of servers that come, go and fail.
		log = log.Level(zerolog.ErrorLevel)
	}
	if cfg, err = e.LoadOnce(); err != nil {
		return nil, nil, log, err
	}
	e.use(cfg, "", log)
	opts := e.toolboxOptions(cfg, log)
	opts.Client, opts.Peer, opts.Principal = client, toolbox.Nobody{}, principal.Principal{Name: principal.Default}
	if e.tune != nil {
		e.tune(&opts)
	}
	for _, t := range cfg.Toolboxes {
		if len(names) == 0 || slices.Contains(names, t.Name) {
			if edited != nil {
				t = edited(&t)
			}
			boxes = append(boxes, toolbox.New(t, opts))
		}
	}
	if len(boxes) < len(names) {
		return nil, nil, log, cli.UnknownToolbox(cfg, names[0])
	}
	return boxes, cfg, log, nil
}

// openBoxes opens the named toolboxes, or all, and waits until each of their servers is ready or has failed, for which
// it has the time that its configuration gives it to start.
func (e *environment) openBoxes(ctx context.Context, edited edit, names ...string) (boxes []*toolbox.Toolbox, closeAll func(), err error) {
	return e.openServers(ctx, nil, edited, names...)
}

// openServers is openBoxes that waits for the named servers alone; nil is all.
func (e *environment) openServers(ctx context.Context, servers []string, edited edit, names ...string) (boxes []*toolbox.Toolbox, closeAll func(), err error) {
	boxes, _, log, err := e.boxes(edited, names)
	if err != nil {
		return nil, nil, err
	}
	closeAll, err = e.startBoxes(ctx, boxes, servers, log)
	return boxes, closeAll, err
}

// startBoxes starts the servers of toolboxes and waits for those that are named; nil is all.
func (e *environment) startBoxes(ctx context.Context, boxes []*toolbox.Toolbox, servers []string, log zerolog.Logger) (closeAll func(), err error) {
	closeAll = func() { closeBoxes(boxes, log) }
	var all errgroup.Group
	for _, b := range boxes {
		all.Go(func() error { return b.Start(ctx, servers...) })
	}
	shown := showStarting(e.Environment, boxes, servers)
	err = all.Wait()
	shown()
	if err != nil {
		closeAll()
		return nil, err
	}
	return closeAll, nil
}

// closeBoxes ends the servers of toolboxes.
func closeBoxes(boxes []*toolbox.Toolbox, log zerolog.Logger) {
	var wg sync.WaitGroup
	for _, b := range boxes {
		wg.Go(func() {
			if err := b.Close(); err != nil {
				log.Error().AnErr(logkey.Err, err).Str(logkey.Toolbox, b.Name).Msg("closing")
			}
		})
	}
	wg.Wait()
}

// recallBoxes gives the named toolboxes, or all, with what was last seen of
// their servers, and starts nothing.
func (e *environment) recallBoxes(_ context.Context, edited edit, names ...string) (boxes []*toolbox.Toolbox, closeAll func(), err error) {
	boxes, _, _, err = e.boxes(edited, names)
	if err != nil {
		return nil, nil, err
	}
	toolbox.Recall(boxes...)
	return boxes, func() {}, nil
}

func listTools(ctx context.Context, env *environment, names []string, asJSON, offline bool) error {
	if len(names) == 1 && env.isTool(names[0]) {
		return showTool(ctx, env, names[0], asJSON, offline)
	}
	get := env.openBoxes
	if offline {
		get = env.recallBoxes
	}
	boxes, closeAll, err := get(ctx, nil, names...)
	if err != nil {
		return err
	}
	defer closeAll()
	list := toolList{seen: offline}
	failed, enabled := false, false
	for _, b := range boxes {
		for _, s := range b.Servers() {
			if err := missing(b, s, offline); err != nil {
				failed = true
				fmt.Fprintf(env.Err, "workbench: error: %v\n", err)
			}
			if n := len(s.Held(toolbox.Tools)); n > 0 {
				fmt.Fprintf(env.Err, "workbench: warning: server %q of toolbox %q: %s held back; workbench lock --diff %s says why\n", s.Name, b.Name, terminal.CountVerb(n, "tool is", "tools are"), lock.Word(b.Name))
			}
			enabled = enabled || s.Status().State != toolbox.Disabled
			list.servers = append(list.servers, s)
		}
	}
	if !enabled {
		fmt.Fprintln(env.Err, "workbench: warning: there is no server that is not disabled\nworkbench: hint: workbench enable TOOLBOX/SERVER enables one")
	}
	if err := list.print(env, asJSON); err != nil {
		return err
	}
	if failed {
		return cli.SilentError(cli.ExitFault)
	}
	return nil
}

// missing says why the tools of a server cannot be listed; nil if they can be,
// or are not meant to.
func missing(b *toolbox.Toolbox, s *toolbox.Server, offline bool) error {
	st := s.Status()
	switch {
	case len(s.Items(toolbox.Tools)) == 0 && s.Hidden() > 0:
		return fmt.Errorf("server %q of toolbox %q: its toolFilters leave out all of its tools (%d); mend them, or take them out", s.Name, b.Name, s.Hidden())
	case st.State == toolbox.Ready || st.State == toolbox.Disabled || offline && !st.Seen.IsZero():
		return nil
	case offline && st.State == toolbox.Stopped:
		return fmt.Errorf("server %q of toolbox %q was not seen before; workbench tools %q starts it", s.Name, b.Name, b.Name)
	}
	return absent(b.Name, s.Name, st)
}

// absent says why a server is not there for a command, which tries no longer
// when it says so.
func absent(box, server string, st toolbox.Status) error {
	err := fmt.Errorf("server %q of toolbox %q is not available (%s)", server, box, st.State)
	if st.Cause != nil {
		err = fmt.Errorf("%w: %w", err, st.Cause)
	}
	return err
}

// toolList is what is printed of the tools of servers.
type toolList struct {
	seen    bool // it says when they were seen
	servers []*toolbox.Server
}

// print prints a table, or one JSON array.
func (l *toolList) print(env *environment, asJSON bool) error {
	if asJSON {
		all := []json.RawMessage{}
		for _, s := range l.servers {
			for _, it := range s.Items(toolbox.Tools) {
				all = append(all, located(it, l.seen))
			}
		}
		out, err := json.MarshalIndent(all, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(env.Out, string(foreign.JSON(out)))
		return err
	}
	t := terminal.Table{Most: terminal.PlainText, Head: []string{"TOOLBOX", "SERVER", "TOOL", "DESCRIPTION"}}
	if l.seen {
		t.Head = slices.Insert(t.Head, 3, "SEEN")
	}
	for _, s := range l.servers {
		for _, it := range s.Items(toolbox.Tools) {
			row := []string{s.Toolbox, s.Name, it.Key.String(), summary(it)}
			if l.seen {
				row = slices.Insert(row, 3, s.Status().LastSeen())
			}
			t.Add(row...)
		}
	}
	return env.Print(&t)
}

// located is a tool's definition with the toolbox and server it comes from, and
// when it was seen if that is asked.
func located(it toolbox.Item, seen bool) json.RawMessage {
	out := wire.AppendQuote([]byte(`{"toolbox":`), it.Server.Toolbox)
	out = wire.AppendQuote(append(out, `,"server":`...), it.Server.Name)
	if seen {
		out = wire.AppendQuote(append(out, `,"seen":`...), it.Server.Status().Seen.UTC().Format(time.RFC3339))
	}
	return append(append(append(out, `,"definition":`...), it.Raw...), '}')
}

// summary is the first line of a tool's description.
func summary(it toolbox.Item) string {
	span, err := wire.FindPath(it.Raw, wire.Span{Start: 0, End: len(it.Raw)}, "description")
	if err != nil || !span.Present() {
		return ""
	}
	text, _ := wire.Unquote(it.Raw[span.Start:span.End])
	line, _, _ := strings.Cut(foreign.NewLines(strings.TrimSpace(text)).String(), "\n")
	return line
}

// itemNames are the full names of what was seen of the servers.
func (e *environment) itemNames(k toolbox.Kind) (names []string) {
	boxes, _, _, err := e.boxes(nil, nil)
	if err != nil {
		return nil
	}
	toolbox.Recall(boxes...)
	for _, b := range boxes {
		for _, s := range b.Servers() {
			for _, it := range s.Items(k) {
				names = append(names, s.Toolbox+"/"+s.Name+"/"+it.Key.String())
			}
		}
	}
	return names
}
