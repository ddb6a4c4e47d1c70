package cli

import (
	"io"
	"os"
	"sync/atomic"
)

// Output is standard output. It remembers the first write that failed, which Report tells: much of what prints does not
// look at errors, and who sends the output to a full disk is to hear that it is not there.
type Output struct {
	*os.File
	fault atomic.Pointer[error]
}

func (o *Output) Write(b []byte) (int, error)         { return written(o, b, o.File.Write) }
func (o *Output) WriteString(s string) (int, error)   { return written(o, s, o.File.WriteString) }
func (o *Output) ReadFrom(r io.Reader) (int64, error) { return written(o, r, o.File.ReadFrom) }

func written[T any, N int | int64](o *Output, what T, write func(T) (N, error)) (N, error) {
	n, err := write(what)
	if err != nil {
		o.fault.CompareAndSwap(nil, &err)
	}
	return n, err
}

// lost is the fault of what a command printed.
func (s Streams) lost() error {
	o, ok := s.Out.(*Output)
	if !ok {
		return nil
	}
	if err := o.fault.Load(); err != nil {
		return Hint(*err, "what was done is done, and what was printed is not there whole; print it elsewhere")
	}
	return nil
}
