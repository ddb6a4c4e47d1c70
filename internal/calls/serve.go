package calls

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Said is a line of what a follower is told: a call, or how many were missed.
type Said struct {
	Call   *Call  `json:"call,omitempty"`
	Missed uint64 `json:"missed,omitempty"`
}

// List is the document of several calls.
type List struct {
	Calls []Call `json:"calls"`
}

// Query gives the filter as the parameters of an address.
func (f *Filter) Query() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{"toolbox": f.Toolbox, "server": f.Server, "tool": f.Tool, "user": f.User, "session": f.Session} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.Failed {
		q.Set("failed", "")
	}
	if !f.Since.IsZero() {
		q.Set("since", f.Since.Format(time.RFC3339Nano))
	}
	if f.Limit > 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	return q
}

// ParseFilter reads the parameters that Query makes; what makes no sense in them wants nothing less.
func ParseFilter(q url.Values) Filter {
	f := Filter{Toolbox: q.Get("toolbox"), Server: q.Get("server"), Tool: q.Get("tool"), User: q.Get("user"), Session: q.Get("session"), Failed: q.Has("failed")}
	f.Since, _ = time.Parse(time.RFC3339Nano, q.Get("since"))
	f.Limit, _ = strconv.Atoi(q.Get("limit"))
	return f
}

// ServeHTTP answers GET /calls and GET /calls/{id}.
func (l *Log) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := ParseFilter(r.URL.Query())
	switch id := r.PathValue("id"); {
	case id != "":
		c, ok := l.Call(id)
		if !ok {
			http.Error(w, "no such call is kept", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(c)
	case r.URL.Query().Has("follow"):
		w.Header().Set("Content-Type", "application/x-ndjson")
		control := http.NewResponseController(w)
		last := l.Last()
		if control.Flush() != nil { // so that the other side knows from when on nothing is missed
			return
		}
		lines := json.NewEncoder(w)
		_ = l.Follow(r.Context(), last, f, func(c *Call, missed uint64) error {
			if err := lines.Encode(Said{c, missed}); err != nil {
				return err
			}
			return control.Flush()
		})
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(List{l.Calls(f)})
	}
}
