// Package unread bounds what the responses to a user hold while nobody reads them, in this process. It is for responses
// that are made whole before they are written: a handler waits in each until its client has read.
package unread

import (
	"net/http"

	"github.com/mcp-workbench/workbench/internal/account"
)

// brief is how many bytes are written without a look at what else the user has to read: there are no more of them than
// connections.
const brief = 4 << 10

var users = account.NewUsers(account.User)

// Writer returns a writer of a response to a user. Where the responses to the user hold too much already it breaks off
// the connection, as net/http does for [http.ErrAbortHandler]: a client that reads hears that its response is missing,
// and one that does not misses nothing.
func Writer(w http.ResponseWriter, user string) http.ResponseWriter { return &writer{w, user} }

type writer struct {
	http.ResponseWriter
	user string
}

// Unwrap is for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	if len(p) <= brief {
		return w.ResponseWriter.Write(p)
	}
	of, leave := users.Enter(w.user)
	defer leave()
	if !of.Charge(len(p)) {
		panic(http.ErrAbortHandler)
	}
	defer of.Credit(len(p))
	return w.ResponseWriter.Write(p)
}
