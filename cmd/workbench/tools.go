package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

func toolsCommand(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tools [TOOLBOX]",
		Short: "Open toolboxes and list their tools",
		Long: `Tools opens one toolbox, or all, waits for the servers, prints what they offer
and stops them again. The exit code is 1 if a server could not be started.`,
		Example: `  workbench tools
  workbench tools workflows --json`,
		Args: between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return listTools(cmd.Context(), env, args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array with the tools as their servers define them")
	return cmd
}

// openBoxes opens the named toolboxes, or all, for this program's own use.
func (e *environment) openBoxes(ctx context.Context, names ...string) (boxes []*toolbox.Toolbox, closeAll func(), err error) {
	log, closeLog, err := e.logger()
	if err != nil {
		return nil, nil, err
	}
	if log.GetLevel() == zerolog.InfoLevel {
		// What the command prints says enough of servers that come and go.
		log = log.Level(zerolog.WarnLevel)
	}
	cfg, _, err := e.load()
	if err != nil {
		return nil, nil, err
	}
	opts := e.toolboxOptions(cfg, log)
	opts.Peer = loner{}
	for _, t := range cfg.Toolboxes {
		if len(names) == 0 || slices.Contains(names, t.Name) {
			boxes = append(boxes, toolbox.New(t, opts))
		}
	}
	if len(boxes) < len(names) {
		return nil, nil, unknownToolbox(cfg, names[0])
	}
	var wg sync.WaitGroup
	for _, b := range boxes {
		wg.Go(func() { _ = b.Open(ctx, cfg.OpenTimeout) })
	}
	wg.Wait()
	return boxes, func() {
		var wg sync.WaitGroup
		for _, b := range boxes {
			wg.Go(func() {
				if err := b.Close(); err != nil {
					log.Warn().AnErr(logkey.Err, err).Str(logkey.Toolbox, b.Name).Msg("closing")
				}
			})
		}
		wg.Wait()
		_ = closeLog()
	}, nil
}

func unknownToolbox(cfg *config.Config, name string) error {
	var known []string
	for _, t := range cfg.Toolboxes {
		known = append(known, t.Name)
	}
	err := fmt.Errorf("there is no toolbox %q", name)
	if near := nearest.Names(name, known, 1); near != nil {
		return usageError{hinted{err, fmt.Sprintf("did you mean %q? The toolboxes are: %s", near[0], join(known))}}
	}
	if len(known) == 0 {
		return usageError{hinted{err, "the configuration has none"}}
	}
	return usageError{hinted{err, "the toolboxes are: " + join(known)}}
}

// loner is the client side where there is no client: it answers nothing.
type loner struct{}

func (loner) Notification(*toolbox.Server, *wire.Message) {}
func (loner) Withdraw(*toolbox.Ask, *wire.Message)        {}
func (loner) Changed(*toolbox.Server, toolbox.Kind)       {}
func (loner) Request(a *toolbox.Ask, _ *wire.Message) {
	a.Refuse(wire.CodeMethodNotFound, "there is no client that could answer")
}

func listTools(ctx context.Context, env *environment, names []string, asJSON bool) error {
	boxes, closeAll, err := env.openBoxes(ctx, names...)
	if err != nil {
		return err
	}
	defer closeAll()
	failed := false
	var all []json.RawMessage
	w := tabwriter.NewWriter(env.out, 0, 0, 2, ' ', 0)
	if !asJSON {
		fmt.Fprintln(w, "TOOLBOX\tSERVER\tTOOL\tDESCRIPTION")
	}
	for _, b := range boxes {
		for _, s := range b.Servers() {
			if st := s.Status(); st.State != toolbox.Ready && st.State != toolbox.Disabled {
				failed = true
				fmt.Fprintf(env.err, "workbench: error: %v\n", &toolbox.UnavailableError{Toolbox: b.Name, Server: s.Name, Status: st})
			}
			for _, it := range s.Items(toolbox.Tools) {
				if asJSON {
					all = append(all, located(it))
					continue
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", b.Name, s.Name, it.Key, summary(it))
			}
		}
	}
	if asJSON {
		out, err := json.MarshalIndent(append([]json.RawMessage{}, all...), "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintln(env.out, string(out))
	} else if err := w.Flush(); err != nil {
		return err
	}
	if failed {
		return silentError{exitFault}
	}
	return nil
}

// located is a tool's definition with the toolbox and server it comes from.
func located(it toolbox.Item) json.RawMessage {
	out := wire.AppendQuote([]byte(`{"toolbox":`), it.Server.Toolbox)
	out = wire.AppendQuote(append(out, `,"server":`...), it.Server.Name)
	return append(append(append(out, `,"definition":`...), it.Raw...), '}')
}

// summary is the first line of a tool's description, cut to fit.
func summary(it toolbox.Item) string {
	span, err := wire.FindPath(it.Raw, wire.Span{Start: 0, End: len(it.Raw)}, "description")
	if err != nil || !span.Present() {
		return ""
	}
	text, _ := wire.Unquote(it.Raw[span.Start:span.End])
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	const width = 80
	if r := []rune(line); len(r) > width {
		line = string(r[:width-1]) + "…"
	}
	return clean(line)
}

// clean keeps what a server wrote from steering the terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}
