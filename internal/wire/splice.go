package wire

// Edit replaces the bytes of Span by New. An empty span (see [At]) inserts New
// before that byte; an absent span is passed over, so that an optional part
// needs no test by the caller.
type Edit struct {
	Span Span
	New  []byte
}

// Splice appends raw with the edits applied to dst and returns it. Edits are in
// ascending order and do not overlap; it panics if they do, because the caller
// has lost track of the message. dst must not share memory with raw.
func Splice(dst, raw []byte, edits ...Edit) []byte {
	at := 0
	for i := range edits {
		e := &edits[i]
		if e.Span == (Span{}) {
			continue
		}
		dst = append(dst, raw[at:e.Span.Start]...)
		dst = append(dst, e.New...)
		at = e.Span.End
	}
	return append(dst, raw[at:]...)
}

// Comma appends a comma to a JSON array that is being written, unless nothing is in it yet.
func Comma(array []byte) []byte {
	if array[len(array)-1] != '[' {
		array = append(array, ',')
	}
	return array
}
