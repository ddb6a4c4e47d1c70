package runs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// A record is a run as it is exported, a line of JSON.
type record struct {
	User       string            `json:"user_id"`
	Run        string            `json:"run"`
	Workflow   string            `json:"workflow"`
	Created    time.Time         `json:"created_at"`
	Updated    time.Time         `json:"updated_at"`
	Head       json.RawMessage   `json:"head"`
	Definition json.RawMessage   `json:"definition"`
	Events     []json.RawMessage `json:"events"`
}

// Export writes runs with their events and definitions, a line of JSON each. Damaged runs are left out, and the error
// names them.
func Export(ctx context.Context, log Log, w io.Writer, list []store.OwnedRun) error {
	out := wire.NewEncoder(w)
	var damaged []error
	for _, owned := range list {
		r, events, err := log.Run(ctx, owned.Principal, owned.ID, 0)
		var definition []byte
		if err == nil {
			definition, err = log.Definition(ctx, r.Digest)
		}
		switch {
		case errors.Is(err, store.ErrNotFound) && events == nil: // deleted in between
		case errors.As(err, new(*store.CorruptError)):
			damaged = append(damaged, fmt.Errorf("run %s: %w", owned.ID, err))
		case err != nil:
			return fmt.Errorf("run %s: %w", owned.ID, err)
		default:
			if err := out.Encode(record{owned.Principal, r.ID, r.Workflow, r.Created, r.Updated, r.Head, definition, events}); err != nil {
				return err
			}
		}
	}
	return errors.Join(damaged...)
}

// maxRecord is the longest line that Import reads.
const maxRecord = 256 << 20

// Import keeps what Export has written, for a user or, with "", for whom each run was. Runs that are there already are
// left as they are. The error names the line; what came before it has been kept.
func Import(ctx context.Context, log Log, in io.Reader, user string) (kept, left int, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxRecord)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		err := importOne(ctx, log, lines.Bytes(), user)
		switch {
		case errors.As(err, new(*store.StaleError)):
			left++
		case err != nil:
			return kept, left, fmt.Errorf("line %d: %w", n, err)
		default:
			kept++
		}
	}
	return kept, left, lines.Err()
}

func importOne(ctx context.Context, log Log, line []byte, user string) error {
	var in record
	if err := json.Unmarshal(line, &in); err != nil {
		return &store.InvalidError{What: "want a line of JSON as export writes it: " + foreign.NewError(err).Error()}
	}
	if in.Run == "" || len(in.Events) == 0 || len(in.Definition) == 0 {
		return &store.InvalidError{What: "want a run with its definition and events, as export writes them"}
	}
	if user != "" {
		in.User = user
	}
	kept := store.Run{ID: in.Run, Workflow: in.Workflow, Head: in.Head, Events: len(in.Events), Created: in.Created, Updated: in.Updated}
	r, err := Open(kept, in.Events)
	if err != nil {
		return &store.InvalidError{What: err.Error()}
	}
	if r.Events[0].Kind != Started && r.Events[0].Kind != Forked {
		return &store.InvalidError{What: "the first event of a run is that it was started"}
	}
	return log.StartRun(ctx, in.User, kept, in.Definition, in.Events...)
}
