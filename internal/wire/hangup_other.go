//go:build !unix

package wire

import "io"

// hangup returns what reports that the peer is there: whether it is not can only be learnt by reading.
func hangup(io.Reader) func() bool { return func() bool { return false } }
