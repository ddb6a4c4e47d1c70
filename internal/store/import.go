package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// maxLine is the longest line that Import reads, in bytes.
const maxLine = 256 << 20

// Import reads what Export has written. A conversation is kept whole or not at all; one that is there already is left
// as it is. All of it is kept for the principal; with "" each for whom it was before. The error names the line; what
// came before it has been kept, and importing again goes on.
func (s *Store) Import(ctx context.Context, r io.Reader, principal string) (Counts, error) {
	i := importer{s: s, in: bufio.NewReaderSize(r, 64<<10), principal: principal}
	if err := i.run(ctx); err != nil {
		err = errors.Join(fmt.Errorf("line %d: %w", i.line, err), i.keep(ctx))
		return i.counts, err
	}
	return i.counts, nil
}

// importer is an import under way.
type importer struct {
	s         *Store
	in        *bufio.Reader
	principal string // for whom it is kept, "" for whom it says
	line      int
	open      *importedConversation // whose turns are being read
	group     []importedConversation
	size      int // bytes read for group and open
	counts    Counts
	seen      Counts // in the file
}

type importedConversation struct {
	transferConversation
	turns []Turn
}

// groupSize is how many bytes of conversations are kept in one transaction, or more if one has more.
const groupSize = 1 << 20

func (i *importer) run(ctx context.Context) error {
	for {
		line, err := i.next()
		if err != nil {
			return err
		}
		switch {
		case i.line == 1:
			if line.Workbench == nil || line.Workbench.Version < 1 {
				return &InvalidError{`want the first line of an export, {"workbench":{"version":1}}`}
			}
			if v := line.Workbench.Version; v > transferVersion {
				return &InvalidError{fmt.Sprintf("this export has version %d, this workbench reads up to %d; use a newer one", v, transferVersion)}
			}
		case line.Turn != nil:
			if i.open == nil || len(i.open.turns) == i.open.Turns {
				return &InvalidError{"want no turn here, got one: it belongs to no conversation"}
			}
			i.open.turns = append(i.open.turns, *line.Turn)
			i.seen.Turns++
		default:
			if err := i.other(ctx, line); err != nil || line.End != nil {
				return err
			}
		}
	}
}

// other takes a line that ends the conversation before it.
func (i *importer) other(ctx context.Context, line transferLine) error {
	if err := i.shut(); err != nil {
		return err
	}
	if line.Conversation == nil || i.size > groupSize {
		if err := i.keep(ctx); err != nil {
			return err
		}
	}
	switch {
	case line.Conversation != nil:
		c := line.Conversation
		if err := checkNames("principal", c.Principal, "conversation id", c.ID, "client", c.Client, "workflow", c.Workflow); err != nil {
			return err
		}
		i.open = &importedConversation{transferConversation: *c}
		i.seen.Conversations++
		return nil
	case line.Correction != nil:
		c := line.Correction
		if err := checkNames("principal", c.Principal, "workflow", c.Workflow, "workflow version", c.Version, "utterance", c.Utterance, "command", c.Command); err != nil {
			return err
		}
		i.seen.Corrections++
		i.counts.Corrections++
		return i.s.db.write(ctx, func(ctx context.Context, q querier) error {
			return putCorrection(ctx, q, c.Principal, c.Workflow, c.Version, c.Correction)
		})
	case line.Last != nil:
		return i.last(ctx, *line.Last)
	case line.End != nil:
		if *line.End != i.seen {
			return &InvalidError{fmt.Sprintf("want %d conversations, %d turns and %d corrections as this line says, got %d, %d and %d: lines are missing",
				line.End.Conversations, line.End.Turns, line.End.Corrections, i.seen.Conversations, i.seen.Turns, i.seen.Corrections)}
		}
		return nil
	}
	return &InvalidError{"want a conversation, a turn, a correction, last or end, got something else"}
}

func (i *importer) next() (transferLine, error) {
	var line transferLine
	i.line++
	text, err := readLine(i.in)
	switch {
	case err == io.EOF:
		return line, &InvalidError{`the file ends without the line that begins with {"end": it was cut off`}
	case err != nil:
		return line, err
	}
	i.size += len(text)
	if err := json.Unmarshal(text, &line); err != nil {
		return line, &InvalidError{"want a line of JSON: " + foreign.Misread(err, &line).Error()}
	}
	if i.principal != "" {
		line.hand(i.principal)
	}
	return line, nil
}

// readLine reads a line of at most maxLine bytes. A last line need not end.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, &InvalidError{fmt.Sprintf("want lines of at most %d bytes, got a longer one", maxLine)}
		}
		switch {
		case err == bufio.ErrBufferFull:
		case err == io.EOF && len(bytes.TrimSpace(line)) > 0:
			return line, nil
		default:
			return line, err
		}
	}
}

// shut ends the conversation that was being read.
func (i *importer) shut() error {
	if i.open == nil {
		return nil
	}
	if got := len(i.open.turns); got != i.open.Turns {
		return &InvalidError{fmt.Sprintf("want %d turns in conversation %s, got %d", i.open.Turns, i.open.ID, got)}
	}
	i.group, i.open = append(i.group, *i.open), nil
	return nil
}

// keep puts the conversations read into the store.
func (i *importer) keep(ctx context.Context) error {
	if len(i.group) == 0 {
		return nil
	}
	var done Counts
	err := i.s.db.write(ctx, func(ctx context.Context, q querier) error {
		done = Counts{}
		for _, c := range i.group {
			there, err := c.keep(ctx, q)
			switch {
			case err != nil:
				return fmt.Errorf("conversation %s: %w", c.ID, err)
			case there:
				done.Skipped++
			default:
				done.Conversations++
				done.Turns += len(c.turns)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	i.counts.Skipped += done.Skipped
	i.counts.Conversations += done.Conversations
	i.counts.Turns += done.Turns
	i.group, i.size = nil, 0
	return nil
}

// keep reports whether the conversation is there already.
func (c importedConversation) keep(ctx context.Context, q querier) (there bool, err error) {
	_, err = getConversation(ctx, q, c.Principal, c.ID)
	switch {
	case isPart(err):
		return true, fmt.Errorf("%w; delete it to have it imported", err)
	case !errors.Is(err, ErrNotFound):
		return true, err
	}
	topic, err := uniqueTopic(ctx, q, c.Principal, c.ID, c.Topic)
	if err != nil {
		return false, err
	}
	kept := Conversation{ID: c.ID, Client: c.Client, Workflow: c.Workflow, Topic: topic, Summary: c.Summary, State: c.State,
		Turns: c.Turns, Created: c.Created, Updated: c.Updated}
	if err := putConversation(ctx, q, c.Principal, kept); err != nil {
		return false, err
	}
	for n, t := range c.turns {
		if err := checkNames("turn key", t.Key); err != nil {
			return false, err
		}
		if err := putTurn(ctx, q, c.Principal, turnRow{c.ID, int64(n + 1), t}); err != nil {
			return false, err
		}
	}
	return false, nil
}

// last remembers what a client was in last, unless it has been in one here.
func (i *importer) last(ctx context.Context, l transferLast) error {
	return i.s.db.write(ctx, func(ctx context.Context, q querier) error {
		if _, err := getConversation(ctx, q, l.Principal, l.Conversation); isPart(err) {
			return nil // Nothing can be gone on with.
		} else if err != nil {
			return ignore(err, ErrNotFound) // It was damaged or deleted when the export was made.
		}
		_, err := q.ExecContext(ctx, `INSERT INTO last_conversations (principal, client, workflow, conversation) VALUES ($1, $2, $3, $4)
			ON CONFLICT DO NOTHING`, l.Principal, l.Client, l.Workflow, l.Conversation)
		return err
	})
}
