package cli

import (
	"context"
	"io"
)

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
