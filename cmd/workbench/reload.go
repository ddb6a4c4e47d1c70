package main

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

// reloader has a front work by what the configuration file says now. A file
// with a fault changes nothing.
type reloader struct {
	env    *environment
	log    zerolog.Logger
	front  interface{ Reload(*config.Config) }
	direct string         // the one toolbox that is served, or ""
	piped  bool           // the configuration came through a pipe, which was read to its end
	cfg    *config.Config // what the front works by
	paths  []string       // of the file; without one, where it is looked for

	fault atomic.Pointer[string] // what is wrong with the file
}

// newReloader makes one for a front that works by cfg; searched is where a
// configuration was looked for, if there was none.
func newReloader(env *environment, log zerolog.Logger, cfg *config.Config, searched []string, direct string) *reloader {
	r := &reloader{env: env, log: log, cfg: cfg, direct: direct, paths: searched}
	if cfg.Path != "" {
		r.paths = []string{cfg.Path}
	}
	if r.piped = openfile.HandedOver(cfg.Path); r.piped {
		r.paths = nil
	}
	return r
}

// problem says what is wrong with the file; "" if nothing is.
func (r *reloader) problem() string {
	if text := r.fault.Load(); text != nil {
		return *text
	}
	return ""
}

// follow keeps front at what the file says until stop is called.
func (r *reloader) follow(front interface{ Reload(*config.Config) }) (stop func()) {
	r.front = front
	hangups := r.env.hangups.take()
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { r.run(ctx, hangups) })
	return func() {
		cancel()
		work.Wait()
	}
}

// run follows the file until ctx ends.
func (r *reloader) run(ctx context.Context, hangups <-chan struct{}) {
	if r.piped {
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
				r.log.Warn().Str(logkey.Detail, r.cfg.Path).Msg("the configuration came through a pipe and cannot be read anew")
			}
		}
	}
	w := newWatch(r.paths, r.log)
	defer w.close()
	for {
		asked := false
		select {
		case <-ctx.Done():
			return
		case <-hangups:
			asked = true
		case e := <-w.events():
			w.note(e)
			continue
		case err := <-w.errors():
			w.lost(err)
			continue
		case <-w.settled.C:
		}
		// The watches first, so that nothing is missed after it was read.
		w.renew()
		r.reload(ctx, asked)
		if r.cfg.Path != "" {
			w.paths = []string{r.cfg.Path}
		}
	}
}

// reload reads the file and has the front work by it, if it is well. What is
// wrong is said once, or when somebody asked.
func (r *reloader) reload(ctx context.Context, asked bool) {
	cfg, err := r.load(ctx, config.Load)
	if err != nil && r.cfg.Partly {
		// So it was started: other edits of the file are heeded although a fault stays.
		cfg, err = r.load(ctx, config.LoadUsable)
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		text := err.Error()
		if said := r.fault.Swap(&text); asked || said == nil || *said != text {
			r.log.Warn().AnErr(logkey.Err, err).Msg("the configuration has a fault and was not reloaded; the one before goes on")
		}
		return
	}
	mended := r.fault.Swap(nil) != nil
	changes, old := config.Diff(r.cfg, cfg), r.cfg
	r.cfg = cfg
	if !changes.None() {
		r.front.Reload(cfg)
	}
	if !changes.None() || asked || mended {
		r.log.Info().Str(logkey.Detail, changes.String()).Msg("configuration reloaded")
		r.warn(old, changes)
	}
}

// load reads the file that there was at the start, or looks for one if there
// was none: another is not to take its place because it is away for a moment.
// The end of ctx does not wait for a disk.
func (r *reloader) load(ctx context.Context, read loader) (*config.Config, error) {
	type result struct {
		cfg *config.Config
		err error
	}
	path, done := r.cfg.Path, make(chan result, 1)
	go func() {
		var got result
		if path != "" {
			got.cfg, got.err = r.env.loadFile(read, path)
		} else {
			got.cfg, _, got.err = r.env.loadBy(read)
		}
		done <- got
	}()
	select {
	case got := <-done:
		return got.cfg, got.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// warn says what does not work as it may be meant to.
func (r *reloader) warn(old *config.Config, changes *config.Changes) {
	late := slices.DeleteFunc(changes.Settings, func(key string) bool { return key == "toolMode" || key == "openTimeout" })
	if len(late) > 0 {
		r.log.Warn().Str(logkey.Detail, strings.Join(late, ", ")).Msg("settings that are read at the start alone were changed; start workbench anew for them")
	}
	var known []string
	for _, problem := range old.Problems() {
		known = append(known, problem.Error())
	}
	for _, problem := range r.cfg.Problems() {
		if !slices.Contains(known, problem.Error()) {
			r.log.Warn().AnErr(logkey.Err, problem).Msg("a server cannot be used")
		}
	}
	_, was := old.Toolbox(r.direct)
	if _, is := r.cfg.Toolbox(r.direct); was && !is {
		r.log.Warn().Str(logkey.Toolbox, r.direct).Msg("the toolbox that is served was removed; clients see no tools until it is there again")
	}
}
