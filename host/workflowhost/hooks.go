package workflowhost

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/reqbody"
	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// A hookDoor takes the requests that runs wait for. Whoever sends one is told the same, whether a run waited for it or
// not.
type hookDoor struct {
	host   *Host
	places chan struct{} // of requests that are worked on at the same time
}

// maxHooks is how many requests for runs are worked on at the same time, and hookTime how long one may take to be read,
// and then wait.
const (
	maxHooks = 8
	hookTime = 10 * time.Second
)

// Hooks takes the requests that runs wait for.
func (h *Host) Hooks() http.Handler { return &hookDoor{host: h, places: make(chan struct{}, maxHooks)} }

func (d *hookDoor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "requests for runs are sent by POST", http.StatusMethodNotAllowed)
		return
	}
	// Anybody may send a request, and take their time: it has no place before it is there.
	body, err := reqbody.Read(w, r, "", nil, runs.MaxHook, hookTime)
	if err != nil {
		http.Error(w, fmt.Sprintf("%v (at most %d bytes)", err, runs.MaxHook), err.Status)
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
		http.Error(w, "too many requests at a time", http.StatusServiceUnavailable)
		return
	}
	if !d.take(r, strings.TrimPrefix(r.URL.Path, runs.HookPath), body) {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "try again later", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// take gives the request to the run that waits for it, if there is one. It reports whether that was looked for and
// kept.
func (d *hookDoor) take(r *http.Request, path string, body []byte) bool {
	log := d.host.opts.Logger
	servers := d.host.all()
	if len(servers) == 0 { // The run waits in another process, or in one before this.
		s, err := d.host.get("", func() (workflowsrv.Options, error) { return d.host.Server(nil, "", nil) })
		if err != nil {
			log.Warn().AnErr(logkey.Err, err).Msg("a request for a run could not be taken")
			return false
		}
		servers = append(servers, s)
	}
	for _, s := range servers {
		taken, err := s.Runs().Hook(r.Context(), path, body)
		switch {
		case err != nil:
			log.Warn().AnErr(logkey.Err, err).Msg("a request for a run could not be taken")
			return errors.As(err, new(*runs.Error))
		case taken:
			return true
		}
	}
	return true
}
