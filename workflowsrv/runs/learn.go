package runs

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// learn keeps variables that came without a step.
func (t *turn) learn(ctx context.Context, text json.RawMessage) error {
	changed, err := t.changes(text)
	if err != nil || len(changed) == 0 {
		return err
	}
	t.note(Event{Kind: Noted, By: t.who.agent(), Context: changed})
	return t.follow(ctx)
}

// changes returns those of the variables that are other than what is kept; nil if none is.
func (t *turn) changes(text json.RawMessage) (json.RawMessage, error) {
	sent := decode(text)
	changed := map[string]any{}
	for name, value := range sent {
		if had, ok := t.r.context[name]; ok && reflect.DeepEqual(had, value) {
			continue
		}
		if t.holds(name, value) {
			t.warn("the loop %s goes on with the list %s that it has; items can be added behind those that were done, not taken away or moved",
				t.next.Loop.ID, name)
			continue
		}
		changed[name] = value
	}
	if len(changed) == 0 {
		return nil, nil
	}
	all := maps.Clone(t.r.context)
	maps.Copy(all, changed)
	if size := len(wire.MustEncode(all)); size > maxContext {
		return nil, tooMuch("the context of the run", size, maxContext)
	}
	return wire.MustEncode(changed), nil
}
