package workflowsrv

import (
	"fmt"
	"sync"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// A shelf has the workflows that there are.
type shelf struct {
	store *definition.Store
	log   zerolog.Logger

	mu     sync.Mutex            // guards what follows
	logged *definition.Catalogue // the last one that was looked through for the log
	told   map[string]bool       // what the log was told of it
}

// entry finds a workflow. The fault says why there is none: the id is unknown, or its file is broken.
func (s *shelf) entry(id string) (*definition.Entry, *fault) {
	c := s.catalogue()
	if e := c.Entry(id); e != nil {
		return e, nil
	}
	for _, invalid := range c.Invalid {
		if invalid.ID == id {
			return nil, invalidFile(id, invalid)
		}
	}
	f := &fault{code: codeWorkflowNotFound, data: wire.NewObject(nil).Text("workflowId", id).End()}
	f.suggest(nearest.Names(id, c.IDs(), 3), "workflow_list shows all workflows")
	return nil, f
}

// catalogue returns the workflows, and logs what is new to it and matters to the user: a project that was cloned
// decides what an id stands for.
func (s *shelf) catalogue() *definition.Catalogue {
	c := s.store.Catalogue()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logged == c {
		return c
	}
	s.logged = c
	told := map[string]bool{}
	for _, e := range c.Entries {
		if text, ok := displacement(e); ok {
			if told[text] = true; !s.told[text] {
				s.log.Warn().Str(logkey.Detail, text).Msg("a workflow of the project replaces another")
			}
		}
	}
	s.told = told
	return c
}

// displacement says that a workflow of the project stands in the place of another.
func displacement(e *definition.Entry) (text string, ok bool) {
	p, ok := e.Displaced()
	if !ok {
		return "", false
	}
	other := "the one with this id that is part of workbench"
	if p.Origin != definition.Embedded {
		other = p.File
	}
	return fmt.Sprintf("the workflow %s is the project's, %s, instead of %s", e.ID, e.File, other), true
}

// step finds a step of a workflow, also one in a loop.
func step(w *definition.Workflow, id string) (*definition.Step, *fault) {
	if s := w.Step(id); s != nil {
		return s, nil
	}
	f := &fault{code: codeStepNotFound, data: wire.NewObject(nil).Text("stepId", id).End()}
	f.suggest(nearest.Names(id, w.StepIDs(), 3), "workflow_get shows all steps")
	return nil, f
}

// suggest adds the ids that could have been meant.
func (f *fault) suggest(ids []string, otherwise string) {
	f.advice = otherwise
	if len(ids) == 0 {
		return
	}
	f.advice = "did you mean " + quotedList(ids) + "?"
	f.more = wire.MustEncode(map[string][]string{"nearest": ids})
}

func quotedList(ids []string) string {
	text := ""
	for i, id := range ids {
		switch {
		case i == 0:
		case i == len(ids)-1:
			text += " or "
		default:
			text += ", "
		}
		text += `"` + id + `"`
	}
	return text
}

// invalidFile is the fault of a workflow whose file is broken.
func invalidFile(id string, invalid definition.Invalid) *fault {
	details := invalid.File + ":"
	for i, fault := range invalid.Faults {
		if i == maxReasons {
			break
		}
		details += " " + fault.String() + ";"
	}
	details = details[:len(details)-1]
	code := codeInvalidWorkflow
	switch invalid.Cause {
	case definition.Unreadable:
		code = codeStorage
	case definition.Outside:
		code = codeSecurity
	}
	return &fault{
		code:   code,
		data:   wire.NewObject(nil).Text("workflowId", id).Text("details", details).End(),
		advice: details,
	}
}

// find is entry for runs, which pass its fault on.
func (s *shelf) find(id string) (*definition.Entry, error) {
	e, f := s.entry(id)
	if f != nil {
		return nil, faultError{f}
	}
	return e, nil
}

// A faultError is a fault on its way through the runs.
type faultError struct{ fault *fault }

func (e faultError) Error() string { return e.fault.message() + ": " + e.fault.advice }

// maxReasons bounds how many faults of one file an answer names.
const maxReasons = 10
