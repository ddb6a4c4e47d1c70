package stepping

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/workflowsrv/criteria"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// A LoopError is a context variable that a loop cannot work with.
type LoopError struct {
	LoopID   string
	Variable string
	// Expected and Got describe types, Got with the beginning of the value.
	Expected, Got string
}

func (e *LoopError) Error() string {
	return fmt.Sprintf("loop %q: the variable %q must be %s, got %s", e.LoopID, e.Variable, e.Expected, e.Got)
}

// runLoop looks for the next step of the loop, from the place in k.at if that is in this loop, and from its beginning
// otherwise. Without a step the loop is finished, unless variables are missing.
func (k *walker) runLoop(s *definition.Step) (*choice, error) {
	resumed := k.at.Loop == s.ID
	if !resumed {
		k.at.enter(s.ID)
	}
	entered := k.at
	for k.at.Pass <= s.Loop.MaxIterations && !k.completed[s.ID] {
		pass, err := k.openPass(s)
		if err != nil || k.missing.any() {
			// The place stays where it is, so that the call can be repeated.
			k.at = entered
			if !resumed {
				k.at.leave()
			}
			return nil, err
		}
		if pass == nil {
			break
		}
		// A caller that knows no state still tells what it did in the first pass.
		stateless := !resumed && k.at.Pass == 1
		opens := k.at.Next == 0
		found, err := k.bodyStep(s, pass, stateless)
		if err != nil {
			return nil, err
		}
		if found != nil {
			found.first = !resumed && k.at.Pass == 1 && !k.anyDone(s.Loop.Body)
			found.opens = opens
			if !resumed && k.at.Pass > 1 {
				k.warn(fmt.Sprintf("the loop %q is in pass %d because its steps are completed and no state was sent: send the state of each answer "+
					"with the next call, or add %q to the completed steps to end it", s.ID, k.at.Pass, s.ID))
			}
			return found, nil
		}
		if k.missing.any() {
			return nil, nil
		}
		k.at.Pass, k.at.Next, k.at.Skipped, k.at.Item = k.at.Pass+1, 0, nil, 0
	}
	k.noteLimit(s)
	k.at.leave()
	k.at.Finished = append(k.at.Finished, s.ID)
	return nil, nil
}

// noteLimit warns when maxIterations ends a loop that would have gone on.
func (k *walker) noteLimit(s *definition.Step) {
	if k.at.Pass <= s.Loop.MaxIterations || k.completed[s.ID] {
		return
	}
	if pass, err := k.openPass(s); pass != nil || err != nil {
		k.warn(fmt.Sprintf("the loop %q ended at its limit, maxIterations %d, although it would have continued", s.ID, s.Loop.MaxIterations))
	}
	k.missing = missingList{}
}

func (k *walker) anyDone(body []*definition.Step) bool {
	return slices.ContainsFunc(body, func(s *definition.Step) bool { return k.completed[s.ID] })
}

// openPass decides whether the pass in k.at takes place, and returns nil if not. Within a pass that has begun, nothing
// is decided anew.
func (k *walker) openPass(s *definition.Step) (*LoopPass, error) {
	l := s.Loop
	pass := &LoopPass{
		ID: s.ID, Title: s.Title, Type: string(l.Kind), Iteration: k.at.Pass, MaxIterations: l.MaxIterations,
		Variables: map[string]any{l.IterationVar: k.at.Pass},
	}
	switch l.Kind {
	case definition.For:
		return k.openCounted(s, pass)
	case definition.ForEach:
		return k.openItem(s, pass)
	}
	if l.Condition == nil || k.at.Next > 0 || len(k.at.Skipped) > 0 {
		return pass, nil
	}
	scope := k.scope.With(pass.Variables)
	holds, err := k.holds(s, l.Condition, scope)
	if err != nil {
		return nil, err
	}
	if holds == (l.Kind == definition.While) {
		return pass, nil
	}
	unset, err := k.unset(s, l.Condition, scope)
	k.missing.addTests(s.ID, unset)
	return nil, err
}

func (k *walker) openCounted(s *definition.Step, pass *LoopPass) (*LoopPass, error) {
	count := float64(s.Loop.Count)
	if name := s.Loop.CountVar; name != "" {
		v := k.request.Context[name]
		if v == nil {
			k.missing.addType(s.ID, name, "a number")
			return nil, nil
		}
		number, ok := toFloat(v)
		if !ok {
			return nil, &LoopError{s.ID, name, "a number", describe(v)}
		}
		count = number
	}
	if float64(k.at.Pass-1) >= count {
		return nil, nil
	}
	total := int(min(math.Ceil(count), float64(s.Loop.MaxIterations)))
	pass.Total = &total
	return pass, nil
}

func (k *walker) openItem(s *definition.Step, pass *LoopPass) (*LoopPass, error) {
	l := s.Loop
	v := k.request.Context[l.ItemsVar]
	if v == nil {
		k.missing.addType(s.ID, l.ItemsVar, "an array")
		return nil, nil
	}
	items, ok := v.([]any)
	if !ok {
		return nil, &LoopError{s.ID, l.ItemsVar, "an array", describe(v)}
	}
	if len(items) < k.at.Items {
		return nil, &LoopError{s.ID, l.ItemsVar, fmt.Sprintf("the whole list of %d items with which the loop began, in every call", k.at.Items),
			fmt.Sprintf("%s of %d items", describe(v), len(items))}
	}
	if k.at.Items = len(items); k.at.Pass > len(items) {
		return nil, nil
	}
	item := items[k.at.Pass-1]
	sum := crc32.ChecksumIEEE([]byte(asText(item)))
	if k.at.Item != 0 && k.at.Item != sum && k.at.Next > 0 {
		k.warn(fmt.Sprintf("item %d of %q is another one than when pass %d of the loop %q began", k.at.Pass, l.ItemsVar, k.at.Pass, s.ID))
	}
	k.at.Item = sum
	if _, isObject := item.(map[string]any); !isObject && usesFields(l) {
		return nil, &LoopError{s.ID, l.ItemsVar, fmt.Sprintf("an array of objects, because the prompts name fields of %s", l.ItemVar),
			"an array with " + describe(item)}
	}
	total := min(len(items), l.MaxIterations)
	pass.Total = &total
	pass.Variables[l.ItemVar], pass.Variables[l.IndexVar] = item, k.at.Pass-1
	return pass, nil
}

// usesFields reports whether a prompt of the body names a field of the item.
func usesFields(l *definition.Loop) bool {
	return slices.ContainsFunc(l.Body, func(s *definition.Step) bool {
		for _, name := range placeholders(s.Prompt) {
			if strings.HasPrefix(name, l.ItemVar+".") {
				return true
			}
		}
		return false
	})
}

// bodyStep looks for the next step of the pass and moves k.at behind it. A step that is passed over for want of a
// variable that a later step is to learn is looked at again at the end of the pass.
func (k *walker) bodyStep(loop *definition.Step, pass *LoopPass, stateless bool) (*choice, error) {
	body := loop.Loop.Body
	scope := k.scope.With(pass.Variables)
	take := func(s *definition.Step) *choice {
		return &choice{step: s, scope: scope, loop: loop, pass: pass}
	}
	for ; k.at.Next < len(body); k.at.Next++ {
		s := body[k.at.Next]
		if stateless && k.completed[s.ID] {
			continue
		}
		waiting := k.waiting
		k.waiting = missingList{}
		eligible, err := k.eligible(s, loop, scope)
		waits := k.waiting.any()
		k.waiting.add(waiting)
		switch {
		case err != nil || k.missing.any():
			return nil, err
		case eligible:
			k.at.Next++
			return take(s), nil
		case waits:
			k.at.Skipped = append(k.at.Skipped, k.at.Next)
		}
	}
	for len(k.at.Skipped) > 0 {
		s := body[k.at.Skipped[0]]
		holds, err := k.holds(s, s.RunCondition, scope)
		if err != nil {
			return nil, err
		}
		if holds {
			k.at.Skipped = k.at.Skipped[1:]
			k.warn(fmt.Sprintf("the step %q comes at the end of its pass, although it stands before others: its condition did not hold before", s.ID))
			return take(s), nil
		}
		unset, err := k.unset(s, s.RunCondition, scope)
		if len(unset) > 0 || err != nil {
			k.missing.addTests(s.ID, unset)
			return nil, err
		}
		k.at.Skipped = k.at.Skipped[1:]
	}
	return nil, nil
}

func toFloat(v any) (float64, bool) {
	switch n := v.(type) {
	case json.Number:
		f, err := n.Float64()
		return f, err == nil
	case float64:
		return n, true
	case int:
		return float64(n), true
	}
	return 0, false
}

// describe names the type of a value and shows its beginning.
func describe(v any) string { return criteria.KindOf(v) + ": " + cut.After(asText(v), maxShown) }

// maxShown is how many characters are shown of a text that a caller chose.
const maxShown = 60
