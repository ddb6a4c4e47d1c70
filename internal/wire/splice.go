package wire

// Edit replaces the bytes of Span by New. An empty span (see [At]) inserts New before that byte; an absent span is
// passed over, so that an optional part needs no test by the caller.
type Edit struct {
	Span Span
	New  []byte
}

// Splice appends raw with the edits applied to dst and returns it. Edits are in ascending order and do not overlap; it
// panics if they do, because the caller has lost track of the message. dst must not share memory with raw.
func Splice(dst, raw []byte, edits ...Edit) []byte { return splice(dst, raw, 0, edits) }

// splice does it for the bytes of raw from at on.
func splice(dst, raw []byte, at int, edits []Edit) []byte {
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

// placed is how long a message is that [Message.Splice] edits where it lies: what is shorter is copied for less.
const placed = 4 << 10

// Splice gives m with the edits applied, which are as for the function [Splice]. Where a [Reader] lent the room around
// a long message, the result lies in that room: the longest stretch between two edits stays where it is, what stands
// before and behind it moves up to it, and m.Raw is not to be read any more. Otherwise the result is a copy in *buf.
// Both are valid as long as m.Raw and *buf are.
func (m *Message) Splice(buf *[]byte, edits ...Edit) []byte {
	if len(m.Raw) < placed || !m.isLent() {
		*buf = Splice((*buf)[:0], m.Raw, edits...)
		return *buf
	}
	var stay Span // the stretch that stays
	first, at := 0, 0
	for i := range len(edits) + 1 {
		next := len(m.Raw)
		if i < len(edits) {
			if edits[i].Span == (Span{}) {
				continue
			}
			next = edits[i].Span.Start
		}
		if next-at > stay.End-stay.Start {
			stay, first = Span{at, next}, i
		}
		if i < len(edits) {
			at = edits[i].Span.End
		}
	}
	// Both ends are put together before a byte of m is written over.
	*buf = splice((*buf)[:0], m.Raw[:stay.Start], 0, edits[:first])
	head := len(*buf)
	*buf = splice(*buf, m.Raw, stay.End, edits[first:])
	front, back := (*buf)[:head], (*buf)[head:]
	start, end := m.at+stay.Start-len(front), m.at+stay.End+len(back)
	if start < 0 || end > len(m.room) {
		*buf = Splice((*buf)[:0], m.Raw, edits...)
		return *buf
	}
	copy(m.room[start:], front)
	copy(m.room[end-len(back):], back)
	return m.room[start:end:end]
}

// isLent reports whether m.Raw lies in the room that a Reader lent.
func (m *Message) isLent() bool { return m.room != nil && &m.room[m.at] == &m.Raw[0] }
