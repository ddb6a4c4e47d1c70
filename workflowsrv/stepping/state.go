package stepping

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// A position is the place in the loops of a workflow.
type position struct {
	// Finished are the ids of the loops that are done.
	Finished []string
	// Loop is the id of the loop that is under way, "" for none.
	Loop string
	// Pass counts from 1. Next is the index of the body step to look at next, and Skipped are those to look at again
	// before the pass ends.
	Pass, Next int
	Skipped    []int
	// Items is how many a forEach loop has, and Item the checksum of the one of this pass.
	Items int
	Item  uint32
}

func (p position) finished(id string) bool { return slices.Contains(p.Finished, id) }

func (p *position) enter(id string) { *p = position{Finished: p.Finished, Loop: id, Pass: 1} }

func (p *position) leave() { *p = position{Finished: p.Finished} }

// sealed is a position as it is sent: steps of a body by their ids, so that a change of the file does not move the
// place.
type sealed struct {
	Finished []string `json:"f,omitempty"`
	Loop     string   `json:"l,omitempty"`
	Pass     int      `json:"p,omitempty"`
	// After is the step before the next one, and Next that one; "" is the beginning and the end of the body.
	After   string   `json:"a,omitempty"`
	Next    string   `json:"n,omitempty"`
	Skipped []string `json:"s,omitempty"`
	Body    uint32   `json:"b,omitempty"` // the checksum of the ids of the body
	Items   int      `json:"c,omitempty"`
	Item    uint32   `json:"i,omitempty"`
}

// stateVersion begins every sealed state.
const stateVersion = "s2"

// seal writes the position as one word for the caller to send back, "" for a workflow in which no loop has begun. The
// seal is a checksum over the id of the workflow and the content: it finds a word that was cut, altered or taken from
// another workflow. It is no signature and needs none, since a caller may claim any progress anyway.
func (p position) seal(w *definition.Workflow) string {
	if p.Loop == "" && len(p.Finished) == 0 {
		return ""
	}
	word := sealed{Finished: p.Finished, Loop: p.Loop, Pass: p.Pass, Items: p.Items, Item: p.Item}
	if p.Loop != "" {
		body := w.Step(p.Loop).Loop.Body
		word.Body = bodySum(body)
		if p.Next > 0 {
			word.After = body[p.Next-1].ID
		}
		if p.Next < len(body) {
			word.Next = body[p.Next].ID
		}
		for _, i := range p.Skipped {
			word.Skipped = append(word.Skipped, body[i].ID)
		}
	}
	text := base64.RawURLEncoding.EncodeToString(wire.MustEncode(word))
	return stateVersion + "." + text + "." + checksum(w.ID, text)
}

func checksum(id, text string) string {
	sum := crc32.ChecksumIEEE([]byte(id + "." + text))
	return strconv.FormatUint(uint64(sum), 36)
}

func bodySum(body []*definition.Step) uint32 {
	sum := crc32.NewIEEE()
	for _, s := range body {
		sum.Write([]byte(s.ID + "\n"))
	}
	return sum.Sum32()
}

// A StateError is a state that does not belong to the workflow.
type StateError struct {
	// Reason says what is wrong with it.
	Reason string
}

func (e *StateError) Error() string { return "state: " + e.Reason }

// A place is a position that was read, with what is to be said of it.
type place struct {
	position
	warnings []string
}

// unseal reads a state. The empty word is the start.
func unseal(state string, w *definition.Workflow) (place, error) {
	if state == "" {
		return place{}, nil
	}
	parts := strings.Split(state, ".")
	if len(parts) != 3 || parts[0] != stateVersion {
		return place{}, &StateError{"not a state that workflow_next has returned"}
	}
	if parts[2] != checksum(w.ID, parts[1]) {
		return place{}, &StateError{fmt.Sprintf("damaged, or of another workflow than %q", w.ID)}
	}
	var word sealed
	content, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(content, &word)
	}
	if err != nil {
		return place{}, &StateError{"damaged"}
	}
	return word.find(w)
}

// find looks the place up in the workflow, whose file can have changed since the state was made.
func (word sealed) find(w *definition.Workflow) (place, error) {
	p := place{position: position{Finished: word.Finished}}
	if word.Loop == "" {
		return p, nil
	}
	s := w.Step(word.Loop)
	if s == nil || s.Loop == nil {
		return p, &StateError{fmt.Sprintf("the workflow has no loop %q any more", word.Loop)}
	}
	body := s.Loop.Body
	index := func(id string) int {
		return slices.IndexFunc(body, func(s *definition.Step) bool { return s.ID == id })
	}
	after, next := index(word.After), index(word.Next)
	p.Loop, p.Pass, p.Items, p.Item = word.Loop, word.Pass, word.Items, word.Item
	switch {
	case word.Pass < 1:
		return p, &StateError{"damaged"}
	case word.After == "":
		p.Next = 0
	case after >= 0:
		p.Next = after + 1
	case next >= 0:
		p.Next = next
	case word.Next == "":
		p.Next = len(body)
	default:
		return p, &StateError{fmt.Sprintf("the loop %q has changed since: neither %q nor %q is in it", word.Loop, word.After, word.Next)}
	}
	for _, id := range word.Skipped {
		if i := index(id); i >= 0 && i < p.Next {
			p.Skipped = append(p.Skipped, i)
		}
	}
	if word.Body != bodySum(body) {
		p.warnings = append(p.warnings, fmt.Sprintf("the steps of the loop %q have changed in the file since the last answer; this pass goes on %s",
			word.Loop, p.whence(word, body)))
	}
	return p, nil
}

// whence says where a pass goes on.
func (p place) whence(word sealed, body []*definition.Step) string {
	switch {
	case p.Next == len(body):
		return "at its end"
	case word.After == "":
		return "at its beginning"
	}
	return fmt.Sprintf("at %q", body[p.Next].ID)
}
