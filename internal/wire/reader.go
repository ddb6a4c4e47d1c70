package wire

import (
	"bytes"
	"io"
	"weak"
)

// DefaultMaxMessage is the longest message a [Reader] accepts unless told otherwise, in bytes.
const DefaultMaxMessage = 16 << 20

const (
	smallBuffer = 64 << 10 // what a Reader keeps
	margin      = 64       // what is free before a message, for a longer id (see Lend)
	maxEmpty    = 100      // reads without data or error before giving up
)

// Reader reads newline-delimited messages. It belongs to one goroutine.
type Reader struct {
	r       io.Reader
	max     int
	begun   bool // what follows is not the start of the stream
	widened bool // the pipe read from was asked to hold more
	err     error

	buf        []byte // small, or *large while that is in use
	start, end int    // buf[start:end] is read and not delivered
	stop       int    // where the last line ends in buf

	// Between messages, only the garbage collector's delay keeps a large buffer: a stream of large messages makes few
	// of them, and an idle one holds none.
	small  []byte
	large  *[]byte
	unused weak.Pointer[[]byte] // the last large buffer
	wanted int                  // how long it is to be for another message like the last that needed one
}

// NewReader returns a Reader of messages of at most max bytes, the newline not counted; 0 means [DefaultMaxMessage].
func NewReader(r io.Reader, max int) *Reader {
	if max <= 0 {
		max = DefaultMaxMessage
	}
	return &Reader{r: r, max: max}
}

// Next returns the next message without the white space around it. Lines of nothing else are passed over, as is a byte
// order mark at the start of the stream; a last line without a newline is a message like the others. The bytes are
// valid until the next call.
//
// A line that is too long is thrown away up to its newline, in bounded memory, and reported as a [*TooLongError]; the
// next call goes on behind it. Any other error is final: io.EOF at the end, or what the underlying reader returned.
func (r *Reader) Next() ([]byte, error) {
	r.shrink()
	seen := 0 // bytes from start on that hold no newline
	for {
		n := bytes.IndexByte(r.buf[r.start+seen:r.end], '\n')
		if n < 0 && r.end-r.start <= r.max && r.err == nil {
			seen = r.end - r.start
			r.fill()
			continue
		}
		var line []byte
		switch {
		case n >= 0 && seen+n <= r.max:
			line = r.take(seen+n, 1)
		case n >= 0 || r.end-r.start > r.max:
			return nil, r.discard()
		case r.err == io.EOF && r.start < r.end:
			line = r.take(r.end-r.start, 0)
		default:
			return nil, r.err
		}
		if line = r.trim(line); len(line) > 0 {
			return line, nil
		}
		seen = 0
	}
}

// take removes n bytes, and the newline behind them if there is one, from the front.
func (r *Reader) take(n, newline int) []byte {
	r.stop = r.start + n
	line := r.buf[r.start:r.stop:r.stop]
	r.start = r.stop + newline
	if r.large != nil {
		r.wanted = n + n/8 + margin
	}
	return line
}

// Lend has [Message.Splice] edit m where it lies. m was scanned from what Next returned last, and is valid as long as
// that.
func (r *Reader) Lend(m *Message) {
	m.room, m.at = r.buf[:r.start], r.stop-cap(m.Raw)
	if r.start == r.end {
		m.room = r.buf
	}
}

// Unmarked passes over a byte order mark, which those who write text at times put in front of all of it, and which RFC
// 8259, section 8.1, lets a reader ignore.
func Unmarked(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) }

func (r *Reader) trim(line []byte) []byte {
	if !r.begun {
		r.begun = true
		line = Unmarked(line)
	}
	return bytes.Trim(line, " \t\r")
}

// discard throws the line at the front away and returns the error about it.
func (r *Reader) discard() error {
	r.begun = true
	long := &TooLongError{Max: r.max}
	for {
		if n := bytes.IndexByte(r.buf[r.start:r.end], '\n'); n >= 0 {
			long.add(r.take(n, 1))
			return long
		}
		long.add(r.take(r.end-r.start, 0))
		if r.err != nil {
			return long
		}
		r.shrink()
		r.fill()
	}
}

// fill reads once, into room that it makes where there is none.
func (r *Reader) fill() {
	if r.start > margin && (r.start == r.end || r.end == len(r.buf)) {
		r.move(r.buf)
	}
	if r.end == len(r.buf) {
		r.grow()
	}
	for range maxEmpty {
		n, err := r.r.Read(r.buf[r.end:])
		r.end += n
		r.err = err
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// grow gets a larger buffer, with room for no more than the longest message and its newline.
func (r *Reader) grow() {
	old := r.buf
	if old == nil {
		r.small = make([]byte, margin+smallBuffer)
		r.buf, r.start, r.end = r.small, margin, margin
		return
	}
	if !r.widened {
		r.widened = true
		widenReader(r.r)
	}
	r.large = r.unused.Value()
	if r.large == nil || len(*r.large) <= len(old) {
		// In larger steps later, so that all of them together stay near the longest, and at once to what the last
		// message needed.
		limit := max(r.max+1, smallBuffer) + margin
		size := 2 * len(old)
		if size > 1<<20 {
			size *= 2
		}
		if size > limit/2 {
			size = limit
		}
		if r.wanted > len(old) {
			size = min(r.wanted, limit)
		}
		buf := make([]byte, size)
		r.large = &buf
		r.unused = weak.Make(r.large)
	}
	r.buf = *r.large
	copy(r.buf, old[:r.end])
}

// shrink lets go of a large buffer as soon as the small one holds what is left.
func (r *Reader) shrink() {
	if r.large == nil || r.end-r.start > smallBuffer/2 {
		return
	}
	r.move(r.small)
	r.large = nil
}

// move has what is not delivered stand behind the margin of buf.
func (r *Reader) move(buf []byte) {
	n := copy(buf[margin:], r.buf[r.start:r.end])
	r.buf, r.start, r.end = buf, margin, margin+n
}
