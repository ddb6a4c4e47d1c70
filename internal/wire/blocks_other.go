//go:build !amd64

package wire

// There are no blocks here.
const (
	hasBlocks  = false
	blocksFrom = 0
	blocksFor  = 0
)

// blocks leaves every value to walk.
func blocks([]byte, int, int) (int, bool) { return 0, false }
