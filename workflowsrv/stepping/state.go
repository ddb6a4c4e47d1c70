package stepping

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// A position is the place in the loops of a workflow.
type position struct {
	// Finished are the ids of the loops that are done.
	Finished []string `json:"f,omitempty"`
	// Loop is the id of the loop that is under way, "" for none.
	Loop string `json:"l,omitempty"`
	// Pass counts from 1. Next is the index of the body step to look at next,
	// and Skipped are those to look at again before the pass ends.
	Pass    int   `json:"p,omitempty"`
	Next    int   `json:"n,omitempty"`
	Skipped []int `json:"s,omitempty"`
}

func (p position) finished(id string) bool { return slices.Contains(p.Finished, id) }

func (p *position) leave() { p.Loop, p.Pass, p.Next, p.Skipped = "", 0, 0, nil }

// stateVersion begins every sealed state.
const stateVersion = "s1"

// seal writes the position as one word for the caller to send back, "" for a
// workflow in which no loop has begun. The seal is a checksum over the id of
// the workflow and the content: it finds a word that was cut, altered or
// taken from another workflow. It is no signature and needs none, since a
// caller may claim any progress anyway.
func (p position) seal(w *definition.Workflow) string {
	if p.Loop == "" && len(p.Finished) == 0 {
		return ""
	}
	content, err := json.Marshal(p)
	if err != nil {
		panic("a position has only strings and numbers: " + err.Error())
	}
	text := base64.RawURLEncoding.EncodeToString(content)
	return stateVersion + "." + text + "." + checksum(w.ID, text)
}

func checksum(id, text string) string {
	sum := crc32.ChecksumIEEE([]byte(id + "." + text))
	return strconv.FormatUint(uint64(sum), 36)
}

// A StateError is a state that does not belong to the workflow.
type StateError struct {
	// Reason says what is wrong with it.
	Reason string
}

func (e *StateError) Error() string { return "state: " + e.Reason }

// unseal reads a state. The empty word is the start.
func unseal(state string, w *definition.Workflow) (position, error) {
	var p position
	if state == "" {
		return p, nil
	}
	parts := strings.Split(state, ".")
	if len(parts) != 3 || parts[0] != stateVersion {
		return p, &StateError{"not a state that workflow_next has returned"}
	}
	if parts[2] != checksum(w.ID, parts[1]) {
		return p, &StateError{fmt.Sprintf("damaged, or of another workflow than %q", w.ID)}
	}
	content, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(content, &p)
	}
	if err != nil {
		return position{}, &StateError{"damaged"}
	}
	return p, p.check(w)
}

// check tells a place that the workflow does not have: its file has changed
// since the state was made.
func (p position) check(w *definition.Workflow) error {
	if p.Loop == "" {
		return nil
	}
	s := w.Step(p.Loop)
	if s == nil || s.Loop == nil {
		return &StateError{fmt.Sprintf("the workflow has no loop %q any more", p.Loop)}
	}
	inBody := func(i int) bool { return 0 <= i && i < len(s.Loop.Body) }
	if p.Pass < 1 || p.Next != len(s.Loop.Body) && !inBody(p.Next) {
		return &StateError{fmt.Sprintf("the loop %q has changed since", p.Loop)}
	}
	for _, i := range p.Skipped {
		if !inBody(i) {
			return &StateError{fmt.Sprintf("the loop %q has changed since", p.Loop)}
		}
	}
	return nil
}
