// Package habits remembers, from one run to the next, what was seen of MCP clients: whether they read their list of
// tools again when they are told to, and whether they call the tools that were added to it.
//
// It is one small file that any number of processes may use at once: who changes it holds a lock, and puts the new one
// in its place by renaming. A file that cannot be read is as good as none, and what cannot be kept is lost: nothing may
// depend on it.
package habits

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/slots"
)

// Bounds of the file.
const (
	maxClients = 100
	maxName    = 200
	maxFile    = 1 << 20
)

// Client is who is remembered, as it names itself.
type Client struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Habit is what was seen of a client. The zero value is nothing.
type Habit struct {
	// Relists and Ignores say that it read its list of tools again, or did not, when it was last told that the list had
	// changed.
	Relists bool `json:"relists,omitempty"`
	Ignores bool `json:"ignores,omitempty"`
	// Calls says that it called a tool by the name that was added to its list.
	Calls bool `json:"calls,omitempty"`
}

// record is one client in the file, where those seen last come first.
type record struct {
	Client
	Habit
}

// document is the file.
type document struct {
	Version int      `json:"version"`
	Clients []record `json:"clients"`
}

const version = 1

// lockWait is how long is waited for other processes, which take milliseconds.
const lockWait = 500 * time.Millisecond

var errBusy = errors.New("other processes keep it busy")

// Memory is one file. It is safe for concurrent use, also by several processes.
type Memory struct {
	path  string
	turns *slots.Slots // of changing it
	wait  time.Duration
	log   zerolog.Logger
}

// New gives the memory in a file, which is made, with its folder, when there is something to remember. What goes wrong
// is said to log, at debug.
func New(path string, log zerolog.Logger) *Memory {
	return &Memory{path: path, turns: slots.New(filepath.Dir(path), 1), wait: lockWait, log: log}
}

// Recall returns what is remembered of a client.
func (m *Memory) Recall(c Client) Habit {
	doc, err := m.read()
	if err != nil {
		m.log.Debug().AnErr(logkey.Err, err).Msg("the notes on clients cannot be read")
	}
	if i := doc.find(c); i >= 0 {
		return doc.Clients[i].Habit
	}
	return Habit{}
}

// Remember keeps what was seen of a client in place of what was there. The client seen longest ago is forgotten if they
// are more than a hundred. It may wait half a second for other processes, and not longer than ctx lasts.
func (m *Memory) Remember(ctx context.Context, c Client, h Habit) {
	if c.Name == "" || len(c.Name) > maxName || len(c.Version) > maxName {
		return // it could not be told from others, or fills the file
	}
	if err := m.write(ctx, record{c, h}); err != nil {
		m.log.Debug().AnErr(logkey.Err, err).Msg("the notes on a client cannot be stored")
	}
}

func (d *document) find(c Client) int {
	return slices.IndexFunc(d.Clients, func(r record) bool { return r.Client == c })
}

// read returns the file; an empty one if there is none.
func (m *Memory) read() (document, error) {
	data, _, err := openfile.Read(m.path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return document{}, nil
	} else if err != nil {
		return document{}, err
	}
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		return document{}, fmt.Errorf("%s: %w", m.path, foreign.NewError(err))
	}
	if doc.Version != version {
		return document{}, fmt.Errorf("%s: it is of version %d, want %d", m.path, doc.Version, version)
	}
	return doc, nil
}

func (m *Memory) write(ctx context.Context, r record) error {
	ctx, cancel := context.WithTimeoutCause(ctx, m.wait, errBusy)
	defer cancel()
	done, err := m.turns.Take(ctx, "clients")
	if err != nil {
		return err
	}
	defer done()
	doc, err := m.read()
	if err != nil {
		m.log.Debug().AnErr(logkey.Err, err).Msg("the notes on clients are begun again")
	}
	if i := doc.find(r.Client); i >= 0 {
		doc.Clients = slices.Delete(doc.Clients, i, i+1)
	}
	doc.Version = version
	doc.Clients = slices.Insert(doc.Clients, 0, r)
	doc.Clients = doc.Clients[:min(len(doc.Clients), maxClients)]
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return openfile.Cache(m.path, append(data, '\n'))
}
