//go:build unix && !linux

package wire

// halfClosed is no event here: the end of a socket is seen when both of its sides are closed.
const halfClosed = 0
