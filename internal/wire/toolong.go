package wire

import (
	"bytes"
	"fmt"
)

// edgeSize is how much is kept of either end of a line that is too long.
const edgeSize = 4 << 10

// TooLongError reports a line longer than a [Reader] accepts. The line is gone; its ends are kept so that the caller
// can find out whom it concerns.
//
// What ID, Method and Kind tell is read off these ends: members that stand before or behind the long one. The line was
// not checked to be JSON; if it was none, they may tell of a message that never was.
type TooLongError struct {
	Head, Tail []byte // copies of at most 4 KiB of either end; those of a short line overlap
	Size       int64  // length of the line in bytes
	Max        int    // what would have been accepted
}

// Ends tells of a line of any length what is told of one that is too long, for lines that no more is to be known of
// because they are not JSON.
func Ends(line []byte) *TooLongError {
	e := &TooLongError{Max: len(line)}
	e.add(line)
	return e
}

// Error names the size and the limit.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("message of %d bytes is longer than the limit of %d bytes", e.Size, e.Max)
}

// add takes the next piece of the line.
func (e *TooLongError) add(p []byte) {
	e.Size += int64(len(p))
	e.Head = append(e.Head, p[:min(edgeSize-len(e.Head), len(p))]...)
	p = p[max(0, len(p)-edgeSize):]
	over := max(0, len(e.Tail)+len(p)-edgeSize)
	e.Tail = append(e.Tail[:copy(e.Tail, e.Tail[over:])], p...)
}

// ID returns the token of the top-level id, a string or a number, or nil if it cannot be told.
func (e *TooLongError) ID() []byte {
	id, _ := e.member("id")
	if len(id) == 0 || !isID(id[0]) {
		return nil
	}
	return id
}

// Method returns the top-level method, or "" if it cannot be told.
func (e *TooLongError) Method() string {
	token, _ := e.member("method")
	name, _ := Unquote(token)
	return name
}

// Kind returns Request where method and id can be told, Result or Failure where there is a member of that name, and
// otherwise Invalid. A notification looks like a request whose id cannot be told.
func (e *TooLongError) Kind() Kind {
	if e.Method() != "" && e.ID() != nil {
		return Request
	}
	if _, seen := e.member("result"); seen {
		return Result
	}
	if _, seen := e.member("error"); seen {
		return Failure
	}
	return Invalid
}

// member returns the value of a top-level member, nil if it is not whole or differs between the ends, and whether its
// name was seen.
func (e *TooLongError) member(name string) (val []byte, seen bool) {
	look := func(key, v []byte) {
		if string(key) != name {
			return
		}
		if seen && !bytes.Equal(val, v) {
			v = nil
		}
		val, seen = v, true
	}
	membersFrom(e.Head, look)
	membersBack(e.Tail, look)
	return val, seen
}

// membersFrom yields the members at the start of an object, name and value without their white space, up to one that is
// not whole: its value is nil.
func membersFrom(b []byte, yield func(key, val []byte)) {
	i := space(b, 0)
	if i == len(b) || b[i] != '{' {
		return
	}
	for i = space(b, i+1); i < len(b) && b[i] == '"'; {
		end, next, f := key(b, i)
		if f != faultNone {
			return
		}
		name := b[i+1 : end-1]
		end, f = value(b, next, 1)
		i = space(b, end)
		if f != faultNone || i == len(b) {
			yield(name, nil)
			return
		}
		yield(name, b[next:end])
		if b[i] != ',' {
			return
		}
		i = space(b, i+1)
	}
}

// membersBack yields the members at the end of an object, last first, as long as their values are no objects or arrays.
func membersBack(b []byte, yield func(key, val []byte)) {
	b, more := cutLast(b, '}')
	for more {
		start, ok := tokenBack(b)
		if !ok {
			return
		}
		val := b[start:]
		if b, ok = cutLast(b[:start], ':'); !ok {
			return
		}
		if start, ok = tokenBack(b); !ok || b[start] != '"' {
			return
		}
		name := b[start+1 : len(b)-1]
		if b, more = cutLast(b[:start], ','); !more && !bytes.HasSuffix(b, []byte("{")) {
			return
		}
		yield(name, val)
	}
}

// cutLast removes white space, c and white space from the end of b, and reports whether c was there.
func cutLast(b []byte, c byte) ([]byte, bool) {
	const white = " \t\r\n"
	b = bytes.TrimRight(b, white)
	if len(b) == 0 || b[len(b)-1] != c {
		return b, false
	}
	return bytes.TrimRight(b[:len(b)-1], white), true
}

// tokenBack returns where the string, number or literal that b ends with begins, and reports false if b ends with none
// or shows it only in part.
func tokenBack(b []byte) (int, bool) {
	i := len(b) - 1
	if i > 0 && b[i] == '"' {
		for i--; i > 0 && (b[i] != '"' || b[i-1] == '\\'); i-- {
		}
	} else {
		for i > 0 && isScalar(b[i-1]) && b[i-1] != ':' {
			i--
		}
	}
	if i <= 0 {
		return 0, false
	}
	end, f := value(b, i, 0)
	return i, f == faultNone && end == len(b)
}
