package wire

import (
	"fmt"
	"reflect"
)

// HasEights says whether Eights works here.
var HasEights = hasEights

// WithoutEights has do run as on a processor that has no vectors for eight blocks at once.
func WithoutEights(do func()) {
	has := hasEights
	defer func() { hasEights = has }()
	hasEights = false
	do()
}

// Eights goes through the object or array at i by eight blocks at once and by one after the other, each time from the
// same state, until that ends. It returns of how many eights the value has more behind them, and how many of those were
// taken at once, or how the two differ.
func Eights(b []byte, i, depth int) (all, taken int, err error) {
	if !hasEights || i < blocksFrom {
		return 0, 0, nil
	}
	g := grammar{b: b, room: uint64(min(64, MaxDepth-depth))}
	for ; len(b)-i >= 8*blockSize+4; i += 8 * blockSize {
		at := g
		ok := eight(&at, &b[i], i)
		var text [8]textClasses
		classifyText(&b[i], 8, &text[0])
		for k := range text {
			if _, done := g.next(&text[k], (*[blockSize]byte)(b[i+k*blockSize:]), i+k*blockSize); done {
				if ok {
					return 0, 0, fmt.Errorf("the eight at %d was taken, but not block %d of it", i, k)
				}
				return all, taken, nil
			}
		}
		all++
		if !ok {
			continue
		}
		taken++
		if end := i + 8*blockSize; g.literal < end && at.literal < end {
			at.literal = g.literal // of no interest any more
		}
		if !reflect.DeepEqual(at, g) {
			at.b, g.b = nil, nil
			return 0, 0, fmt.Errorf("behind the eight at %d it is\n%+v, by blocks\n%+v", i, at, g)
		}
	}
	return all, taken, nil
}
