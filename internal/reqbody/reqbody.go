// Package reqbody reads the bodies of HTTP requests, within limits of size and time, and says by which status a request
// is refused whose body could not be read.
package reqbody

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/mcp-workbench/workbench/internal/account"
)

// Error is why a body was not read.
type Error struct {
	Status int // of HTTP: 413, 408, 429 or 400
	text   string
}

func (e *Error) Error() string { return e.text }

var (
	errLong   = &Error{http.StatusRequestEntityTooLarge, "the body is too long"}
	errLate   = &Error{http.StatusRequestTimeout, "the body did not arrive in time"}
	errBusy   = &Error{http.StatusTooManyRequests, "this user sends more at a time than is taken; try again when the other requests are sent"}
	errBroken = &Error{http.StatusBadRequest, "the body ends too early, or is not what its headers say"}
)

// Await bounds how long the body of a request is waited for, by whoever reads it: net/http itself does where nobody
// else has, before it answers.
func Await(w http.ResponseWriter, r *http.Request, patience time.Duration) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(patience)) // a connection of a test has none
	}
}

// users are charged for the bodies that are being read in this process. Whoever sends many long
// bodies slowly waits for the first of them before more are read, and has nobody else wait.
var users = account.NewUsers(account.Bodies)

// lingerTime is how long a client whose body is left may go on sending, so that it sees why.
const lingerTime = time.Second

// Leave has a request be answered whose body is not read, or not to its end. Without this net/http reads the body first,
// and waits for all of it. The connection ends with the answer; that of HTTP/2 is also that of others, and goes on.
func Leave(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 && r.ProtoMajor < 2 {
		w.Header().Set("Connection", "close")
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(lingerTime)) // a connection of a test has none
	}
}

// Read appends the body of a request to buf, which a user sends: "" is a user who is not known, and has to be given
// little. What it returns is of use also beside an error, as what was read. The time is patience for all of it, and for
// the wait for the other bodies of the user besides. A body that was not read whole is left.
func Read(w http.ResponseWriter, r *http.Request, user string, buf []byte, most int, patience time.Duration) ([]byte, *Error) {
	body, err := read(w, r, user, buf, most, patience)
	if err != nil {
		Leave(w, r)
	}
	return body, err
}

func read(w http.ResponseWriter, r *http.Request, user string, buf []byte, most int, patience time.Duration) ([]byte, *Error) {
	if r.ContentLength > int64(most) {
		return buf, errLong
	}
	whole, first := most, 511 // a body in chunks does not say its length
	if r.ContentLength >= 0 {
		whole, first = int(r.ContentLength), int(r.ContentLength)
	}
	if user != "" && whole > account.Brief {
		done, ok := reserve(r.Context(), user, whole, patience)
		if !ok {
			return buf, errBusy
		}
		defer done()
	}
	Await(w, r, patience)
	// With a byte to spare the end is seen without growing.
	limit := len(buf) + most
	buf = slices.Grow(buf, first+1)
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

// reserve waits for room for a body of so many bytes, which done gives back.
func reserve(ctx context.Context, user string, n int, patience time.Duration) (done func(), ok bool) {
	of, leave := users.Enter(user)
	if ok = of.TryAwait(n); !ok {
		waiting, cancel := context.WithTimeout(ctx, patience)
		ok = of.Await(n, waiting.Done())
		cancel()
	}
	if !ok {
		leave()
		return nil, false
	}
	return func() { of.Credit(n); leave() }, true
}
