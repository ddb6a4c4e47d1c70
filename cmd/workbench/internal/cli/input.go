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
	type result struct {
		n   int
		err error
	}
	own, read := make([]byte, len(p)), make(chan result, 1) // a read that is left behind must not write into p
	go func() {
		n, err := r.in.Read(own)
		read <- result{n, err}
	}()
	select {
	case <-r.ctx.Done():
		return 0, context.Cause(r.ctx)
	case got := <-read:
		return copy(p, own[:got.n]), got.err
	}
}
