// Package reload has what serves work by the configuration as its files are now.
package reload

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/filewatch"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/status"
)

// Reloadable works by a configuration, which may be replaced.
type Reloadable interface{ Reload(*config.Config) }

// Reloader has a front, and what belongs to it, work by what the configuration file says now. A file with a fault
// changes nothing but what is told of it.
type Reloader struct {
	log    zerolog.Logger
	all    []Reloadable
	direct string // the one toolbox that is served, or ""
	piped  bool   // the configuration came through a pipe, which was read to its end
	from   *cli.Sources

	cfg  atomic.Pointer[config.Config] // what the front works by
	last atomic.Pointer[status.Reload] // the last that has changed something
}

// New makes one for a front that works by cfg, which was made of these files.
func New(log zerolog.Logger, cfg *config.Config, from *cli.Sources, direct string) *Reloader {
	r := &Reloader{log: log, from: from, direct: direct, piped: openfile.HandedOver(from.Places.Named)}
	r.cfg.Store(cfg)
	return r
}

// Tell says what is wrong with the files as they are now, if anything is, and what the last reload has changed.
func (r *Reloader) Tell(w *status.Workbench) {
	w.ConfigProblem = r.cfg.Load().Fault
	w.Reloaded = r.last.Load()
}

// Follow keeps all of them at what the file says, one after the other, until stop is called.
func (r *Reloader) Follow(all ...Reloadable) (stop func()) {
	r.all = all
	hangups := r.from.Env.Hangups.Take()
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { r.run(ctx, hangups) })
	return func() {
		cancel()
		work.Wait()
	}
}

// run follows the file until ctx ends.
func (r *Reloader) run(ctx context.Context, hangups <-chan struct{}) {
	if r.piped {
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
				r.log.Warn().Str(logkey.Detail, r.cfg.Load().Path).Msg("the configuration came through a pipe and cannot be read again")
			}
		}
	}
	w := filewatch.New(r.from.Watched(), func(err error) {
		r.log.Warn().AnErr(logkey.Err, err).Msg("the configuration file cannot be watched; it is looked at every two seconds instead")
	})
	defer w.Close()
	for {
		asked, err := r.wait(ctx, w, hangups)
		if err != nil {
			return
		}
		r.reload(ctx, asked)
		w.Follow(r.from.Watched())
	}
}

// retryEvery is how soon a configuration that could not be used is read again, though nothing says that it has changed:
// what was wrong may have been the moment, as where no more files can be opened.
const retryEvery = 2 * time.Second

// wait waits until the configuration is to be read again, and reports whether that was asked for. The error is that of
// ctx.
func (r *Reloader) wait(ctx context.Context, w *filewatch.Watch, hangups <-chan struct{}) (asked bool, err error) {
	if r.cfg.Load().Fault == "" {
		return w.Wait(ctx, hangups)
	}
	soon, cancel := context.WithTimeout(ctx, retryEvery)
	defer cancel()
	asked, _ = w.Wait(soon, hangups)
	return asked, ctx.Err()
}

// reload reads the file and has the front work by it, if it is well. What is wrong is said once, or when somebody
// asked.
func (r *Reloader) reload(ctx context.Context, asked bool) {
	old := r.cfg.Load()
	cfg, err := r.load(ctx, (*config.Source).Parse)
	if err != nil && old.Partly {
		// So it was started: other edits of the file are heeded although a fault stays.
		cfg, err = r.load(ctx, (*config.Source).ParseUsable)
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		faulty := *old
		faulty.Fault = err.Error()
		isNews := faulty.Fault != old.Fault
		r.cfg.Store(&faulty)
		if isNews {
			r.handOn(&faulty)
		}
		if asked || isNews {
			r.log.Warn().AnErr(logkey.Err, err).Msg("the configuration has a fault and was not reloaded; the one before stays in use")
		}
		return
	}
	changes := config.Diff(old, cfg)
	isNews, mended := !reflect.DeepEqual(old.Untrusted, cfg.Untrusted), old.Fault != ""
	r.cfg.Store(cfg)
	if !changes.None() || isNews || mended {
		r.handOn(cfg)
	}
	if !changes.None() {
		r.last.Store(&status.Reload{At: time.Now(), Changed: changes.String()})
	}
	if isNews || asked {
		TellSources(r.log, cfg)
	}
	if !changes.None() || asked || mended {
		r.log.Info().Str(logkey.Detail, changes.String()).Msg("configuration reloaded")
		r.warn(old, cfg, changes)
	}
}

// handOn has all work by a configuration.
func (r *Reloader) handOn(cfg *config.Config) {
	for _, one := range r.all {
		one.Reload(cfg)
	}
}

// load reads the files as they are now. The end of ctx does not wait for a disk.
func (r *Reloader) load(ctx context.Context, read cli.Parser) (*config.Config, error) {
	from := *r.from
	cfg, err := cli.Await(ctx, func() (*config.Config, error) {
		if err := from.Again(); err != nil {
			return nil, err
		}
		return from.Load(read)
	})
	if ctx.Err() == nil { // else it may still be in use
		*r.from = from
	}
	return cfg, err
}

// TellSources says what is to be known of where a configuration came from.
func TellSources(log zerolog.Logger, cfg *config.Config) {
	for _, note := range cfg.Notes {
		log.Info().Str(logkey.Detail, note).Msg("the project's configuration stands before the user's own")
	}
	if u := cfg.Untrusted; u != nil {
		log.Warn().Str(logkey.Detail, u.String()+"; "+u.Hint()).Msg("the project's configuration is not trusted")
	}
}

// warn says what does not work as it may be meant to.
func (r *Reloader) warn(old, now *config.Config, changes *config.Changes) {
	late := slices.DeleteFunc(changes.Settings, func(key string) bool {
		return slices.Contains([]string{"toolMode", "openTimeout", "pin", "codeMode", "envFile", "secrets", "record"}, key) ||
			key == "http" && reflect.DeepEqual(old.HTTP.JWT, now.HTTP.JWT)
	})
	if len(late) > 0 {
		r.log.Warn().Str(logkey.Detail, strings.Join(late, ", ")).Msg("some changed settings are only read at the start; restart workbench for them")
	}
	var known []string
	for _, problem := range old.Problems() {
		known = append(known, problem.Error())
	}
	for _, problem := range now.Problems() {
		if !slices.Contains(known, problem.Error()) {
			r.log.Warn().AnErr(logkey.Err, problem).Msg("a server cannot be used")
		}
	}
	_, was := old.Toolbox(r.direct)
	if _, is := now.Toolbox(r.direct); was && !is {
		r.log.Warn().Str(logkey.Toolbox, r.direct).Msg("the toolbox that is served was removed; clients see no tools until it is there again")
	}
}
