package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// A recorder is a server that answers with what it was asked.
type recorder struct {
	calls  []string
	result map[string]string // by tool; otherwise the arguments are echoed
	err    error
}

func (r *recorder) CallTool(_ context.Context, toolbox, server, tool string, arguments json.RawMessage) (json.RawMessage, error) {
	r.calls = append(r.calls, fmt.Sprintf("%s/%s/%s %s", toolbox, server, tool, arguments))
	if r.err != nil {
		return nil, r.err
	}
	if result, ok := r.result[tool]; ok {
		return json.RawMessage(result), nil
	}
	return json.RawMessage(`{"content":[{"type":"text","text":"done"}],"structuredContent":` + string(arguments) + `}`), nil
}

// folder makes a workflow of files, each given as its name and its text.
func folder(t testing.TB, files ...string) *command.Workflow {
	t.Helper()
	f := fstest.MapFS{"workflow.yaml": {Data: []byte("name: Test\ndescription: d\ntoolbox: box\n")}}
	for i := 0; i < len(files); i += 2 {
		f[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	w, err := command.Load(f, command.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestValues(t *testing.T) {
	w := folder(t, "commands/all.yaml", `
description: takes all
effect: read
params:
  text: {type: string, optional: true}
  whole: {type: integer, optional: true, minimum: 1}
  any_number: {type: number, optional: true}
  flag: {type: boolean, optional: true}
  many: {type: array, items: {type: integer}, optional: true}
  words: {type: array, items: {type: string}, optional: true}
  thing: {type: object, optional: true}
  either: {type: [integer, string], optional: true}
  maybe: {type: [integer, "null"], optional: true}
  choice: {enum: [low, 2, true], optional: true}
  color: {type: string, enum: [red, green], optional: true}
  code: {type: string, pattern: "^[A-Z]{3}$", optional: true}
tool: s/all
`)
	tests := []struct{ tags, want, invalid string }{
		{"<text>42</text>", `{"text":"42"}`, ""},
		{"<text>{\"a\":1}</text>", `{"text":"{\"a\":1}"}`, ""},
		{"<text></text>", `{"text":""}`, ""},
		{"<whole>12345678901234567890</whole>", `{"whole":12345678901234567890}`, ""},
		{"<whole>0</whole>", "", "whole must be at least 1"},
		{"<whole>x</whole>", "", `whole must be integer`},
		{"<any_number>1.50</any_number>", `{"any_number":1.50}`, ""},
		{"<flag>True</flag>", `{"flag":true}`, ""},
		{"<flag>yes</flag>", "", `flag must be boolean`},
		{"<many>1</many><many>2</many>", `{"many":[1,2]}`, ""},
		{"<many>[1, 2]</many>", `{"many":[1,2]}`, ""},
		{"<many>1</many>", `{"many":[1]}`, ""},
		{"<many>1</many><many>x</many>", "", "many item 2 must be integer"},
		{"<words>[a</words>", `{"words":["[a"]}`, ""},
		{"<words>[1]</words>", "", "words 0: must be string"},
		{`<thing>{"a": [1, 2]}</thing>`, `{"thing":{"a":[1,2]}}`, ""},
		{"<thing>[1]</thing>", "", `thing must be object`},
		{"<either>7</either>", `{"either":7}`, ""},
		{"<either>007</either>", `{"either":"007"}`, ""},
		{"<maybe>null</maybe>", `{"maybe":null}`, ""},
		{"<choice>low</choice>", `{"choice":"low"}`, ""},
		{"<choice>2</choice>", `{"choice":2}`, ""},
		{"<choice>3</choice>", "", "choice must be one of"},
		{"<color>grean</color>", "", "color must be one of"},
		{"<code>ABCD</code>", "", "code must match the pattern ^[A-Z]{3}$"},
	}
	for _, test := range tests {
		t.Run(test.tags, func(t *testing.T) {
			r := &recorder{}
			o, err := command.New(w, command.Options{Caller: r}).Execute(context.Background(), nil, "all "+test.tags, command.CallOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if test.invalid != "" {
				if len(r.calls) > 0 || o.Output.Success || o.Problem == nil || len(o.Problem.Invalid) != 1 {
					t.Fatalf("got calls %q, %+v, want one invalid value and no call", r.calls, o.Problem)
				}
				if bad := o.Problem.Invalid[0]; !strings.HasPrefix(bad.Name+" "+bad.Reason, test.invalid) {
					t.Errorf("got %s %s, want %s", bad.Name, bad.Reason, test.invalid)
				}
				return
			}
			if want := []string{"box/s/all " + test.want}; !slices.Equal(r.calls, want) {
				t.Errorf("got %q, want %q (%s)", r.calls, want, o.Text())
			}
		})
	}
	o, err := command.New(w, command.Options{}).Execute(context.Background(), nil, "all <color>grean</color>", command.CallOptions{})
	if err != nil || !slices.Equal(o.Problem.Suggestions["color"], []string{"green"}) {
		t.Errorf("got %+v, %v, want green to be suggested", o, err)
	}
	_, err = command.New(w, command.Options{}).Execute(context.Background(), nil, "all <text>a</text><text>b</text>", command.CallOptions{})
	var bad *command.Error
	if !errors.As(err, &bad) || bad.Code != 422 || bad.Offset != 18 {
		t.Errorf("got %v, want 422 for a text that is given twice", err)
	}
}

// What the arguments of a tool are made of, and what of its result is kept.
func TestBindingTool(t *testing.T) {
	w := folder(t, "commands/get.yaml", `
description: gets
effect: read
params:
  id: {type: integer}
  tag: {type: string, optional: true}
  size: {type: integer, default: 10}
tool:
  name: s/get
  toolbox: other
  arguments: {ref: "item-{id}", id: "{id}", tag: "{tag}", list: ["{tag}", "{size}"], fixed: true, brace: "{{x}}"}
outputs: {name: /item/name, none: /gone}
reply: "{name} ({id}) {text}"
`)
	r := &recorder{result: map[string]string{"get": `{"content":[{"type":"text","text":"T"},{"type":"image","data":"AA==","mimeType":"image/png"}],"structuredContent":{"item":{"name":"N","n":1.0}}}`}}
	o, err := command.New(w, command.Options{Caller: r}).Execute(context.Background(), nil, "get <id>5</id>", command.CallOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := `other/s/get {"brace":"{x}","fixed":true,"id":5,"list":[10],"ref":"item-5"}`; r.calls[0] != want {
		t.Errorf("got %s, want %s", r.calls[0], want)
	}
	if got, want := o.Text(), "N (5) T\n(the result has no none)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b, err := json.Marshal(o.Output.CommandResponses[0].Artifacts)
	if want := `{"content":[{"type":"image","data":"AA==","mimeType":"image/png"}],"name":"N"}`; err != nil || string(b) != want {
		t.Errorf("got %s, %v, want %s", b, err, want)
	}
}

// Results as servers write them, and what of them is kept.
func TestToolResults(t *testing.T) {
	w := folder(t, "commands/do.yaml", "description: d\neffect: read\ntool: s/do\n")
	tests := []struct{ name, result, text, artifacts string }{
		{"text alone", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "a\nb", "null"},
		{"text that is data", `{"content":[{"type":"text","text":" {\"n\": 1} "}]}`, ` {"n": 1} `, `{"n":1}`},
		{"a list", `{"content":[],"structuredContent":[1,2]}`, "", `{"result":[1,2]}`},
		{"nothing structured, and a picture", `{"content":[{"type":"image","data":"A"}],"structuredContent":null}`, "", `{"content":[{"type":"image","data":"A"}]}`},
		{"nothing", `{}`, "", "null"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := &recorder{result: map[string]string{"do": test.result}}
			o, err := command.New(w, command.Options{Caller: r}).Execute(context.Background(), nil, "do", command.CallOptions{})
			if err != nil || !o.Output.Success {
				t.Fatalf("got %+v, %v", o, err)
			}
			artifacts, err := json.Marshal(o.Output.CommandResponses[0].Artifacts)
			if err != nil || o.Text() != test.text || string(artifacts) != test.artifacts {
				t.Errorf("got %q and %s, %v, want %q and %s", o.Text(), artifacts, err, test.text, test.artifacts)
			}
		})
	}
}

// Whatever is deeper nested than a message can be stays text, or is refused before the command runs.
func TestDeeplyNested(t *testing.T) {
	deep := strings.Repeat("[", 510) + "\"]\\\"]\"" + strings.Repeat("]", 510)
	w := folder(t, "commands/say.yaml", "description: d\neffect: read\nprocess: {argv: [say]}\n",
		"commands/ask.yaml", "description: d\neffect: read\nhttp: {url: \"http://127.0.0.1/x\"}\n",
		"commands/text.yaml", "description: d\neffect: read\ntool: s/text\n",
		"commands/data.yaml", "description: d\neffect: read\ntool: s/data\n",
		"commands/take.yaml", "description: d\neffect: read\nparams: {x: {type: array}}\ntool: s/take\n")
	r := &recorder{result: map[string]string{"text": `{"content":[{"type":"text","text":` + strconv.Quote(deep) + `}]}`,
		"data": `{"content":[{"type":"text","text":"T"},{"type":"image","data":"","mimeType":"x/y"}],"structuredContent":{"x":` + deep + `}}`}}
	e := command.New(w, command.Options{Caller: r, Process: &shell{stdout: deep}, HTTP: &web{status: 200, body: deep}})
	run := func(name, arguments string) *command.Outcome {
		o, err := e.Run(t.Context(), nil, command.Action{CommandName: name, Arguments: json.RawMessage(arguments)}, command.CallOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var m wire.Message
		if err := wire.Scan(wire.AppendResult(nil, []byte("1"), wire.MustEncode(o)), &m); err != nil {
			t.Errorf("%s: got %v, want an outcome that can be sent", name, err)
		}
		return o
	}
	for _, name := range []string{"say", "ask", "text"} {
		if o := run(name, "{}"); !o.Output.Success || o.Text() != deep {
			t.Errorf("%s: got %v, %q, want the text as it is", name, o.Output.Success, o.Text())
		}
	}
	if o := run("data", "{}"); !o.Output.Success || !strings.HasPrefix(o.Text(), "T\n(the result is nested deeper than 256 levels") {
		t.Errorf("got %v, %q, want the text, and that there is more", o.Output.Success, o.Text())
	}
	if o := run("take", `{"x":`+deep+`}`); o.Output.Success || !strings.Contains(o.Text(), "x is nested deeper than 256 levels") || len(r.calls) != 2 {
		t.Errorf("got %v, %q and the calls %q, want none with that value", o.Output.Success, o.Text(), r.calls)
	}
}

func TestFailures(t *testing.T) {
	w := folder(t, "commands/do.yaml", "description: d\neffect: write\ntool: s/do\n")
	tests := []struct {
		name   string
		caller command.Caller
		text   string
	}{
		{"the tool refuses", &recorder{result: map[string]string{"do": `{"content":[{"type":"text","text":"no such thing"}],"isError":true}`}}, "no such thing"},
		{"the server is gone", &recorder{err: errors.New(`server "s" ended: exit status 3`)}, `server "s" ended: exit status 3`},
		{"the result is none", &recorder{result: map[string]string{"do": `[]`}}, "cannot be read"},
		{"nobody calls tools here", nil, "calling a tool is not allowed here"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o, err := command.New(w, command.Options{Caller: test.caller}).Execute(context.Background(), nil, "do", command.CallOptions{})
			if err != nil || o.Output.Success || o.Status != command.Completed || !strings.Contains(o.Text(), test.text) {
				t.Errorf("got %+v, %v, want a failure with %q", o, err, test.text)
			}
		})
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("the client has gone")
	cancel(why)
	if _, err := command.New(w, command.Options{Caller: &recorder{}}).Execute(ctx, nil, "do", command.CallOptions{}); !errors.Is(err, why) {
		t.Errorf("got %v, want the cause of the context", err)
	}
}

func TestTraces(t *testing.T) {
	w := folder(t, "commands/do.yaml", "description: d\neffect: write\nparams: {x: {type: integer}}\ntool: s/do\n")
	now := func() time.Time { return time.UnixMilli(1712345678901) }
	e := command.New(w, command.Options{Caller: &recorder{}, Now: now})
	o, err := e.Execute(context.Background(), nil, "do <x>1</x>", command.CallOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(o.Output)
	want := `{"success":true,"workflow_name":"Test","context":"global","command_name":"do","command_parameters":{"x":1},` +
		`"command_responses":[{"response":"done","artifacts":{"x":1},"next_actions":null,"recommendations":null}],"traces":[` +
		`{"timestamp":1712345678901,"direction":"agent_to_workflow","raw_command":"do \u003cx\u003e1\u003c/x\u003e","command_name":"do","parameters":{"x":1},"response_text":null,"success":null},` +
		`{"timestamp":1712345678901,"direction":"workflow_to_agent","raw_command":"do \u003cx\u003e1\u003c/x\u003e","command_name":"do","parameters":{"x":1},"response_text":"done","success":true}]}`
	if err != nil || string(b) != want {
		t.Errorf("got  %s, %v\nwant %s", b, err, want)
	}
	var events []command.TraceEvent
	o, err = e.Execute(context.Background(), nil, "do <x>y</x>", command.CallOptions{Trace: func(ev command.TraceEvent) { events = append(events, ev) }})
	if err != nil || len(events) != 2 || o.Output.Traces != nil || *events[1].Success {
		t.Errorf("got %d events, traces %v, %v, want two events and no traces", len(events), o.Output.Traces, err)
	}
	b, err = json.Marshal(o.Result())
	if want := `{"response_text":"do was not run. x must be integer, got \"y\".","success":false,"invalid":[{"name":"x","value":"y","reason":"must be integer"}]}`; err != nil || string(b) != want {
		t.Errorf("got  %s, %v\nwant %s", b, err, want)
	}
}

// Run takes values, and judges their names and types.
func TestRun(t *testing.T) {
	w := folder(t, "commands/do.yaml", "description: d\neffect: write\nparams: {count: {type: integer}}\ntool: s/do\n")
	tests := []struct{ arguments, want, problem string }{
		{`{"count": 3}`, `box/s/do {"count":3}`, ""},
		{`{"cuont": 3}`, "", "count is missing. cuont is no parameter of do, got 3; did you mean count?"},
		{`{"count": "3"}`, "", `count must be integer, got "3"`},
		{``, "", "count is missing"},
	}
	for _, test := range tests {
		r := &recorder{}
		o, err := command.New(w, command.Options{Caller: r}).Run(context.Background(), nil, command.Action{CommandName: "do", Arguments: json.RawMessage(test.arguments)}, command.CallOptions{})
		if err != nil || strings.Join(r.calls, "|") != test.want || !strings.Contains(o.Text(), test.problem) {
			t.Errorf("%s: got %q, %q, %v, want %q, %q", test.arguments, r.calls, o.Text(), err, test.want, test.problem)
		}
	}
	if _, err := command.New(w, command.Options{}).Run(context.Background(), nil, command.Action{CommandName: "do", Arguments: json.RawMessage(`[1]`)}, command.CallOptions{}); err == nil {
		t.Error("got no error for arguments that are no object")
	}
}

// A projected tool is called with what its schema says, and its server judges what we cannot.
func TestProjectedCall(t *testing.T) {
	w := command.Project("dev", "d", tools())
	r := &recorder{}
	e := command.New(w, command.Options{Caller: r})
	for _, say := range []string{"fs/read <path>a.txt</path><head>3</head>", "web/odd_name", "read <path>x</path>"} {
		if o, err := e.Execute(context.Background(), nil, say, command.CallOptions{}); err != nil || !o.Output.Success {
			t.Fatalf("%s: got %+v, %v", say, o, err)
		}
	}
	want := []string{`dev/fs/read {"path":"a.txt","head":3}`, `dev/web/odd name {}`, `dev/fs/read {"path":"x"}`}
	if !slices.Equal(r.calls, want) {
		t.Errorf("got %q, want %q", r.calls, want)
	}
}

// Format writes what Execute reads back.
func TestFormat(t *testing.T) {
	w := folder(t, "commands/do.yaml", "description: d\neffect: write\nparams: {a: {type: string}, b: {type: array, items: {type: integer}}}\ntool: s/do\n")
	r := &recorder{}
	e := command.New(w, command.Options{Caller: r})
	for _, value := range []string{"x", " <b>&amp; ", "]]>", "</a>", "", "\n"} {
		r.calls = nil
		a := command.Action{CommandName: "do", Arguments: json.RawMessage(fmt.Sprintf(`{"a":%q,"b":[1,2]}`, value))}
		text := w.Format(a)
		if o, err := e.Execute(context.Background(), nil, text, command.CallOptions{}); err != nil || !o.Output.Success {
			t.Errorf("%q as %q: got %v, %v", value, text, o, err)
			continue
		}
		if want := fmt.Sprintf(`box/s/do {"a":%q,"b":[1,2]}`, value); r.calls[0] != want {
			t.Errorf("%q as %q: got %s, want %s", value, text, r.calls[0], want)
		}
	}
}

// What was chosen by something that may be wrong asks before it changes anything.
func TestInferred(t *testing.T) {
	for _, tt := range []struct {
		effect string
		opts   command.CallOptions
		asks   bool
	}{
		{"read", command.CallOptions{Inferred: true}, false},
		{"navigate", command.CallOptions{Inferred: true}, false},
		{"write", command.CallOptions{Inferred: true}, true},
		{"external", command.CallOptions{Inferred: true}, true},
		{"write", command.CallOptions{Inferred: true, Confirmed: true}, false},
		{"write", command.CallOptions{}, false},
	} {
		w := folder(t, "commands/it.yaml", "description: does it\neffect: "+tt.effect+"\ntool: shop/it\n")
		server := &recorder{}
		o, err := command.New(w, command.Options{Caller: server}).Run(t.Context(), nil, command.Action{CommandName: "it"}, tt.opts)
		if err != nil {
			t.Fatal(err)
		}
		if asks := o.Status == command.AwaitingUser; asks != tt.asks || asks == (len(server.calls) > 0) {
			t.Errorf("%s, %+v: got the status %s and the calls %q", tt.effect, tt.opts, o.Status, server.calls)
		}
	}
}
