package catalogue

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// Entry is what was seen of a server.
type Entry struct {
	// Seen is when its tools were last read from it, in whole seconds.
	Seen time.Time
	// Version is the protocol revision that was agreed on.
	Version string
	// Mute says that it ended or stayed silent when it was asked by server/discover.
	Mute bool
	// Late says that the server was not seen, and waited for in vain at that time. Its lists are then those of another
	// program in its place, if any.
	Late bool
	// Program tells the file that was started from another in its place.
	Program string
	// Capabilities is the JSON object that it declared; nil for none.
	Capabilities json.RawMessage
	// Info is the JSON object by which it names itself, and Instructions the JSON string of what it says of its use;
	// nil for none.
	Info, Instructions json.RawMessage
	// Lists are the entries of its lists as it wrote them, by the name that a list has in its result: "tools",
	// "resources", "resourceTemplates", "prompts".
	Lists map[string][]json.RawMessage
}

// magic begins a file; the digest of all that follows the line comes after it. The number counts the forms of the rest.
const magic = "workbench catalogue 1 "

// document is the rest of a file. Its lists are written by hand: encoding/json would change the bytes that servers
// wrote.
type document struct {
	Key          string                       `json:"key"`
	Seen         int64                        `json:"seen"`
	Version      string                       `json:"version"`
	Mute         bool                         `json:"mute"`
	Late         bool                         `json:"late"`
	Program      string                       `json:"program"`
	Capabilities json.RawMessage              `json:"capabilities"`
	Info         json.RawMessage              `json:"info"`
	Instructions json.RawMessage              `json:"instructions"`
	Lists        map[string][]json.RawMessage `json:"lists"`
}

// encode gives the file of an entry.
func encode(k Key, e *Entry) []byte {
	b := fmt.Appendf(nil, `{"key":%q,"seen":%d,"version":%q,"mute":%t,"late":%t,"program":%q,"capabilities":`, k, e.Seen.Unix(), e.Version, e.Mute, e.Late, e.Program)
	b = appendOptional(b, e.Capabilities)
	b = appendOptional(append(b, `,"info":`...), e.Info)
	b = appendOptional(append(b, `,"instructions":`...), e.Instructions)
	b = append(b, `,"lists":{`...)
	for _, name := range slices.Sorted(maps.Keys(e.Lists)) {
		b = append(wire.AppendQuote(wire.Comma(b), name), ":["...)
		for _, item := range e.Lists[name] {
			b = append(wire.Comma(b), item...)
		}
		b = append(b, ']')
	}
	b = append(b, "}}\n"...)
	return append(header(b), b...)
}

func appendOptional(b []byte, value json.RawMessage) []byte {
	if value == nil {
		return append(b, "null"...)
	}
	return append(b, value...)
}

// optional reads what appendOptional wrote.
func optional(value json.RawMessage) json.RawMessage {
	if string(value) == "null" {
		return nil
	}
	return value
}

func header(rest []byte) []byte {
	sum := sha256.Sum256(rest)
	return append(hex.AppendEncode([]byte(magic), sum[:]), '\n')
}

// decode reads a file. It takes only what encode wrote, for this key, to the end.
func decode(k Key, data []byte) (*Entry, error) {
	line, rest, _ := bytes.Cut(data, []byte("\n"))
	switch {
	case !bytes.HasPrefix(line, []byte(magic)):
		return nil, errors.New("it does not begin as a catalogue file of this version")
	case !bytes.Equal(header(rest), data[:len(data)-len(rest)]):
		return nil, errors.New("it is torn, or was changed")
	}
	d := json.NewDecoder(bytes.NewReader(rest))
	d.DisallowUnknownFields()
	var doc document
	if err := d.Decode(&doc); err != nil {
		return nil, err
	}
	if doc.Key != k.String() {
		return nil, errors.New("it is that of another server")
	}
	e := &Entry{
		Seen: time.Unix(doc.Seen, 0), Version: doc.Version, Mute: doc.Mute, Late: doc.Late, Program: doc.Program,
		Capabilities: optional(doc.Capabilities), Info: optional(doc.Info), Instructions: optional(doc.Instructions),
		Lists: doc.Lists,
	}
	return e, nil
}
