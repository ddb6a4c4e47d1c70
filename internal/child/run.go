package child

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// Bounds of programs that are run to their end.
const (
	runTime   = 30 * time.Second // where the program says no other
	maxOutput = 4 << 20
)

// A Program is run to its end for what it writes to standard output.
type Program struct {
	Argv    []string
	Env     []string // KEY=VALUE, beside what every process gets, which it prevails over
	Stdin   []byte
	Timeout time.Duration // 0 is 30 s
}

// A Runner runs programs to their end.
type Runner struct {
	Start  func(Spec) (*Process, error)
	Lookup func(variable string) (string, bool) // of the environment, of which programs get what any may see
}

// errTooMuch ends a program that writes without end.
var errTooMuch = fmt.Errorf("it wrote more than %d bytes and was stopped", maxOutput)

// Run runs a program and returns what it wrote. A program that fails, or takes too long, is an error, with the end of what
// it wrote to standard error, or else to standard output. Nothing of the process is left when Run returns.
func (r Runner) Run(ctx context.Context, p Program) ([]byte, error) {
	limit := cmp.Or(p.Timeout, runTime)
	late := fmt.Errorf("it did not end within %s and was stopped", limit)
	ctx, done := context.WithTimeoutCause(ctx, limit, late)
	defer done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	process, err := r.Start(Spec{Command: p.Argv[0], Args: p.Argv[1:], Env: Declare(SafeEnv(r.Lookup), p.Env)})
	if err != nil {
		return nil, err
	}
	var out []byte
	var pipes sync.WaitGroup // both end soon after the process
	pipes.Go(func() {
		_, _ = process.Stdin().Write(p.Stdin) // one that does not want it all may still do its work
		_ = process.Stdin().Close()
	})
	pipes.Go(func() {
		out, _ = io.ReadAll(io.LimitReader(process.Stdout(), maxOutput+1))
		if len(out) > maxOutput {
			cancel(errTooMuch)
		}
	})
	var stopped error
	select {
	case <-process.Done():
		pipes.Wait()
	case <-ctx.Done():
		stopped = context.Cause(ctx)
	}
	left := process.Stop(context.WithoutCancel(ctx), Grace{EOF: -1})
	pipes.Wait()
	switch exit := process.Exit(); {
	case stopped == late:
		return nil, errors.Join(errors.New(lastSaid(late.Error(), process.Tail(), out)), left)
	case stopped != nil:
		return nil, errors.Join(stopped, left)
	case len(out) > maxOutput:
		return nil, errTooMuch
	case exit.Code != 0:
		return nil, errors.New(lastSaid(exit.String(), process.Tail(), out))
	}
	return out, left
}

// lastSaid adds to how a program ended what it had written last.
func lastSaid(how string, tail foreign.Words, out []byte) string {
	if len(tail) > 0 {
		return fmt.Sprintf("%s; its last words: %q", how, tail)
	}
	if said := lastLines(out); len(said) > 0 { // Tests and checks say there what is wrong.
		return fmt.Sprintf("%s; on its standard output, it wrote last: %q", how, said)
	}
	return how
}

// lastLines are the last lines of what a program wrote, as many as are kept of standard error.
func lastLines(out []byte) foreign.Words {
	var words foreign.Words
	lines := strings.Split(string(out), "\n")
	for _, line := range slices.Backward(lines) {
		if text := foreign.NewText(line); !text.IsEmpty() && len(words) < tailLines {
			words = append(words, text)
		}
	}
	slices.Reverse(words)
	return words
}
