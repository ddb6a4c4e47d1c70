package clients

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// Entry is a server of a file, in workbench's terms.
type Entry struct {
	Name    string
	File    string
	Line    int
	Project string // the folder of the project that the entry is for, in a file of a user; "" if it is for all
	Server  Server
	Notes   []Note
}

// Note says what became of a part of a file that has no counterpart in workbench, or another than one would think.
type Note struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Server  string `json:"server,omitempty"` // "" if it is about the file
	Message string `json:"message"`
	Secret  bool   `json:"secret,omitempty"` // it is about a secret in clear

	where, name, value string // where the secret stands, the name that is proposed for it, and the secret
}

// named has a note propose a name for its secret.
func (n Note) named(name string) Note {
	n.name = name
	n.Message = fmt.Sprintf("%s holds a secret in clear: workbench secret set %s keeps it, and ${secret:%[2]s} stands for it", n.where, name)
	return n
}

// String returns the note with its place.
func (n Note) String() string {
	text := n.File + ": "
	if n.Line > 0 {
		text = fmt.Sprintf("%s:%d: ", n.File, n.Line)
	}
	if n.Server != "" {
		text += n.Server + ": "
	}
	return text + n.Message
}

// Server says how a server is reached, in the keys of workbench-config.json.
type Server struct {
	Description string   `json:"_description,omitempty"` // a comment there
	Transport   string   `json:"transport,omitempty"`
	Command     string   `json:"command,omitempty"`
	Args        []string `json:"args,omitempty"`
	Env         Pairs    `json:"env,omitempty"`
	EnvFile     []string `json:"envFile,omitempty"`
	InheritEnv  []string `json:"inheritEnv,omitempty"`
	Cwd         string   `json:"cwd,omitempty"`
	URL         string   `json:"url,omitempty"`
	Headers     Pairs    `json:"headers,omitempty"`
	OAuth       *OAuth   `json:"oauth,omitempty"`
	ToolFilters []string `json:"toolFilters,omitempty"`
	Timeouts    *Times   `json:"timeouts,omitempty"`
	Disabled    bool     `json:"disabled,omitempty"`
}

// OAuth is what a login needs to know.
type OAuth struct {
	ClientID     string   `json:"clientId,omitempty"`
	ClientSecret string   `json:"clientSecret,omitempty"`
	Scopes       []string `json:"scopes,omitempty"`
}

// Times bound the work of a server.
type Times struct {
	Start     Duration `json:"start,omitempty"`
	CallTotal Duration `json:"callTotal,omitempty"`
}

// Duration is written as "30s".
type Duration time.Duration

// MarshalText gives the duration as it is written.
func (d Duration) MarshalText() ([]byte, error) {
	text := time.Duration(d).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return []byte(text), nil
}

// Pairs are written as an object, in their order.
type Pairs []Pair

// Pair is a variable, or a header.
type Pair struct{ Key, Value string }

// MarshalJSON gives the object.
func (p Pairs) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for _, pair := range p {
		out = wire.AppendMember(out, wire.MustEncode(pair.Key), wire.MustEncode(pair.Value))
	}
	return append(out, '}'), nil
}

// Set puts a pair in place of the one of that key, or behind the others.
func (p *Pairs) Set(key, value string) {
	for i := range *p {
		if (*p)[i].Key == key {
			(*p)[i].Value = value
			return
		}
	}
	*p = append(*p, Pair{key, value})
}

// JSON returns the server as an object on one line.
func (s Server) JSON() []byte { return wire.MustEncode(s) }

// Summary says in a line what is run or reached, without variables and headers, and without what looks like a secret.
func (s Server) Summary() string {
	s = s.Masked()
	if s.URL != "" {
		return foreign.NewText(s.URL).String()
	}
	return foreign.NewText(strings.Join(append([]string{s.Command}, s.Args...), " ")).String()
}

// Workbench reports whether the entry is one of workbench itself, as a client starts it or reaches it.
func (e Entry) Workbench() bool {
	if e.Server.URL != "" {
		return e.Name == "workbench"
	}
	program := path.Base(strings.ReplaceAll(e.Server.Command, `\`, "/"))
	if strings.TrimSuffix(strings.ToLower(program), ".exe") != "workbench" {
		return false
	}
	for i, arg := range e.Server.Args {
		switch arg {
		case "serve":
			return true
		case "workflow", "commands", "replay": // servers like others
			return false
		case "record": // what it starts counts
			at := i + slices.Index(e.Server.Args[i:], "--")
			if at < i || at+1 == len(e.Server.Args) {
				return false
			}
			return Entry{Server: Server{Command: e.Server.Args[at+1], Args: e.Server.Args[at+2:]}}.Workbench()
		}
	}
	return true
}
