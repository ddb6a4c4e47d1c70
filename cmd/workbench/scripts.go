package main

import (
	"context"
	"path/filepath"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/script"
)

// scriptArg, alone on the command line, makes this program run the script that it reads. It is not for people.
const scriptArg = "__script"

// scriptHost runs the scripts of models, each in a process of this program with an empty environment.
func scriptHost(e *opening.Environment) *script.Host {
	return &script.Host{Start: func() (script.Process, error) {
		root := filepath.VolumeName(e.Program) + string(filepath.Separator) // it is there, whatever TMPDIR names
		p, err := e.Guard.Start(child.Spec{Command: e.Program, Again: true, Args: []string{scriptArg}, Dir: root})
		if err != nil {
			return nil, err
		}
		return scriptProcess{p}, nil
	}}
}

// scriptProcess is the process of a script.
type scriptProcess struct{ *child.Process }

func (p scriptProcess) Read(b []byte) (int, error)  { return p.Stdout().Read(b) }
func (p scriptProcess) Write(b []byte) (int, error) { return p.Stdin().Write(b) }

// End implements script.Process. A process that has ended is not asked to.
func (p scriptProcess) End() (int, error) {
	err := p.Stop(context.Background(), child.Grace{EOF: -1, Term: -1})
	return p.Exit().Code, err
}
