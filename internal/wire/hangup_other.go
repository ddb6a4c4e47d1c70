//go:build !unix

package wire

// halfClosed is no event here.
const halfClosed = 0

// hangup returns what reports that the peer is there: whether it is not can only be learnt by reading and writing.
func hangup(any, int16) func() bool { return func() bool { return false } }
