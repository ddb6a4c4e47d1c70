package opening

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// An Edit changes a toolbox of the configuration before it is made; nil leaves it as it is.
type Edit func(*config.Toolbox) config.Toolbox

// Alone is an Edit that leaves a toolbox one of its servers, or none if it has no such one.
func Alone(server string) Edit {
	return func(t *config.Toolbox) config.Toolbox {
		changed := *t
		changed.Servers = slices.DeleteFunc(slices.Clone(t.Servers), func(s config.Server) bool { return s.Name != server })
		return changed
	}
}

// Boxes makes the named toolboxes, or all, for this program's own use.
func (e *Environment) Boxes(edited Edit, names []string) (boxes []*toolbox.Toolbox, cfg *config.Config, log zerolog.Logger, err error) {
	return e.BoxesFor(toolbox.Client{}, edited, names)
}

// BoxesFor is boxes whose servers are told of a client.
func (e *Environment) BoxesFor(client toolbox.Client, edited Edit, names []string) (boxes []*toolbox.Toolbox, cfg *config.Config, log zerolog.Logger, err error) {
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
	e.Use(cfg, "", log)
	opts := e.ToolboxOptions(cfg, log)
	opts.Client, opts.Peer, opts.Principal = client, toolbox.Nobody{}, principal.Principal{Name: principal.Default}
	if e.Tune != nil {
		e.Tune(&opts)
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

// OpenBoxes opens the named toolboxes, or all, and waits until each of their servers is ready or has failed, for which
// it has the time that its configuration gives it to start.
func (e *Environment) OpenBoxes(ctx context.Context, edited Edit, names ...string) (boxes []*toolbox.Toolbox, closeAll func(), err error) {
	boxes, _, log, err := e.Boxes(edited, names)
	if err != nil {
		return nil, nil, err
	}
	closeAll, err = e.StartBoxes(ctx, boxes, log)
	return boxes, closeAll, err
}

// StartBoxes starts the servers of toolboxes and waits for them.
func (e *Environment) StartBoxes(ctx context.Context, boxes []*toolbox.Toolbox, log zerolog.Logger) (closeAll func(), err error) {
	closeAll = func() { CloseBoxes(boxes, log) }
	var all errgroup.Group
	for _, b := range boxes {
		all.Go(func() error { return b.Start(ctx) })
	}
	shown := ShowStarting(e.Environment, boxes)
	err = all.Wait()
	shown()
	if err != nil {
		closeAll()
		return nil, err
	}
	return closeAll, nil
}

// CloseBoxes ends the servers of toolboxes.
func CloseBoxes(boxes []*toolbox.Toolbox, log zerolog.Logger) {
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

// RecallBoxes gives the named toolboxes, or all, with what was last seen of their servers, and starts nothing.
func (e *Environment) RecallBoxes(_ context.Context, edited Edit, names ...string) (boxes []*toolbox.Toolbox, closeAll func(), err error) {
	boxes, _, _, err = e.Boxes(edited, names)
	if err != nil {
		return nil, nil, err
	}
	toolbox.Recall(boxes...)
	return boxes, func() {}, nil
}

// Servers are those of toolboxes.
func Servers(boxes []*toolbox.Toolbox) (all []*toolbox.Server) {
	for _, b := range boxes {
		all = append(all, b.Servers()...)
	}
	return all
}

// Missing says why the tools of a server cannot be listed; nil if they can be, or are not meant to.
func Missing(s *toolbox.Server, offline bool) error {
	st := s.Status()
	hidden, by := s.Hidden()
	switch {
	case len(s.Items(toolbox.Tools)) == 0 && hidden > 0:
		return fmt.Errorf("server %q of toolbox %q: %s all of its tools (%d); correct or remove that in the configuration", s.Name, s.Toolbox, by, hidden)
	case st.State == toolbox.Ready || offline && !st.Seen.IsZero():
		return Unread(s, toolbox.Tools)
	case st.State == toolbox.Disabled:
		return nil
	case offline && st.State == toolbox.Stopped:
		return fmt.Errorf("server %q of toolbox %q was not seen before; workbench tools %s starts it", s.Name, s.Toolbox, shellword.Word(s.Toolbox))
	}
	return Absent(s.Toolbox, s.Name, st)
}

// Unread says why a list of a server that is ready has less than the server offers; nil if it has all.
func Unread(s *toolbox.Server, kinds ...toolbox.Kind) error {
	if err := s.Unread(kinds...); err != nil {
		return fmt.Errorf("server %q of toolbox %q: %w", s.Name, s.Toolbox, err)
	}
	return nil
}

// Absent says why a server is not there for a command, which tries no longer when it says so.
func Absent(box, server string, st toolbox.Status) error {
	err := fmt.Errorf("server %q of toolbox %q is not available (%s)", server, box, st.State)
	if st.Cause != nil {
		err = fmt.Errorf("%w: %w", err, st.Cause)
	}
	return err
}

// Located is a tool's definition with the toolbox and server it comes from, and when it was seen if that is asked.
func Located(it toolbox.Item, seen bool) json.RawMessage {
	o := wire.NewObject(nil).Text("toolbox", it.Server.Toolbox).Text("server", it.Server.Name)
	if seen {
		o = o.Text("seen", it.Server.Status().Seen.UTC().Format(time.RFC3339))
	}
	return o.Raw("definition", it.Raw).End()
}

// ItemNames are the full names of what was seen of the servers.
func (e *Environment) ItemNames(k toolbox.Kind) (names []string) {
	boxes, _, err := e.RecallBoxes(context.Background(), nil)
	if err != nil {
		return nil
	}
	for _, s := range Servers(boxes) {
		for _, it := range s.Items(k) {
			names = append(names, s.Toolbox+"/"+s.Name+"/"+it.Key.String())
		}
	}
	return names
}
