package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// DefaultMaxMessage is the longest message a [Reader] accepts unless told
// otherwise, in bytes.
const DefaultMaxMessage = 16 << 20

const (
	readSize = 64 << 10  // what a Reader begins with
	keepSize = 256 << 10 // what it keeps between messages at most
	edgeSize = 4 << 10   // what is kept of either end of a line that is too long
	maxEmpty = 100       // reads without data or error before giving up
)

// Reader reads newline-delimited messages. It belongs to one goroutine.
type Reader struct {
	r     io.Reader
	max   int
	buf   []byte // buf[start:end] is read but not delivered
	start int
	end   int
	begun bool // the first bytes, where a byte order mark may be, are past
	err   error
}

// NewReader returns a Reader of messages of at most max bytes, line ending not
// counted; 0 means [DefaultMaxMessage].
func NewReader(r io.Reader, max int) *Reader {
	if max <= 0 {
		max = DefaultMaxMessage
	}
	return &Reader{r: r, max: max}
}

// Next returns the next message without the white space around it; lines without
// anything else are passed over, and so is a byte order mark at the start of the
// stream. The bytes are valid until the next call. A last line
// without a newline is delivered like the others.
//
// A line that is too long is thrown away up to its newline, in bounded memory,
// and reported as a [*TooLongError]; the next call goes on behind it. Any other
// error is final: io.EOF at the end, or what the underlying reader returned.
func (r *Reader) Next() ([]byte, error) {
	r.release()
	seen := 0 // bytes from start on that hold no newline
	for {
		if n := bytes.IndexByte(r.buf[r.start+seen:r.end], '\n'); n >= 0 {
			line := r.take(seen+n, 1)
			seen = 0
			if len(line) > r.max {
				return nil, tooLong(line, r.max)
			}
			if line = r.trim(line); len(line) > 0 {
				return line, nil
			}
			continue
		}
		seen = r.end - r.start
		if seen > r.max {
			return nil, r.discard()
		}
		if r.err != nil {
			return r.last()
		}
		r.fill()
	}
}

// last delivers what the stream ends with.
func (r *Reader) last() ([]byte, error) {
	line := r.trim(r.take(r.end-r.start, 0))
	if len(line) > 0 && r.err == io.EOF {
		return line, nil
	}
	return nil, r.err
}

// take removes n bytes, and the newline behind them, from the front.
func (r *Reader) take(n, newline int) []byte {
	line := r.buf[r.start : r.start+n : r.start+n]
	r.start += n + newline
	return line
}

func (r *Reader) trim(line []byte) []byte {
	if !r.begun {
		r.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return bytes.Trim(line, " \t\r")
}

// release gives a large buffer back once what it holds fits a small one.
func (r *Reader) release() {
	if len(r.buf) > keepSize && r.end-r.start < readSize {
		small := make([]byte, readSize)
		r.end = copy(small, r.buf[r.start:r.end])
		r.start = 0
		r.buf = small
	}
}

// fill makes room and reads once.
func (r *Reader) fill() {
	if r.start > 0 && (r.start == r.end || r.end == len(r.buf)) {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	if r.end == len(r.buf) {
		size := max(readSize, 2*len(r.buf))
		if limit := r.max + 1; size > limit && len(r.buf) < limit {
			size = max(limit, readSize)
		}
		big := make([]byte, size)
		copy(big, r.buf[:r.end])
		r.buf = big
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

// discard throws the current line away, up to its newline or the end.
func (r *Reader) discard() error {
	long := &TooLongError{Max: r.max}
	for {
		n := bytes.IndexByte(r.buf[r.start:r.end], '\n')
		if n >= 0 {
			long.add(r.take(n, 1))
			return long
		}
		long.add(r.take(r.end-r.start, 0))
		if r.err != nil {
			return long
		}
		r.release()
		r.fill()
	}
}

func tooLong(line []byte, max int) *TooLongError {
	long := &TooLongError{Max: max}
	long.add(line)
	return long
}

// TooLongError reports a line longer than the reader accepts. The line is gone;
// its ends are kept so that the caller can find out what to answer.
type TooLongError struct {
	Head, Tail []byte // copies of at most 4 KiB of either end; they overlap in a short line
	Size       int64  // length of the line in bytes
	Max        int    // what would have been accepted
}

// Error names the size and the limit in bytes.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("message of %d bytes is longer than the limit of %d bytes", e.Size, e.Max)
}

// add appends a piece of the line.
func (e *TooLongError) add(p []byte) {
	e.Size += int64(len(p))
	if room := edgeSize - len(e.Head); room > 0 {
		e.Head = append(e.Head, p[:min(room, len(p))]...)
	}
	if len(p) >= edgeSize {
		e.Tail = append(e.Tail[:0], p[len(p)-edgeSize:]...)
		return
	}
	if over := len(e.Tail) + len(p) - edgeSize; over > 0 {
		e.Tail = e.Tail[:copy(e.Tail, e.Tail[over:])]
	}
	e.Tail = append(e.Tail, p...)
}

// IsTooLong reports whether err is a [*TooLongError], and returns it.
func asTooLong(err error) (*TooLongError, bool) {
	var long *TooLongError
	ok := errors.As(err, &long)
	return long, ok
}
