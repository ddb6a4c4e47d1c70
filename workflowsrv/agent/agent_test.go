package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mcp-workbench/workbench/internal/model"
	"github.com/mcp-workbench/workbench/internal/model/modeltest"
	"github.com/mcp-workbench/workbench/workflowsrv/agent"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/command/example"
	"github.com/mcp-workbench/workbench/workflowsrv/commandsrv"
)

// A desk is the bookshop of the example, worked by an agent.
type desk struct {
	*testing.T
	engine *command.Engine
	agent  *agent.Agent
	model  *modeltest.Server
	path   command.Path
	traces []command.TraceEvent
	said   []string // the pieces, each behind the number of its reply
}

func newDesk(t *testing.T, script ...modeltest.Answer) *desk {
	t.Helper()
	shop := example.New()
	w, err := command.Load(example.Files(), command.LoadOptions{Tools: shop.Tools()})
	if err != nil {
		t.Fatal(err)
	}
	return worked(t, command.New(w, command.Options{Caller: shop}), script...)
}

func worked(t *testing.T, e *command.Engine, script ...modeltest.Answer) *desk {
	t.Helper()
	s := modeltest.New(t, script...)
	c, err := model.New(s.URL, model.Options{Models: model.Models{Default: "worker", Planner: "planner"}})
	if err != nil {
		t.Fatal(err)
	}
	return &desk{T: t, engine: e, agent: agent.New(c, agent.Options{}), model: s}
}

func (d *desk) request(query string) commandsrv.AgentRequest {
	return commandsrv.AgentRequest{Engine: d.engine, Path: d.path, Query: query, Trace: func(ev command.TraceEvent) { d.traces = append(d.traces, ev) },
		Text: func(reply int, piece string) { d.said = append(d.said, fmt.Sprintf("%d %s", reply, piece)) }}
}

// run works on a request, and goes on from where the session then stands.
func (d *desk) run(r commandsrv.AgentRequest) *commandsrv.AgentResult {
	d.Helper()
	got, err := d.agent.Run(d.Context(), r)
	if err != nil {
		d.Fatal(err)
	}
	d.path = got.Path
	return got
}

func text(r *commandsrv.AgentResult) string { return r.Output.CommandResponses[0].Response }

// want compares the status, the success and a piece of the answer.
func (d *desk) want(r *commandsrv.AgentResult, status command.Status, success bool, piece string) {
	d.Helper()
	if r.Status != status || r.Output.Success != success || !strings.Contains(text(r), piece) {
		d.Errorf("got %s, %v, %q\nwant %s, %v, %q", r.Status, r.Output.Success, text(r), status, success, piece)
	}
}

// last gives the last message that the model got in one of its requests.
func (d *desk) last(request int) string {
	messages := d.model.Requests()[request].Messages
	return messages[len(messages)-1].Content
}

func (d *desk) wantLast(request int, piece string) {
	d.Helper()
	if got := d.last(request); !strings.Contains(got, piece) {
		d.Errorf("request %d: got the last message %q, want %q in it", request, got, piece)
	}
}

// status asks the shop for the state of an order.
func (d *desk) status(order string) string {
	d.Helper()
	o, err := d.engine.Execute(d.Context(), nil, "list_orders", command.CallOptions{})
	if err != nil {
		d.Fatal(err)
	}
	for _, line := range strings.Split(o.Text(), "\n") {
		if strings.HasPrefix(line, order) {
			return line[strings.LastIndex(line, " ")+1:]
		}
	}
	return ""
}

// The answers that scripts are made of.
func plan() modeltest.Answer      { return modeltest.Text("1. open_order\n2. Order/cancel_order") }
func openOrder() modeltest.Answer { return modeltest.Calls("open_order", `{"order_id":"44821"}`) }
func cancelOrder() modeltest.Answer {
	return modeltest.Calls("Order__cancel_order", `{"reason":"late"}`)
}
func done() modeltest.Answer { return modeltest.Text("That is done.") }

// The model sees the tools of the place where it stands, and answers in words when it is done.
func TestRun(t *testing.T) {
	d := newDesk(t, plan(), modeltest.Calls("list_orders", `{"status":"open"}`, "open_order", `{"order_id":"44821"}`), modeltest.Calls("Order__show_order", `{}`), done())
	r := d.request("What is in the order of Ada Reed?")
	r.History = []commandsrv.Exchange{{Query: "hello", Answer: "hello yourself", Own: true}}
	got := d.run(r)
	d.want(got, command.Completed, true, "That is done.")
	if got.Output.Context != "Order 44821 of Ada Reed" || len(got.Path) != 1 {
		t.Errorf("got the context %q and the path %v", got.Output.Context, got.Path)
	}
	var orders struct{ Orders []json.RawMessage }
	if err := json.Unmarshal(got.Output.CommandResponses[0].Artifacts["list_orders"], &orders); err != nil || len(orders.Orders) != 2 {
		t.Errorf("got the artifacts %s", got.Output.CommandResponses[0].Artifacts)
	}

	asked := d.model.Requests()
	var models []string
	for _, r := range asked {
		models = append(models, r.Model)
	}
	if want := []string{"planner", "worker", "worker", "worker"}; !slices.Equal(models, want) {
		t.Errorf("got the models %q, want %q", models, want)
	}
	d.wantLast(0, "- Order/cancel_order(order_id?, reason) write, at Order: Cancel the order")
	d.wantLast(0, "- open_order(order_id from list_orders or place_order) navigate, leads to Order:")
	first := asked[1].Messages
	if len(first) != 4 || first[1].Content != "hello" || first[2].Role != "assistant" ||
		first[3].Content != "What is in the order of Ada Reed?\n\nThe session is at global.\n\nA plan:\n1. open_order\n2. Order/cancel_order" {
		t.Errorf("got the messages %+v", first)
	}
	d.wantLast(2, "The session is at global > Order 44821 of Ada Reed now.\nOrder 44821 of Ada Reed, open:")
	if before, after := asked[1].Names(), asked[2].Names(); slices.Contains(before, "Order__show_order") || !slices.Contains(after, "Order__show_order") ||
		!slices.Contains(before, "ask_user") || slices.Contains(after, "abort") {
		t.Errorf("got the tools %q and then %q", before, after)
	}

	var events []string
	for _, ev := range d.traces {
		name := "plan"
		if ev.CommandName != nil {
			name = *ev.CommandName
		}
		events = append(events, fmt.Sprintf("%s %s", ev.Direction, name))
	}
	want := []string{"workflow_to_agent plan", "agent_to_workflow list_orders", "workflow_to_agent list_orders", "agent_to_workflow open_order",
		"workflow_to_agent open_order", "agent_to_workflow Order/show_order", "workflow_to_agent Order/show_order"}
	if !slices.Equal(events, want) {
		t.Errorf("got the events\n%q\nwant\n%q", events, want)
	}
}

// What changes something waits for the user, whose answer comes with a later call.
func TestConfirmLater(t *testing.T) {
	for _, tt := range []struct {
		name, reply string
		status      string // of the order, afterwards
		result      string // what the model is told
		replanned   bool
	}{
		{"yes", "yes", "cancelled", "Order 44821 is cancelled: late.", false},
		{"form", `{"confirm":true}`, "cancelled", "Order 44821 is cancelled: late.", false},
		{"no", "no", "open", "The user does not agree.", true},
		{"a command", "/reset_context", "open", "neither yes nor no: reset_context", true},
		{"something else", "the other one", "open", "neither yes nor no: the other one", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			script := []modeltest.Answer{plan(), openOrder(), cancelOrder()}
			if tt.replanned {
				script = append(script, modeltest.Text("1. leave it"))
			}
			d := newDesk(t, append(script, done())...)
			got := d.run(d.request("cancel the order of Ada Reed, it is late"))
			d.want(got, command.AwaitingUser, false, `Run Order/cancel_order with order_id "44821", reason "late" at Order 44821 of Ada Reed?`)
			if got.Question != text(got) || !strings.Contains(string(got.Form), `"confirm"`) || len(got.Output.CommandResponses[0].NextActions) != 1 {
				t.Errorf("got %+v", got)
			}
			if status := d.status("44821"); status != "open" {
				t.Fatalf("got the order %s before anybody agreed", status)
			}
			r := d.request(tt.reply)
			r.State = got.State
			got = d.run(r)
			d.want(got, command.Completed, true, "That is done.")
			if status := d.status("44821"); status != tt.status {
				t.Errorf("got the order %s, want it %s", status, tt.status)
			}
			requests := d.model.Requests()
			d.wantLast(len(requests)-1, tt.result)
			if tt.replanned {
				d.wantLast(len(requests)-1, "A plan for what is left:\n1. leave it")
				d.wantLast(len(requests)-2, "called Order__cancel_order")
			}
		})
	}
}

// A session that has gone elsewhere meanwhile has not what was to be confirmed.
func TestConfirmElsewhere(t *testing.T) {
	d := newDesk(t, plan(), openOrder(), cancelOrder(), modeltest.Text("1. open_order"), done())
	got := d.run(d.request("cancel the order of Ada Reed, it is late"))
	d.want(got, command.AwaitingUser, false, "Run Order/cancel_order")
	d.path = nil
	r := d.request("yes")
	r.State = got.State
	d.want(d.run(r), command.Completed, false, "That is done.")
	d.wantLast(4, "Order/cancel_order is a command of Order, and this is global. Go there first: open_order.")
	if status := d.status("44821"); status != "open" {
		t.Errorf("got the order %s", status)
	}
}

// asks answers the questions of a run, in their order.
func asks(t *testing.T, replies ...string) func(context.Context, string, json.RawMessage) (string, bool, error) {
	return func(_ context.Context, question string, form json.RawMessage) (string, bool, error) {
		if len(replies) == 0 || question == "" || !json.Valid(form) {
			t.Errorf("the user is asked %q with the form %s, want %d questions more", question, form, len(replies))
			return "", false, nil
		}
		reply := replies[0]
		replies = replies[1:]
		return reply, reply != "", nil
	}
}

// Where the user can be asked meanwhile, all goes on in one call.
func TestAskMeanwhile(t *testing.T) {
	d := newDesk(t, plan(), modeltest.Calls("ask_user", `{"question":"Which order?","options":["44821","44830"]}`), plan(), openOrder(), cancelOrder(),
		cancelOrder(), modeltest.Text("1. leave it"), done())
	r := d.request("cancel the order, it is late")
	r.Ask = asks(t, `{"answer":"44821"}`, "yes", "")
	got := d.run(r)
	d.want(got, command.Completed, true, "That is done.")
	d.wantLast(3, "The user answers: 44821\n\nA plan for what is left:\n1. open_order")
	d.wantLast(5, "Order 44821 is cancelled: late.")
	d.wantLast(7, "The user did not answer. Nothing was run.")
}

// Where the user cannot be reached any more, the question stays.
func TestAskInVain(t *testing.T) {
	d := newDesk(t, plan(), openOrder(), cancelOrder(), done())
	r := d.request("cancel the order, it is late")
	r.Ask = func(context.Context, string, json.RawMessage) (string, bool, error) {
		return "", false, errors.New("gone")
	}
	got := d.run(r)
	d.want(got, command.AwaitingUser, false, "Run Order/cancel_order")
	r = d.request("yes")
	r.State = got.State
	d.want(d.run(r), command.Completed, true, "That is done.")
	if status := d.status("44821"); status != "cancelled" {
		t.Errorf("got the order %s, want it cancelled", status)
	}
}

// A question of the model leaves with the result, and the answer comes back with what was going on.
func TestAskLater(t *testing.T) {
	d := newDesk(t, plan(), modeltest.Calls("list_orders", `{}`), modeltest.Calls("ask_user", `{"question":"Which order?"}`, "open_order", `{"order_id":"44821"}`),
		modeltest.Text("1. open the one of Ines"), done())
	got := d.run(d.request("open an order"))
	d.want(got, command.AwaitingUser, false, "Which order?")
	if len(got.Path) != 0 {
		t.Errorf("got the path %v: a call behind the question was carried out", got.Path)
	}
	r := d.request("that of Ines")
	r.State = got.State
	r.History = []commandsrv.Exchange{{Query: "hello", Answer: "hello yourself", Own: true}, {Query: "open an order", Answer: "Which order?"}}
	d.want(d.run(r), command.Completed, true, "That is done.")
	asked := d.model.Requests()
	last := asked[len(asked)-1].Messages
	if n := len(last); last[n-1].Content != "The user answers: that of Ines\n\nA plan for what is left:\n1. open the one of Ines" ||
		!strings.HasPrefix(last[n-2].Content, "Not carried out: a question goes to the user first.") || !strings.Contains(last[5].Content, "44821") ||
		last[1].Content != "hello" || !strings.HasPrefix(last[3].Content, "open an order\n\nThe session is at global.") {
		t.Errorf("got the messages %+v", last)
	}
}

// A wrong parameter is explained, and planned anew.
func TestReplan(t *testing.T) {
	d := newDesk(t, plan(), modeltest.Calls("open_order", `{"order_id":"44822"}`), modeltest.Text("1. open 44821"), openOrder(), done())
	d.want(d.run(d.request("open the order of Ada")), command.Completed, true, "That is done.")
	d.wantLast(3, "order_id does not exist, got \"44822\"; did you mean 44821")
	d.wantLast(3, "A plan for what is left:\n1. open 44821")
}

// A model that only does what brings nothing is stopped.
func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer modeltest.Answer
		times  int
		told   string // what the model is told the last time but one
		want   string
	}{
		{"unknown command", modeltest.Calls("list_order", `{}`), 3, "There is no command “list_order” here. Did you mean list_orders?", "the same call of list_order again and again"},
		{"a command of another place", modeltest.Calls("Order__cancel_order", `{"reason":"late"}`), 3, "Go there first: open_order", "the same call of Order__cancel_order again and again"},
		{"no name", modeltest.Calls("", `{}`), 3, "There is no command", "the same call of a tool without a name again and again"},
		{"malformed arguments", modeltest.Calls("list_orders", `{"status":`), 3, "not a JSON object", "the arguments of list_orders were not JSON"},
		{"arguments in a list", modeltest.Calls("list_orders", `["open"]`), 3, "not a JSON object", "the arguments of list_orders were not JSON"},
		{"endless arguments", modeltest.Calls("list_orders", `{"status":"`+strings.Repeat("a", 100_000)+`"}`), 3, "at most 65536 bytes", "were not JSON"},
		{"nothing", modeltest.Text(" "), 3, "Your reply was empty.", "its reply was empty"},
		{"an empty question", modeltest.Calls("ask_user", `{}`), 3, "the question is empty", "the same call of ask_user"},
		{"the same call", modeltest.Calls("list_orders", `{}`), 5, "you have made this call with these arguments before", "the same call of list_orders again and again"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, append([]modeltest.Answer{plan()}, slices.Repeat([]modeltest.Answer{tt.answer}, tt.times)...)...)
			got := d.run(d.request("what is there?"))
			d.want(got, command.Completed, false, "The model could not go on: 3 times in a row")
			d.want(got, command.Completed, false, tt.want)
			d.wantLast(tt.times, tt.told)
		})
	}
}

// Each fault counts, whatever it is.
func TestFaultsOfAllKinds(t *testing.T) {
	d := newDesk(t, plan(), modeltest.Text(""), modeltest.Calls("list_orders", `[]`), modeltest.Calls("burn", `{}`))
	d.want(d.run(d.request("what is there?")), command.Completed, false, "the last time because there is no command burn.")
}

// A fault now and then does no harm.
func TestFaultsBetween(t *testing.T) {
	bad := modeltest.Calls("nonsense", `{}`)
	d := newDesk(t, plan(), bad, bad, openOrder(), bad, bad, modeltest.Calls("Order__show_order", `{}`), bad, bad, done())
	d.want(d.run(d.request("show the order")), command.Completed, true, "That is done.")
}

// The same call after something was changed is none of a loop.
func TestSameCallAfterChange(t *testing.T) {
	look, note := modeltest.Calls("Order__show_order", `{}`), modeltest.Calls("Order__add_note", `{"note":"x"}`)
	d := newDesk(t, plan(), openOrder(), look, look, note, look, look, done())
	r := d.request("note x")
	r.Ask = asks(t, "yes")
	d.want(d.run(r), command.Completed, true, "That is done.")
	d.wantLast(7, "Note: x")
}

func TestRounds(t *testing.T) {
	script := []modeltest.Answer{plan()}
	for i := range 25 {
		script = append(script, modeltest.Calls("search_books", fmt.Sprintf(`{"words":"book %d"}`, i)))
	}
	d := newDesk(t, script...)
	got := d.run(d.request("find all books"))
	d.want(got, command.Completed, false, "The model was stopped after 25 rounds without an answer")
	d.wantLast(25, "This is your last reply.")
}

// The last reply may be an answer, of what has not come to its end.
func TestLastRound(t *testing.T) {
	script := []modeltest.Answer{plan()}
	for i := range 24 {
		script = append(script, modeltest.Calls("search_books", fmt.Sprintf(`{"words":"book %d"}`, i)))
	}
	d := newDesk(t, append(script, modeltest.Text("I found none so far."))...)
	d.want(d.run(d.request("find all books")), command.Completed, false, "I found none so far.")
}

// The bound is that of the instruction, whatever the user is asked in between.
func TestRoundsAcrossQuestions(t *testing.T) {
	var script []modeltest.Answer
	for i := range 25 {
		if i < 6 {
			script = append(script, plan())
		}
		script = append(script, modeltest.Calls("ask_user", fmt.Sprintf(`{"question":"And what about %d?"}`, i)))
	}
	d := newDesk(t, script...)
	got := d.run(d.request("do it"))
	for i := 0; i < 24; i++ {
		d.want(got, command.AwaitingUser, false, fmt.Sprintf("And what about %d?", i))
		r := d.request("hm")
		r.State = got.State
		got = d.run(r)
	}
	d.want(got, command.Completed, false, "The model was stopped after 25 rounds")
}

func TestManyCallsAtOnce(t *testing.T) {
	var calls []string
	for i := range 40 {
		calls = append(calls, "search_books", fmt.Sprintf(`{"words":"book %d"}`, i))
	}
	d := newDesk(t, plan(), modeltest.Calls(calls...), done())
	d.want(d.run(d.request("find all")), command.Completed, true, "That is done.")
	d.wantLast(2, "Only the first 5 calls were carried out.")
	if n := len(d.traces); n != 11 {
		t.Errorf("got %d events, want those of a plan and 5 calls", n)
	}
}

// A model that fails before anything was done is an error; later the user is told what was done.
func TestModelFails(t *testing.T) {
	refused := modeltest.Body(400, `{"error":{"message":"out of order"}}`)
	for _, tt := range []struct {
		name   string
		script []modeltest.Answer
		want   string
	}{
		{"the plan", []modeltest.Answer{refused}, `making a plan: model "planner": HTTP 400 Bad Request: out of order`},
		{"the first reply", []modeltest.Answer{plan(), refused}, `model "worker": HTTP 400 Bad Request: out of order`},
		{"after a look", []modeltest.Answer{plan(), modeltest.Calls("list_orders", "{}"), refused}, "out of order"},
		{"an endless reply", []modeltest.Answer{plan(), modeltest.Endless()}, "the reply is too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, tt.script...)
			got, err := d.agent.Run(t.Context(), d.request("cancel it"))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %+v, %v, want the error %q", got, err, tt.want)
			}
		})
	}
	t.Run("after a change", func(t *testing.T) {
		d := newDesk(t, plan(), openOrder(), cancelOrder(), refused)
		r := d.request("cancel it")
		r.Ask = asks(t, "yes")
		got := d.run(r)
		d.want(got, command.Completed, false, "The work was broken off: model \"worker\": HTTP 400 Bad Request: out of order. Some of it was done before that.")
		if len(got.Path) != 1 {
			t.Errorf("got the path %v, want that of the order", got.Path)
		}
	})
}

func TestCancelled(t *testing.T) {
	why := errors.New("the server stops")
	ctx, cancel := context.WithCancelCause(t.Context())
	d := newDesk(t, plan(), openOrder())
	r := d.request("cancel it")
	trace := r.Trace
	r.Trace = func(ev command.TraceEvent) {
		if trace(ev); ev.CommandName != nil {
			cancel(why)
		}
	}
	if got, err := d.agent.Run(ctx, r); !errors.Is(err, why) {
		t.Errorf("got %+v, %v, want the cause", got, err)
	}
}

// Messages that are too many for the model are shortened from the front.
func TestOverflow(t *testing.T) {
	overflow := modeltest.Body(400, `{"error":{"message":"too long","code":"context_length_exceeded"}}`)
	long := strings.Repeat("long ", 1500)
	script := []modeltest.Answer{plan()}
	for i := range 8 {
		script = append(script, modeltest.Calls("search_books", fmt.Sprintf(`{"words":"%s %d"}`, long, i)))
	}
	d := newDesk(t, append(script, overflow, done())...)
	d.want(d.run(d.request("find it")), command.Completed, true, "That is done.")
	asked := d.model.Requests()
	before, after := asked[len(asked)-2], asked[len(asked)-1]
	if len(after.Body) >= len(before.Body) || !strings.Contains(after.Body, "find it\\n\\n(Earlier steps are left out here.)") || after.Messages[2].Role != "assistant" {
		t.Errorf("got %d bytes after %d: %+v", len(after.Body), len(before.Body), after.Messages)
	}
}

// What goes to the model is bounded, whatever commands return.
func TestLongResults(t *testing.T) {
	w := folder(t, "commands/dump.yaml", "description: all\neffect: read\nparams: {n: {type: integer}}\ntool: shop/dump\n")
	e := command.New(w, command.Options{Caller: caller(func(string) string { return strings.Repeat("x", 64<<10) })})
	script := []modeltest.Answer{plan()}
	for i := range 20 {
		script = append(script, modeltest.Calls("dump", fmt.Sprintf(`{"n":%d}`, i)))
	}
	d := worked(t, e, append(script, modeltest.Calls("ask_user", `{"question":"Enough?"}`))...)
	got := d.run(d.request("dump it"))
	d.want(got, command.AwaitingUser, false, "Enough?")
	asked := d.model.Requests()
	if n := len(asked[len(asked)-1].Body); n > 200<<10 {
		t.Errorf("got a request of %d bytes", n)
	}
	if n := len(got.State); n > 256<<10 {
		t.Errorf("got a state of %d bytes", n)
	}
}

// caller answers tools with a text.
type caller func(tool string) string

func (c caller) CallTool(_ context.Context, _, _, tool string, _ json.RawMessage) (json.RawMessage, error) {
	return json.Marshal(map[string]any{"content": []any{map[string]string{"type": "text", "text": c(tool)}}})
}

// folder makes a workflow of files, each given as its name and its text.
func folder(t *testing.T, files ...string) *command.Workflow {
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

// Each effect but reading and moving is asked about, unknown ones included.
func TestEffects(t *testing.T) {
	for _, tt := range []struct {
		effect string
		asks   bool
	}{{"read", false}, {"navigate", false}, {"write", true}, {"external", true}, {"unknown", true}} {
		t.Run(tt.effect, func(t *testing.T) {
			e := command.New(effected(t, tt.effect), command.Options{Caller: caller(func(string) string { return "done" })})
			script := []modeltest.Answer{plan(), modeltest.Calls("it", `{}`)}
			if !tt.asks {
				script = append(script, done())
			}
			d := worked(t, e, script...)
			got := d.run(d.request("do it"))
			if asked := got.Status == command.AwaitingUser; asked != tt.asks {
				t.Errorf("got the status %s", got.Status)
			}
		})
	}
}

// effected is a workflow of one command, it, with an effect.
func effected(t *testing.T, effect string) *command.Workflow {
	if effect != "unknown" {
		return folder(t, "commands/it.yaml", "description: does it\neffect: "+effect+"\ntool: shop/it\n")
	}
	return command.Project("box", "", []command.Tool{{Toolbox: "box", Server: "shop", Raw: json.RawMessage(`{"name":"it","inputSchema":{"type":"object"}}`)}})
}

// Of very many commands the model gets a list in words, and one tool.
func TestManyCommands(t *testing.T) {
	files := []string{"commands/write.yaml", "description: writes\neffect: write\ntool: shop/write\n"}
	for i := range 100 {
		files = append(files, fmt.Sprintf("commands/look_%d.yaml", i), fmt.Sprintf("description: looks at %d\neffect: read\nparams: {at: {type: integer}}\ntool: shop/look\n", i))
	}
	e := command.New(folder(t, files...), command.Options{Caller: caller(func(tool string) string { return "saw " + tool })})
	d := worked(t, e, plan(), modeltest.Calls("execute_command", `{"command":"look_7 <at>3</at>"}`), modeltest.Calls("execute_command", `{"command":"look_7 <at"}`),
		modeltest.Calls("execute_command", `{"command":7}`), modeltest.Calls("execute_command", `{"command":"write"}`))
	got := d.run(d.request("look, then write"))
	d.want(got, command.AwaitingUser, false, "Run write at global?")
	asked := d.model.Requests()
	if names := asked[1].Names(); !slices.Equal(names, []string{"ask_user", "execute_command"}) {
		t.Errorf("got the tools %q", names)
	}
	if !strings.Contains(asked[1].Messages[0].Content, "- look_99 <at>1</at>: looks at 99") {
		t.Errorf("got the instructions %s", asked[1].Messages[0].Content)
	}
	d.wantLast(2, "saw look")
	d.wantLast(3, "Not carried out: at character")
	d.wantLast(4, "command has to be a string")
}

// Tools have names that every endpoint takes, each once.
func TestToolNames(t *testing.T) {
	var tools []command.Tool
	for _, name := range []string{"просмотр", "проверка", "a.b", "a_b", strings.Repeat("n", 100), strings.Repeat("n", 99), "ask_user"} {
		raw, err := json.Marshal(map[string]any{"name": name, "annotations": map[string]bool{"readOnlyHint": true}, "inputSchema": map[string]string{"type": "object"}})
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, command.Tool{Toolbox: "box", Server: "s", Raw: raw})
	}
	w := command.Project("box", "", tools)
	var called []string
	d := worked(t, command.New(w, command.Options{Caller: caller(func(tool string) string { called = append(called, tool); return "x" })}), plan(), done())
	d.run(d.request("look"))
	names := d.model.Requests()[1].Names()
	if len(names) < len(tools) {
		t.Fatalf("got the tools %q", names)
	}
	seen := map[string]bool{}
	var script []string
	for _, name := range names {
		safe := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
		if !safe || len(name) > 64 || name == "" || seen[name] {
			t.Errorf("got the name %q of %q", name, names)
		}
		seen[name] = true
		if strings.HasPrefix(name, "s__") {
			script = append(script, name, "{}")
		}
	}
	d = worked(t, d.engine, plan(), modeltest.Calls(script[:8]...), modeltest.Calls(script[8:]...), done())
	d.run(d.request("look"))
	slices.Sort(called)
	if len(slices.Compact(called)) != len(tools) {
		t.Errorf("got the tools %q called, want each of %d", called, len(tools))
	}
}

// A state of another making is refused.
func TestBrokenState(t *testing.T) {
	d := newDesk(t)
	r := d.request("yes")
	r.State = json.RawMessage(`{"query":7}`)
	if _, err := d.agent.Run(t.Context(), r); err == nil || !strings.Contains(err.Error(), "say again what you want") {
		t.Errorf("got %v", err)
	}
}

// What the model says is handed on as it comes, each reply by its number; calls in words are not, and a stream that
// breaks off is another reply.
func TestSaid(t *testing.T) {
	half := modeltest.Events(modeltest.Delta(`{"content":"I lo"}`, ""))
	called := modeltest.Events(modeltest.Delta(`{"content":"I open it."}`, ""),
		modeltest.Delta(`{"tool_calls":[{"index":0,"id":"c","function":{"name":"open_order","arguments":"{\"order_"}}]}`, ""),
		modeltest.Delta(`{"tool_calls":[{"index":0,"function":{"arguments":"id\":\"44821\"}"}}]}`, "tool_calls"), "[DONE]")
	d := newDesk(t, plan(), half, openOrder(), called, modeltest.Pieces(`{"tool":"list_or`, `ders","arguments":{}}`), modeltest.Pieces("That", " is ", "done."))
	got := d.run(d.request("look at the order of Ada Reed"))
	d.want(got, command.Completed, true, "That is done.")
	var replies []string
	for _, piece := range d.said {
		number, text, _ := strings.Cut(piece, " ")
		if n := len(replies); n > 0 && strings.HasPrefix(replies[n-1], number+" ") {
			replies[n-1] += text
			continue
		}
		replies = append(replies, number+" "+text)
	}
	if want := []string{"1 I lo", "2 I open it.", "3 That is done."}; !slices.Equal(replies, want) {
		t.Errorf("got %q, want %q", replies, want)
	}
}
