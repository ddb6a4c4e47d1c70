package status

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	stdlog "log"
	"net"
	"net/http"
	"os"
	"time"
)

const (
	headerTime = 5 * time.Second
	// lookPeriod is how often a watched workbench is looked at.
	lookPeriod = 500 * time.Millisecond
	// minePeriod is how often a workbench looks whether its own socket is still there.
	minePeriod = 2 * time.Second
)

// ErrRemoved says that the socket was removed, as all is that a user has in XDG_RUNTIME_DIR when he logs out.
var ErrRemoved = errors.New("the status socket was removed")

// Answers are what a workbench answers with, besides where it stands. What is nil is not found.
type Answers struct {
	Metrics   http.Handler // /metrics
	Guests    http.Handler // what begins with /guests/
	Approvals http.Handler // what begins with /approvals
	Calls     http.Handler // what begins with /calls
	Servers   http.Handler // what begins with /servers/
}

// Serve answers on ln, which it closes, until ctx ends. now is asked at each request. It returns ErrRemoved where nobody
// finds the socket any more; those who are connected are answered until ctx ends all the same.
func Serve(ctx context.Context, ln net.Listener, now func() Workbench, answers Answers) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("watch") {
			watch(w, r, now)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(now())
	})
	for pattern, h := range map[string]http.Handler{
		"GET /metrics":         answers.Metrics,
		"GET /approvals":       answers.Approvals,
		"POST /approvals/{id}": answers.Approvals,
		"/servers/":            answers.Servers,
		"GET /calls":           answers.Calls,
		"GET /calls/{id}":      answers.Calls,
	} {
		if h != nil {
			mux.Handle(pattern, h)
		}
	}
	if answers.Guests != nil {
		mux.Handle("/guests/", http.StripPrefix("/guests", answers.Guests))
	}
	srv := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: headerTime,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          stdlog.New(io.Discard, "", 0),
	}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	served := make(chan struct{})
	gone := make(chan bool, 1)
	go func() { gone <- isRemoved(ln, served) }()
	err := srv.Serve(ln)
	close(served)
	switch {
	case <-gone:
		return ErrRemoved
	case err != http.ErrServerClosed:
		return err
	}
	return nil
}

// isRemoved waits until a socket is not there any more, closes it and returns true, or until it is served no longer.
func isRemoved(ln net.Listener, served <-chan struct{}) bool {
	tick := time.Tick(minePeriod)
	for {
		select {
		case <-served:
			return false
		case <-tick:
			if _, err := os.Lstat(ln.Addr().String()); errors.Is(err, fs.ErrNotExist) {
				_ = ln.Close()
				return true
			}
		}
	}
}

// watch writes a line at each change until the reader goes away. Changes are found by looking: what is shown has many
// sources, and none of them is to know of those who look.
func watch(w http.ResponseWriter, r *http.Request, now func() Workbench) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	control := http.NewResponseController(w)
	tick := time.Tick(lookPeriod)
	var last []byte
	for {
		doc := now()
		rss := doc.RSS
		doc.RSS = 0 // it is never the same twice
		line, err := json.Marshal(doc)
		if err != nil {
			return
		}
		if !bytes.Equal(line, last) {
			last = line
			doc.RSS = rss
			if json.NewEncoder(w).Encode(doc) != nil || control.Flush() != nil {
				return
			}
		}
		select {
		case <-tick:
		case <-r.Context().Done():
			return
		}
	}
}
