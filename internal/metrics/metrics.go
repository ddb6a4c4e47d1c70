// Package metrics shows Prometheus what a workbench says of itself. Nothing is counted for it but the durations of
// calls, and these from the first time that they are read: at each reading the state is asked for, as workbench status
// does. Labels are names of the configuration, never of tools or clients, so there are as many series as the
// configuration has servers.
package metrics

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/mcp-workbench/workbench/internal/status"
)

// Handler answers the readers of metrics of a workbench of that version. now is asked at each reading, and first is
// called once, before the first.
func Handler(version string, now func() status.Front, first func()) http.Handler {
	// The collectors are made when somebody reads: most processes are never read.
	reader := sync.OnceValue(func() http.Handler {
		first()
		r := prometheus.NewRegistry()
		r.MustRegister(newCollector(version, now), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		return promhttp.HandlerFor(r, promhttp.HandlerOpts{})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { reader().ServeHTTP(w, r) })
}

// collector turns the state into metrics.
type collector struct {
	version string
	now     func() status.Front

	info, sessions, inFlight          *prometheus.Desc
	servers, waiting, queued, changes *prometheus.Desc
	kept, calls, durations            *prometheus.Desc
	users, limited, refused           *prometheus.Desc
}

func newCollector(version string, now func() status.Front) *collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("workbench_"+name, help, labels, nil)
	}
	return &collector{
		version:   version,
		now:       now,
		info:      desc("info", "Always 1; the label is the version.", "version"),
		sessions:  desc("sessions", "Clients with a session."),
		inFlight:  desc("requests_in_flight", "Requests of clients that are not answered."),
		servers:   desc("servers", "Servers of this entry that are in this state: one a session, or one in all if it is shared.", "toolbox", "server", "state"),
		waiting:   desc("server_in_flight", "Requests that the server has and has not answered.", "toolbox", "server"),
		queued:    desc("server_queued", "Requests that wait to be sent to the server.", "toolbox", "server"),
		kept:      desc("server_kept_bytes", "What is kept because of the server.", "toolbox", "server"),
		changes:   desc("server_changes_total", "How often a server came into this state.", "toolbox", "server", "state"),
		calls:     desc("calls_total", "Requests of clients to the server, by what became of them.", "toolbox", "server", "outcome"),
		users:     desc("user_calls_total", "Requests of a user to servers, by what became of them; users beyond a hundred are (others).", "user", "outcome"),
		limited:   desc("user_calls_limited_total", "Calls of a user that were turned away because the user had made callsPerMinute of them.", "user"),
		refused:   desc("http_refused_total", "Requests over HTTP that were turned away, by status.", "status"),
		durations: desc("call_duration_seconds", "Time from a request of a client to its end, since the metrics were first read.", "toolbox", "server"),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.info, c.sessions, c.inFlight, c.servers, c.waiting, c.queued, c.kept, c.changes, c.calls, c.durations, c.users, c.limited, c.refused} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	f := c.now()
	gauge := func(d *prometheus.Desc, n int, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), labels...)
	}
	count := func(d *prometheus.Desc, n uint64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge(c.info, 1, c.version)
	gauge(c.sessions, len(f.Sessions))
	inFlight := 0
	for _, s := range f.Sessions {
		inFlight += s.InFlight
	}
	gauge(c.inFlight, inFlight)
	for at, p := range places(&f) {
		for state, n := range p.states {
			gauge(c.servers, n, at.toolbox, at.server, state)
		}
		gauge(c.waiting, p.inFlight, at.toolbox, at.server)
		gauge(c.queued, p.queued, at.toolbox, at.server)
		gauge(c.kept, p.kept, at.toolbox, at.server)
	}
	for user, n := range f.Users {
		for outcome, times := range n.ByName() {
			count(c.users, times, user, outcome)
		}
	}
	for user, times := range f.Limited {
		count(c.limited, times, user)
	}
	for code, times := range f.Refused {
		count(c.refused, times, strconv.Itoa(code))
	}
	for _, n := range f.Calls {
		for outcome, times := range n.ByName() {
			count(c.calls, times, n.Toolbox, n.Server, outcome)
		}
		for state, times := range n.Changes {
			count(c.changes, times, n.Toolbox, n.Server, state)
		}
		if n.Durations.Count > 0 {
			to <- prometheus.MustNewConstHistogram(c.durations, n.Durations.Count, n.Durations.Sum.Seconds(), n.Durations.Counts, n.Toolbox, n.Server)
		}
	}
}

// place is a server of the configuration.
type place struct{ toolbox, server string }

// crowd is all that run for it.
type crowd struct {
	states                 map[string]int
	inFlight, queued, kept int
}

// places adds up the servers of all sessions. One that was in a state before and is no more has a 0 for it, so that its
// series goes on.
func places(f *status.Front) map[place]*crowd {
	all := make(map[place]*crowd)
	at := func(toolbox, server string) *crowd {
		p := all[place{toolbox, server}]
		if p == nil {
			p = &crowd{states: make(map[string]int)}
			all[place{toolbox, server}] = p
		}
		return p
	}
	for _, n := range f.Calls {
		p := at(n.Toolbox, n.Server)
		for state := range n.Changes {
			p.states[state] = 0
		}
	}
	for b, srv := range f.Servers() {
		p := at(b.Name, srv.Name)
		p.states[srv.State]++
		p.inFlight += srv.InFlight
		p.queued += srv.Queued
		p.kept += int(srv.Kept.Bytes)
	}
	return all
}
