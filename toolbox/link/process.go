package link

import (
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/runner"
)

// Process is the process behind a link. A nil one is that of a link that has none.
type Process struct {
	proc  *child.Process
	log   zerolog.Logger
	spoke atomic.Bool // a message came from it

	mu     sync.Mutex    // held while the runner is looked at
	runner *runner.Watch // nil unless it is a package runner
}

// PID is the number of the process, or 0.
func (p *Process) PID() int {
	if p == nil {
		return 0
	}
	return p.proc.PID()
}

// LastWords returns the last that the process wrote to standard error.
func (p *Process) LastWords() foreign.Words {
	if p == nil {
		return nil
	}
	return p.proc.Tail()
}

// Spoke reports whether a message came from the process.
func (p *Process) Spoke() bool { return p.spoke.Load() }

// Installs reports whether the process is a package runner in the middle of an installation: what it is to run has said
// nothing.
func (p *Process) Installs() bool {
	if p.runner == nil || p.Spoke() {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runner.Installing(p.proc.Tail())
}

// end notes that an installation is about to be ended.
func (p *Process) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runner.End()
}

// mend puts right what was left by an installation that was ended.
func (p *Process) mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if dir, err := p.runner.Mend(); err != nil {
		p.log.Warn().AnErr(logkey.Err, err).Msg("what is left of an installation that was ended cannot be removed")
	} else if dir != "" {
		p.log.Info().Str(logkey.Detail, dir).Msg("what was left of an installation that was ended is removed")
	}
}
