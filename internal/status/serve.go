package status

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"time"
)

const (
	headerTime = 5 * time.Second
	// lookPeriod is how often a watched workbench is looked at.
	lookPeriod = 500 * time.Millisecond
)

// Answers are what a workbench answers with, besides where it stands. What is nil is not found.
type Answers struct {
	Metrics   http.Handler // /metrics
	Guests    http.Handler // what begins with /guests/
	Approvals http.Handler // what begins with /approvals
	Calls     http.Handler // what begins with /calls
	Servers   http.Handler // what begins with /servers/
}

// Serve answers on ln, which it closes, until ctx ends. now is asked at each request.
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
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(ln); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// watch writes a line at each change until the reader goes away. Changes are found by looking: what is shown has many
// sources, and none of them is to know of those who look.
func watch(w http.ResponseWriter, r *http.Request, now func() Workbench) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	control := http.NewResponseController(w)
	tick := time.NewTicker(lookPeriod)
	defer tick.Stop()
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
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}
