package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

// A standing is where a run stands: at which step of its workflow, with which variables.
type standing struct {
	r        *Run
	w        *definition.Workflow
	next     stepping.Answer // where r is
	criteria criteria.Options
	dir      string // where relative paths begin
	// args are those of the tool that the step where the run is calls; with lack, they are as the file has them.
	args json.RawMessage
	file string // the one that the step where the run is waits for
	lack error  // why the tool cannot be called with args, or no file be waited for: a variable is not set, or too large
}

// at is an event about the step where the run is.
func (s *standing) at(kind Kind) Event {
	e := Event{Kind: kind, Step: s.next.Step.ID}
	if p := s.next.Loop; p != nil {
		e.Loop, e.Pass = p.ID, p.Iteration
		if l := s.w.Step(p.ID); l != nil && l.Loop != nil {
			e.LoopName = l.Loop.Name
			if item, err := json.Marshal(p.Variables[l.Loop.ItemVar]); err == nil && l.Loop.ItemVar != "" && p.Variables[l.Loop.ItemVar] != nil && len(item) < 4<<10 {
				e.Item = item
			}
		}
	}
	return e
}

// about is an event about what a person is asked: the step where the run is, or its definition.
func (s *standing) about(kind Kind) Event {
	if p, ok := s.r.proposed(); ok {
		return Event{Kind: kind, Step: p.Step, Digest: p.Digest}
	}
	e := s.at(kind)
	if s.args != nil {
		e.Digest = store.Digest(s.args) // A person agrees to the call that was shown, not to what the agent makes of it.
	}
	return e
}

// asked is the question about that, if there is one.
func (s *standing) asked() (Event, bool) {
	about := s.about(Asked)
	e, ok := s.r.asked[gate(about.Step, about.Pass)]
	return e, ok && e.Digest == about.Digest && !s.r.outdated(e.Hash)
}

// hashOf is the hash of a question, "" where there is none.
func hashOf(e Event, ok bool) string {
	if !ok {
		return ""
	}
	return e.Hash
}

// deed is what the step does that is not the agent's; nil for none.
func (s *standing) deed() *definition.Act {
	if s.next.Step == nil {
		return nil
	}
	return s.next.Step.Act
}

func (s *standing) gate() string {
	pass := 0
	if s.next.Loop != nil {
		pass = s.next.Loop.Iteration
	}
	return gate(s.next.Step.ID, pass)
}

// ref is how an agent names the step where the run is: in a loop with the pass, so that what is said of one pass is not
// taken for another.
func (s *standing) ref() string {
	if s.next.Loop == nil {
		return s.next.Step.ID
	}
	return s.gate()
}

// locate finds where the run is.
func (s *standing) locate(ctx context.Context) error {
	if s.r.Status.Over() {
		return nil
	}
	// The definition may be another one than that by which they were done.
	completed := slices.DeleteFunc(slices.Clone(s.r.completed), func(id string) bool { return s.w.Step(id) == nil })
	request := stepping.Request{Completed: completed, State: s.r.state, Context: s.r.context, Mode: s.criteria.Mode, Kept: true}
	for {
		a, err := stepping.Next(ctx, s.w, request)
		if err != nil {
			return err
		}
		if a.Loop != nil && s.stopped(a.Loop) && !slices.Contains(request.Completed, a.Loop.ID) {
			request.Completed = append(slices.Clip(request.Completed), a.Loop.ID)
			continue
		}
		s.next, s.r.Step, s.args, s.file, s.lack = a, "", nil, "", nil
		if a.Step != nil {
			s.r.Step = a.Step.ID
		}
		switch act := s.deed(); {
		case act == nil:
		case act.Kind == definition.ActTool:
			if s.args, s.lack = s.arguments(ctx, act); s.lack != nil {
				s.args = act.Arguments
			}
		case act.File != "":
			s.file, _, s.lack = stepping.FillData(act.File, s.scope(ctx))
		}
		return nil
	}
}

// stopped reports whether an artifact has ended the loop before this pass.
func (s *standing) stopped(pass *stepping.LoopPass) bool {
	for _, name := range []string{pass.ID, s.w.Step(pass.ID).Loop.Name} {
		if last, ok := s.r.stops[name]; ok && pass.Iteration > last {
			return true
		}
	}
	return false
}

// scope is what the texts and conditions of the step where the run is see.
func (s *standing) scope(ctx context.Context) *criteria.Scope {
	return criteria.NewScope(ctx, s.variables(), s.criteria.Mode)
}

// variables are those of the run and of the pass of its loop.
func (s *standing) variables() map[string]any {
	if s.next.Loop == nil {
		return s.r.context
	}
	all := maps.Clone(s.r.context)
	maps.Copy(all, s.next.Loop.Variables)
	return all
}

// unknown reports whether a call may have been made whose result is not there, and nobody is at work on it.
func (s *standing) unknown() bool {
	_, ok := s.r.intents[s.gate()]
	return ok && !s.held()
}

// held reports whether another process calls the tool at this time.
func (s *standing) held() bool {
	if s.next.Step == nil {
		return false // The run is over, or waits for variables.
	}
	_, ok := s.r.intents[s.gate()]
	return ok && time.Now().Before(s.r.Held)
}

// calledBefore reports whether the tool of the step was called in a branch that the run has left by a rewind, or, after
// the place where it was forked, in the run that it was forked from.
func (s *standing) calledBefore() bool {
	at, line := s.gate(), s.r.Line()
	for i, e := range s.r.Events {
		if slices.Contains(e.Called, at) || e.Kind == Intended && e.Tool != "" && gate(e.Step, e.Pass) == at && !slices.Contains(line, i) {
			return true
		}
	}
	return false
}

// lastFailure is what the tool said last of why it failed.
func (s *standing) lastFailure() string {
	for _, e := range slices.Backward(s.r.Events) {
		if e.Kind == Returned && e.Text != "" {
			return e.Text
		}
	}
	return ""
}

// late reports whether the step has waited for something for longer than it may.
func (s *standing) late() bool {
	a := s.next.Step.Act
	began, ok := s.r.until[s.gate()]
	return ok && a.For == 0 && began.Until != nil && time.Now().After(*began.Until) && (a.Webhook || !s.there())
}

// there reports whether the file that the step waits for is there.
func (s *standing) there() bool {
	path := s.file
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.dir, path)
	}
	_, err := os.Stat(path)
	return err == nil
}

// arguments are those of a call with the variables put in.
func (s *standing) arguments(ctx context.Context, a *definition.Act) (json.RawMessage, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(a.Arguments))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	filled, err := fillIn(v, s.scope(ctx), new(maxArguments))
	if err != nil {
		return nil, fmt.Errorf("the arguments: %w", err)
	}
	return wire.Encode(filled)
}

// maxArguments is how many bytes of texts and variables are put into the arguments of one call.
const maxArguments = 4 << 20

// fillIn puts the variables into the texts of v. left is how many bytes that may have.
func fillIn(v any, scope *criteria.Scope, left *int) (any, error) {
	switch v := v.(type) {
	case string:
		text, bare, err := stepping.FillData(v, scope)
		if err != nil {
			return nil, err
		}
		if *left -= len(text); *left < 0 {
			return nil, fmt.Errorf("the variables in them have more than %d bytes", maxArguments)
		}
		if bare != nil {
			return bare, nil
		}
		return text, nil
	case []any:
		list := make([]any, len(v))
		for i := range v {
			var err error
			if list[i], err = fillIn(v[i], scope, left); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, member := range v {
			var err error
			if object[name], err = fillIn(member, scope, left); err != nil {
				return nil, err
			}
		}
		return object, nil
	}
	return v, nil
}

// holds reports whether the loop that is under way keeps a list as it is: another one would lose its place.
func (s *standing) holds(name string, value any) bool {
	if s.next.Loop == nil {
		return false
	}
	l := s.w.Step(s.next.Loop.ID)
	if l == nil || l.Loop == nil || l.Loop.Kind != definition.ForEach || l.Loop.ItemsVar != name {
		return false
	}
	had, _ := s.r.context[name].([]any)
	list, ok := value.([]any)
	n := s.next.Loop.Iteration
	return !ok || len(list) < n || len(had) < n || !reflect.DeepEqual(had[:n], list[:n])
}

// awaited gives those variables of a call for a step that was done before that nobody has set, while the run waits for
// variables: that the call comes again is what it wants.
func (s *standing) awaited(text json.RawMessage) json.RawMessage {
	if _, asked := s.r.proposed(); asked || s.next.Step != nil {
		return nil
	}
	sent := decode(text)
	maps.DeleteFunc(sent, func(name string, _ any) bool { _, set := s.r.context[name]; return set })
	if len(sent) == 0 {
		return nil
	}
	return wire.MustEncode(sent)
}

// now is the time as events have it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
