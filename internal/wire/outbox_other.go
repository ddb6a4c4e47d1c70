//go:build !unix

package wire

import (
	"errors"
	"io"
)

var errUnable = errors.New("cannot write without waiting")

// direct is not to be had here: the goroutine of the Outbox does all writing.
type direct struct{}

func newDirect(io.Writer) *direct { return nil }

func (*direct) writeLine([]byte) (int, error) { return 0, errUnable }
