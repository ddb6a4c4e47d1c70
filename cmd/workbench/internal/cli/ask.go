package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/foreign"
)

// ErrNoAnswer says that standard input ended where somebody was asked.
var ErrNoAnswer = errors.New("standard input ended; nothing more was changed")

// Answer asks the person at the terminal for a line. Nobody waits for it after ctx.
func (e *Environment) Answer(ctx context.Context, question string) (text string, err error) {
	fmt.Fprint(e.Out, question)
	return Await(ctx, func() (string, error) { return readLine(e.In) })
}

// Agreed asks the person at the terminal; any other answer than yes is an error.
func (e *Environment) Agreed(ctx context.Context, question string) error {
	if !terminal.Is(e.In) {
		return Usage(Hint(errors.New("nobody can be asked: standard input is not a terminal"), "read what is shown above, then add --yes"))
	}
	yes, err := e.Asked(ctx, question)
	if err == nil && !yes {
		err = errors.New("not agreed; nothing was changed")
	}
	return err
}

// Asked asks the person at the terminal for yes or no, which no answer is too.
func (e *Environment) Asked(ctx context.Context, question string) (yes bool, err error) {
	text, err := e.Answer(ctx, question+" [y/N] ")
	if errors.Is(err, ErrNoAnswer) {
		return false, nil
	}
	text = strings.ToLower(strings.TrimSpace(text))
	return text == "y" || text == "yes", err
}

// readLine reads to the end of a line and no further: the next question is answered by the next line.
func readLine(in io.Reader) (string, error) {
	var line []byte
	for b := make([]byte, 1); len(line) < 1000; {
		if n, err := in.Read(b); n == 0 || err != nil {
			if len(line) == 0 {
				return "", ErrNoAnswer
			}
			break
		}
		if b[0] == '\n' {
			break
		}
		line = append(line, b[0])
	}
	return string(line), nil
}

// Input is standard input for as long as ctx lasts. Reading a pipe or a terminal cannot be interrupted; a read of Input
// ends with ctx all the same, and what comes in later is lost.
func (e *Environment) Input(ctx context.Context) io.Reader { return input{ctx, e.In} }

type input struct {
	ctx context.Context // kept because io.Reader passes none
	in  io.Reader
}

func (r input) Read(p []byte) (int, error) {
	own := make([]byte, len(p)) // a read that is left behind must not write into p
	n, err := Await(r.ctx, func() (int, error) { return r.in.Read(own) })
	return copy(p, own[:n]), err
}

// Await waits for what do gives, unless ctx ends before: do cannot be interrupted, and then goes on by itself.
func Await[T any](ctx context.Context, do func() (T, error)) (got T, err error) {
	type result struct {
		got T
		err error
	}
	done := make(chan result, 1)
	go func() {
		got, err := do()
		done <- result{got, err}
	}()
	select {
	case r := <-done:
		return r.got, r.err
	case <-ctx.Done():
		return got, context.Cause(ctx)
	}
}

// Shown is a path as a terminal may show it.
func Shown(path string) string { return foreign.NewText(path).String() }
