// Package reqbody reads the bodies of HTTP requests, within limits of size and time, and says by which status a request
// is refused whose body could not be read.
package reqbody

import (
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"time"
)

// Error is why a body was not read.
type Error struct {
	Status int // of HTTP: 413, 408 or 400
	text   string
}

func (e *Error) Error() string { return e.text }

var (
	errLong   = &Error{http.StatusRequestEntityTooLarge, "the body is too long"}
	errLate   = &Error{http.StatusRequestTimeout, "the body did not arrive in time"}
	errBroken = &Error{http.StatusBadRequest, "the body ends too early, or is not what its headers say"}
)

// Await bounds how long the body of a request is waited for, by whoever reads it: net/http itself does where nobody
// else has, before it answers.
func Await(w http.ResponseWriter, r *http.Request, patience time.Duration) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(patience)) // a connection of a test has none
	}
}

// Read appends the body of a request to buf. What it returns is of use also beside an error, as what was read.
func Read(w http.ResponseWriter, r *http.Request, buf []byte, most int, patience time.Duration) ([]byte, *Error) {
	if r.ContentLength > int64(most) {
		return buf, errLong
	}
	Await(w, r, patience)
	// With a byte to spare the end is seen without growing.
	limit := len(buf) + most
	buf = slices.Grow(buf, int(max(r.ContentLength, 511))+1)
	for {
		n, err := r.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > limit:
			return buf, errLong
		case err == io.EOF:
			_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
			return buf, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return buf, errLate
		case err != nil:
			return buf, errBroken
		case len(buf) == cap(buf):
			buf = slices.Grow(buf, len(buf))
		}
	}
}
