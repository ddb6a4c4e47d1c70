package command_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// What could not be checked is not run, and the answer says which value it was.
func TestFaultG73_UncheckedCommandIsNotRun(t *testing.T) {
	t.Parallel()
	w := folder(t, "commands/purge.yaml", `
description: removes a folder
effect: write
params:
  dir: {type: string, pattern: "^([a-z]+ ?)+$"}
  n: {type: integer, maximum: 10, default: 1}
process: {argv: [purge, "{dir}"]}
`)
	s := &shell{stdout: "PURGED"}
	e := command.New(w, command.Options{Process: s})
	for _, say := range []string{
		"purge <dir>abc ../../etc</dir>",
		"purge <dir>aaaaaaaaaaaaaaaaaaaaaaaaa/../../etc</dir>",
		"purge <dir>aaaaaaaaaaaaaaaaaaaaaaaaa/../../etc</dir><n>999</n>",
		"purge <dir>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/../../etc</dir>",
	} {
		o, err := e.Execute(t.Context(), nil, say, command.CallOptions{Confirmed: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.ran) > 0 || o.Output.Success || o.Problem == nil || len(o.Problem.Invalid) == 0 || o.Problem.Invalid[0].Name != "dir" {
			t.Fatalf("%s: got %q, ran %v, want it refused for dir", say, o.Text(), s.ran)
		}
	}
	o, err := e.Execute(t.Context(), nil, "purge <dir>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/../../etc</dir>", command.CallOptions{Confirmed: true})
	if want := "dir could not be checked: the match took longer than 250 ms"; err != nil || !strings.Contains(o.Text(), want) {
		t.Errorf("got %q, %v, want %q", o.Text(), err, want)
	}
	if o, err := e.Execute(t.Context(), nil, "purge <dir>abc def</dir>", command.CallOptions{Confirmed: true}); err != nil || !o.Output.Success {
		t.Errorf("got %+v, %v, want what can be checked to run", o, err)
	}
}

// Arguments that a schema does not allow reach no tool, wherever in the schema that is said.
func TestFaultG73_EveryFaultIsToldAndRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ schema, good, bad, says string }{
		"a condition that requires": {`{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"if":{"properties":{"a":{"const":"x"}}},"then":{"required":["b"]}}`,
			`{"a":"y"}`, `{"a":"x"}`, "b is missing"},
		"a part that has fewer properties": {`{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"allOf":[{"properties":{"a":{}},"additionalProperties":false}]}`,
			`{"a":"y"}`, `{"a":"x","b":"y"}`, "b is no parameter of s/do"},
		"what is required and not described": {`{"type":"object","required":["a"]}`, `{"a":1}`, `{}`, "a is missing"},
		"too few":                            {`{"type":"object","minProperties":1}`, `{"a":1}`, `{}`, "must not be empty"},
		"of values nobody has listed":        {`{"additionalProperties":{"type":"integer"}}`, `{"a":1}`, `{"a":"x"}`, "a must be integer"},
		"a long name":                        {`{"additionalProperties":{"type":"integer"}}`, `{"a":1}`, `{"` + strings.Repeat("n", 300) + `":"x"}`, "must be integer"},
		"alternatives":                       {`{"properties":{"a":{},"b":{}},"oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{"a":1}`, `{"a":1,"b":2}`, "exactly one alternative"},
		"dependent":                          {`{"properties":{"a":{},"b":{}},"dependentRequired":{"a":["b"]}}`, `{"b":1}`, `{"a":1}`, "b"},
		"nothing":                            {`{"properties":{"a":false}}`, `{}`, `{"a":1}`, "a must not be there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := command.Tool{Toolbox: "box", Server: "s", Raw: []byte(`{"name":"do","annotations":{"readOnlyHint":true},"inputSchema":` + tt.schema + `}`)}
			r := &recorder{}
			e := command.New(command.Project("box", "d", []command.Tool{tool}), command.Options{Caller: r})
			o, err := e.Run(t.Context(), nil, command.Action{CommandName: "s/do", Arguments: []byte(tt.bad)}, command.CallOptions{})
			if err != nil || len(r.calls) > 0 || o.Output.Success || !strings.Contains(o.Text(), tt.says) {
				t.Errorf("%s: got %+v, %v after the calls %q, want it refused: %s", tt.bad, o, err, r.calls, tt.says)
			}
			o, err = e.Run(t.Context(), nil, command.Action{CommandName: "s/do", Arguments: []byte(tt.good)}, command.CallOptions{})
			if err != nil || !o.Output.Success {
				t.Errorf("%s: got %+v, %v, want it to run", tt.good, o, err)
			}
		})
	}
}

// A value that is to exist, and of which nobody could say whether it does, is refused.
func TestFaultG73_LookupThatFailsRefuses(t *testing.T) {
	t.Parallel()
	w := folder(t, "commands/open.yaml", `
description: d
effect: read
params: {id: {type: string, lookup: {tool: s/list, values: /ids/*}}}
http: {url: "https://shop.example/{id}"}
`)
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, `"o%d",`, i)
	}
	list := func(ids string) string { return `{"content":[],"structuredContent":{"ids":[` + ids + `]}}` }
	for name, tt := range map[string]struct {
		recorder *recorder // nil for none
		says     string    // "" where it runs
	}{
		"it exists":      {&recorder{result: map[string]string{"list": list(`"a","o4000"`)}}, ""},
		"among many":     {&recorder{result: map[string]string{"list": list(many.String() + `"z"`)}}, ""},
		"it does not":    {&recorder{result: map[string]string{"list": list(`"a"`)}}, "id does not exist"},
		"nobody answers": {&recorder{err: errors.New("the server s has ended")}, "id could not be checked: the server s has ended"},
		"a failure":      {&recorder{result: map[string]string{"list": `{"isError":true,"content":[{"type":"text","text":"out of order"}]}`}}, "id could not be checked: s/list: out of order"},
		"words":          {&recorder{result: map[string]string{"list": `{"content":[{"type":"text","text":"o4000 is there"}]}`}}, "id could not be checked: s/list returned no data"},
		"no caller":      {nil, "id could not be checked: calling a tool is not allowed here"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := &web{status: 200, body: "ok"}
			opts := command.Options{HTTP: web}
			if tt.recorder != nil {
				opts.Caller = tt.recorder
			}
			o, err := command.New(w, opts).Execute(t.Context(), nil, "open <id>o4000</id>", command.CallOptions{})
			if err != nil || o.Output.Success != (tt.says == "") || len(web.asked) > 0 != (tt.says == "") || !strings.Contains(o.Text(), tt.says) {
				t.Errorf("got %+v, %v after %v, want %q", o, err, web.asked, tt.says)
			}
		})
	}
}

// A word that a pattern is not done with in time is given to nobody: it may be a value of another parameter as well.
func TestFaultG73_UndecidedWordIsNoValue(t *testing.T) {
	t.Parallel()
	w := folder(t, "commands/drop.yaml", `
description: drop a thing
effect: read
params:
  id: {type: string, pattern: "^[a-z!]+$", optional: true}
  dir: {type: string, pattern: "^([a-z]+/?)+$", optional: true}
tool: s/drop
`)
	r := &recorder{}
	o, err := command.New(w, command.Options{Caller: r}).Assist(t.Context(), nil, "/drop "+strings.Repeat("a", 40)+"!!x", command.CallOptions{})
	if err != nil || len(r.calls) > 0 {
		t.Errorf("got %+v, %v after %q, want nothing run with a value that is in doubt", o, err, r.calls)
	}
}
