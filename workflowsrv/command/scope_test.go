package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// A context has its own commands, those of its bases and those around it; the nearest of a name counts.
func TestContexts(t *testing.T) {
	contexts := []string{
		"contexts/Record.yaml", "description: d\nkey: [id]\n",
		"contexts/Shop.yaml", "description: d\nkey: [shop]\n",
		"contexts/Order.yaml", "description: d\nkey: [id]\nparent: Shop\nbases: [Record]\n",
		"contexts/Tools.yaml", "description: a group\n",
		"contexts/More.yaml", "description: a group\n",
	}
	one := func(name, at string) []string {
		return []string{"commands/" + at + ".yaml", "description: d\neffect: read\nparams: {id: {type: string, from_context: id, optional: true}}\ntool: s/" + name + "\n"}
	}
	files := contexts
	files = append(files, one("record_show", "Record/show")...)
	files = append(files, one("record_drop", "Record/drop")...)
	files = append(files, one("order_drop", "Order/drop")...)
	files = append(files, "commands/Shop/show.yaml", "description: d\neffect: read\ntool: s/shop_show\n")
	files = append(files, one("global_show", "show")...)
	files = append(files, one("tools_x", "Tools/x")...)
	files = append(files, one("more_x", "More/x")...)
	files = append(files, one("tools_go_up", "Tools/go_up")...)
	files = append(files, "commands/open_shop.yaml", "description: d\neffect: navigate\nparams: {shop: {type: string}}\ntool: s/open\nenter: Shop\n")
	files = append(files, "commands/Shop/open_order.yaml", "description: d\neffect: navigate\nparams: {id: {type: string}}\ntool: s/open\nenter: {context: Order, values: {note: \"{text}\"}}\n")
	w := folder(t, files...)

	place := func(kind string, pairs ...string) command.Place {
		p := command.Place{Type: kind, Key: map[string]json.RawMessage{}}
		for i := 0; i < len(pairs); i += 2 {
			p.Key[pairs[i]] = json.RawMessage(pairs[i+1])
		}
		return p
	}
	shop := command.Path{place("Shop", "shop", `"a"`)}
	order := append(slices.Clone(shop), place("Order", "id", `"7"`))
	tests := []struct {
		name string
		at   command.Path
		say  string
		call string // "" for a refusal, whose text is then
		text string
	}{
		{"the top", nil, "show", "box/s/global_show {}", ""},
		{"own beats base", order, "drop", `box/s/order_drop {"id":"7"}`, ""},
		{"a base is nearer than the parent", order, "show", `box/s/record_show {"id":"7"}`, ""},
		{"inherited under its own name", order, "Record/show", `box/s/record_show {"id":"7"}`, ""},
		{"inherited under the heir's name", order, "Order/show", `box/s/record_show {"id":"7"}`, ""},
		{"around, without what is nearer", order, "Shop/show", `box/s/shop_show {}`, ""},
		{"overridden", order, "Record/drop", "", "Record/drop is a command of Record, and this is Order 7. No command leads there."},
		{"elsewhere", nil, "drop", "", "Order/drop is a command of Order, and this is global. Go there first: Shop/open_order."},
		{"a group is everywhere", order, "Tools/x", `box/s/tools_x {"id":"7"}`, ""},
		{"a core command is never hidden", order, "go_up", "", "You are at global > Shop a."},
		{"the other of its name", order, "Tools/go_up", `box/s/tools_go_up {"id":"7"}`, ""},
		{"two groups", nil, "x", "", "Several commands are called “x”: More/x, Tools/x"},
		{"unknown", nil, "shw", "", "There is no command “shw” here. Did you mean show"},
		{"unknown, and like nothing", nil, "zzzzzz", "", "what_can_i_do lists the commands"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := &recorder{}
			o, err := command.New(w, command.Options{Caller: r}).Execute(context.Background(), test.at, test.say, command.CallOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(r.calls, "|"); got != test.call || o.Output.Success != (test.call != "" || test.say == command.GoUp) || !strings.Contains(o.Text(), test.text) {
				t.Errorf("got %q and %q, want %q and %q", got, o.Text(), test.call, test.text)
			}
		})
	}

	e := command.New(w, command.Options{Caller: &recorder{}})
	o, err := e.Execute(context.Background(), order, "Shop/open_order <id>8</id>", command.CallOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(o.Path)
	if want := `[{"type":"Shop","key":{"shop":"a"}},{"type":"Order","key":{"id":"8"},"values":{"note":"done"}}]`; err != nil || string(b) != want {
		t.Errorf("got %s, %v, want %s", b, err, want)
	}
	if o, err = e.Execute(context.Background(), order, "open_shop <shop>b</shop>", command.CallOptions{}); err != nil || o.Output.Context != "Shop b" {
		t.Errorf("got %+v, %v, want a context at the top in place of the old path", o, err)
	}

	gone := command.Path{place("Shop", "shop", `"a"`), place("Ordr", "id", `"7"`)}
	_, err = e.Execute(context.Background(), gone, "show", command.CallOptions{})
	var conflict *command.Error
	if !errors.As(err, &conflict) || conflict.Code != 409 || !strings.Contains(err.Error(), "global > Shop a") {
		t.Errorf("got %v, want 409 that names what is left of the path", err)
	}
	for name, path := range map[string]command.Path{"a parent is missing": {order[1]}, "a key is missing": {place("Shop")}, "a group": {place("Tools")}} {
		if kept, whole := w.Resume(path); whole || len(kept) != 0 {
			t.Errorf("%s: got %v, %v, want nothing", name, kept, whole)
		}
	}
	if kept, whole := w.Resume(order); !whole || len(kept) != 2 {
		t.Errorf("got %v, %v, want all of it", kept, whole)
	}
}
