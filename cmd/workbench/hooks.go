package main

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// flows are the workflow servers of this process, by their options in the configuration, and where requests for their runs go.
type flows struct {
	gateway string // set before the first server is made; "" without one

	fetching sync.WaitGroup // of workflows of git repositories

	mu   sync.Mutex // guards what follows
	made map[string]*workflowsrv.Server
}

// get returns the server of a key, which build makes if there is none.
func (f *flows) get(key string, build func() (*workflowsrv.Server, error)) (*workflowsrv.Server, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.made[key]; s != nil {
		return s, nil
	}
	s, err := build()
	if err != nil {
		return nil, err
	}
	if f.made == nil {
		f.made = make(map[string]*workflowsrv.Server)
	}
	f.made[key] = s
	return s, nil
}

// all returns the servers that were made.
func (f *flows) all() []*workflowsrv.Server {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []*workflowsrv.Server
	for _, s := range f.made {
		list = append(list, s)
	}
	return list
}

// A hookDoor takes the requests that runs wait for. Whoever sends one is told the same, whether a run waited for it or not.
type hookDoor struct {
	env    *environment
	log    zerolog.Logger
	places chan struct{} // of requests that are worked on at the same time
}

// maxHooks is how many requests for runs are worked on at the same time, and hookTime how long one may wait and be read.
const (
	maxHooks = 8
	hookTime = 10 * time.Second
)

func newHookDoor(env *environment, log zerolog.Logger) *hookDoor {
	return &hookDoor{env: env, log: log, places: make(chan struct{}, maxHooks)}
}

func (d *hookDoor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "requests for runs are sent by POST", http.StatusMethodNotAllowed)
		return
	}
	wait := time.NewTimer(hookTime)
	defer wait.Stop()
	select {
	case d.places <- struct{}{}:
		defer func() { <-d.places }()
	case <-r.Context().Done():
		return
	case <-wait.C:
		w.Header().Set("Retry-After", "10")
		http.Error(w, "too many requests at the same time", http.StatusServiceUnavailable)
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(hookTime)) // A connection without deadlines is a test's.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, runs.MaxHook))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, "the body has more than 65536 bytes", http.StatusRequestEntityTooLarge)
		return
	case err != nil:
		http.Error(w, "the body could not be read", http.StatusBadRequest)
		return
	}
	if !d.take(r, strings.TrimPrefix(r.URL.Path, runs.HookPath), body) {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "try again later", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// take gives the request to the run that waits for it, if there is one. It reports whether that was looked for and kept.
func (d *hookDoor) take(r *http.Request, path string, body []byte) bool {
	servers := d.env.flows.all()
	if len(servers) == 0 { // The run waits in another process, or in one before this.
		s, err := d.env.flows.get("", func() (*workflowsrv.Server, error) {
			opts, err := d.env.workflowOptions(nil, "", d.log)
			return workflowsrv.New(opts), err
		})
		if err != nil {
			d.log.Warn().AnErr(logkey.Err, err).Msg("a request for a run could not be taken")
			return false
		}
		servers = append(servers, s)
	}
	for _, s := range servers {
		taken, err := s.Runs().Hook(r.Context(), path, body)
		var told *runs.Error
		switch {
		case errors.As(err, &told):
			d.log.Warn().AnErr(logkey.Err, err).Msg("a request for a run could not be taken")
			return true
		case err != nil:
			d.log.Warn().AnErr(logkey.Err, err).Msg("a request for a run could not be taken")
			return false
		case taken:
			return true
		}
	}
	return true
}
