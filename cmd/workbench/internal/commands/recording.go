package commands

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/mcp-workbench/workbench/internal/foreign"
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

// readRecording reads a recording. A key that there is not is an error.
func readRecording(path string) (*recording, error) {
	data, _, err := openfile.Read(path, maxRecording)
	if err != nil {
		return nil, err
	}
	r := new(recording)
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, foreign.NewError(err))
	}
	for i, turn := range r.Turns {
		if strings.TrimSpace(turn.Say) == "" {
			return nil, fmt.Errorf("%s: turn %d says nothing; give it a say", path, i+1)
		}
	}
	if len(r.Turns) == 0 {
		return nil, fmt.Errorf("%s: there are no turns", path)
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
