package commands

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// A recording is a conversation that commands test replays.
type recording struct {
	Turns []recordedTurn `yaml:"turns"`
}

// A recordedTurn is something said, and what has to come of it. What is empty is not looked at.
type recordedTurn struct {
	Say     string         `yaml:"say"`
	Status  command.Status `yaml:"status,omitempty"`
	Command string         `yaml:"command,omitempty"` // the one that was meant
	Reply   string         `yaml:"reply,omitempty"`   // all of it
	// Contains are pieces of the reply, for one that is not the same each time.
	Contains []string `yaml:"contains,omitempty"`
}

// maxRecording is how long a recording may be, in bytes.
const maxRecording = 4 << 20

// recordingForm is the form of a recording.
const recordingForm = `{"type": "object", "required": ["turns"], "additionalProperties": false, "properties": {
	"turns": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["say"], "additionalProperties": false, "properties": {
		"say": {"type": "string", "pattern": "\\S", "errorMessage": "must be what is said"},
		"status": {"enum": ["completed", "awaiting_user", "cancelled"]},
		"command": {"type": "string"},
		"reply": {"type": "string"},
		"contains": {"type": "array", "minItems": 1, "items": {"type": "string"}}}}}}}`

// readRecordings reads recordings. The error has the faults of all of them.
func readRecordings(paths []string) ([]*recording, error) {
	form := document.NewSchema([]byte(recordingForm))
	list := make([]*recording, len(paths))
	errs := make([]error, len(paths))
	for i, path := range paths {
		list[i], errs[i] = readRecording(path, form)
	}
	return list, errors.Join(errs...)
}

func readRecording(path string, form *document.Schema) (*recording, error) {
	data, _, err := openfile.Read(path, maxRecording)
	if err != nil {
		return nil, err
	}
	var faults document.Faults
	doc := document.ReadSettings(path, data, &faults) // as long as settings may be
	if doc != nil {
		form.Check(doc, &faults)
	}
	if len(faults) > 0 {
		return nil, errors.New(document.Lines(path, faults.Sorted()))
	}
	r := new(recording)
	for _, turn := range doc.Get("turns").Items {
		r.Turns = append(r.Turns, recordedTurn{Say: turn.Str("say"), Status: command.Status(turn.Str("status")),
			Command: turn.Str("command"), Reply: turn.Str("reply"), Contains: turn.Strs("contains")})
	}
	return r, nil
}

func (r *recording) write(path string) error {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(r); err != nil {
		return err
	}
	if err := openfile.MakeFolder(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return openfile.Replace(path, b.Bytes())
}

// differs says how an answer is not what the turn wants, "" if it is.
func (t *recordedTurn) differs(s *spoken) string {
	reply := s.reply()
	switch {
	case t.Status != "" && s.Status != t.Status:
		return fmt.Sprintf("the status is %s, want %s", s.Status, t.Status)
	case t.Command != "" && s.command() != t.Command:
		return fmt.Sprintf("the command is %q, want %q", s.command(), t.Command)
	case t.Reply != "" && reply != strings.TrimSpace(t.Reply):
		return fmt.Sprintf("the reply is\n%s\nwant\n%s", reply, strings.TrimSpace(t.Reply))
	}
	for _, piece := range t.Contains {
		if !strings.Contains(reply, piece) {
			return fmt.Sprintf("the reply is\n%s\nwant %q in it", reply, piece)
		}
	}
	return ""
}
