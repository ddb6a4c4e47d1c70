// Package transcript keeps a session of MCP messages in a file, and plays the server's part of it.
//
// A transcript is text in the txtar format, as tests of workbench have it: first prose, then what the client sent in
// sections "-- client --" and what came back in sections "-- want --", each message on a line as it passed, in the
// order in which they passed. In either, "# sleep DURATION" is the time that went by before the line below it, and "#
// exit N" says that the server ended by itself, with that status.
//
// A [Recorder] writes one while a session goes on and holds up nobody; a [Player] is a server that answers as recorded.
package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// Names of the sections, and how the lines begin that are no messages.
const (
	client  = "client"
	server  = "want"
	sleep   = "# sleep "
	exit    = "# exit "
	opening = "-- "
	closing = " --\n"
)

// message is one that passed.
type message struct {
	*wire.Message
	server bool
	after  time.Duration // how long it came after that before it
}

// transcript is a file that was read.
type transcript struct {
	messages []message
	exit     int // the status with which the server ended by itself; -1 if it did not
}

// parse reads a transcript. The last line may be torn, as when what wrote it was killed.
func parse(data []byte) (*transcript, error) {
	t := &transcript{exit: -1}
	archive := txtar.Parse(data)
	for at, file := range archive.Files {
		if file.Name != client && file.Name != server {
			continue
		}
		var after time.Duration
		for line := range bytes.Lines(file.Data) {
			torn := !bytes.HasSuffix(data, []byte("\n")) && at == len(archive.Files)-1 && bytes.HasSuffix(bytes.TrimRight(data, " "), bytes.TrimSpace(line))
			line = bytes.TrimSpace(line)
			switch text := string(line); {
			case len(line) == 0:
			case bytes.HasPrefix(line, []byte(sleep)):
				d, err := time.ParseDuration(text[len(sleep):])
				if err != nil {
					return nil, fmt.Errorf("%q: %w", text, err)
				}
				after += d
			case bytes.HasPrefix(line, []byte(exit)):
				code, err := strconv.Atoi(text[len(exit):])
				if err != nil {
					return nil, fmt.Errorf("%q: %w", text, err)
				}
				t.exit = code
			case line[0] == '#':
			default:
				m := new(wire.Message)
				if err := wire.Scan(bytes.Clone(line), m); err != nil {
					if torn {
						continue
					}
					return nil, fmt.Errorf("message %d is none: %w", len(t.messages)+1, err)
				}
				t.messages = append(t.messages, message{m, file.Name == server, after})
				after = 0
			}
		}
	}
	if len(t.messages) == 0 {
		return nil, errors.New(`it has no messages: want sections "-- client --" and "-- want --" with a message on each line, as workbench record writes them`)
	}
	return t, nil
}
