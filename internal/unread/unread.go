// Package unread bounds what the responses to a user hold while nobody reads them, in this process. It is for responses
// that are made whole before they are written: a handler waits in each until its client has read.
package unread

import (
	"net/http"

	"github.com/mcp-workbench/workbench/internal/account"
)

var users = account.NewUsers(account.User)

// Serve has a response to a user made by serve. Where the responses to the user hold too much already, writes fail, and
// at the end the connection is broken off, as net/http does for [http.ErrAbortHandler]: a client that reads hears that
// its response is not whole, and one that does not misses nothing.
func Serve(w http.ResponseWriter, user string, serve func(http.ResponseWriter)) {
	own := &writer{ResponseWriter: w, user: user}
	serve(own)
	if own.broken {
		panic(http.ErrAbortHandler)
	}
}

type writer struct {
	http.ResponseWriter
	user   string
	broken bool
}

// Unwrap is for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	if w.broken {
		return 0, http.ErrAbortHandler
	}
	if len(p) <= account.Brief {
		return w.ResponseWriter.Write(p)
	}
	of, leave := users.Enter(w.user)
	defer leave()
	if !of.Charge(len(p)) {
		w.broken = true
		return 0, http.ErrAbortHandler
	}
	defer of.Credit(len(p))
	return w.ResponseWriter.Write(p)
}
