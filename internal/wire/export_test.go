package wire

// Blocks and Walk are the two ways in which a value is checked; each returns where it ends and whether it is valid.
// HasBlocks says whether Blocks works here, which it does for values that begin behind BlocksFrom bytes and have
// BlocksFor left.
var (
	Blocks = blocks
	Walk   = func(b []byte, i, depth int) (int, bool) {
		end, f := walk(b, i, depth)
		return end, f == faultNone
	}
	HasBlocks = hasBlocks
)

const (
	BlocksFrom = blocksFrom
	BlocksFor  = blocksFor
)
