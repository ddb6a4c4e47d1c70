package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/command/example"
)

// books is the example workflow.
func books(t testing.TB) *command.Workflow {
	t.Helper()
	w, err := command.Load(example.Files(), command.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// desk is a workflow with a server that only records.
func desk(w *command.Workflow, chooser command.Chooser) (*command.Engine, *recorder) {
	r := &recorder{result: map[string]string{
		"list_orders":  `{"content":[],"structuredContent":{"orders":[{"order_id":"44821"},{"order_id":"44817"}]}}`,
		"search_books": `{"content":[],"structuredContent":{"books":[{"title":"Emma"}]}}`,
		"get_order":    `{"content":[{"type":"text","text":"T"}],"structuredContent":{"customer":"Ada Reed","status":"open"}}`,
	}}
	return command.New(w, command.Options{Caller: r, Chooser: chooser}), r
}

// order is a place on the desk.
func order() command.Path {
	return command.Path{{Type: "Order", Key: map[string]json.RawMessage{"order_id": json.RawMessage(`"44821"`)},
		Values: map[string]json.RawMessage{"customer": json.RawMessage(`"Ada Reed"`)}}}
}

// line is a place in an order.
func line() command.Path {
	return append(order(), command.Place{Type: "Line", Key: map[string]json.RawMessage{"line": json.RawMessage("2")}})
}

func TestAssist(t *testing.T) {
	w := books(t)
	tests := []struct {
		name, say string
		at        command.Path
		fixes     []command.Correction
		ran       string // the command with its parameters, "" for none
		status    command.Status
		asks      string // what the question is about
		said      string // what the answer begins with, if that matters
	}{
		{name: "an exact name", say: "list_orders", ran: `list_orders {}`},
		{name: "a slash", say: "//list_orders", ran: `list_orders {}`},
		{name: "a slash before a slip", say: "/list_ordrs", ran: `list_orders {}`},
		{name: "a slash before an utterance", say: "/what has been ordered", ran: `list_orders {}`},
		{name: "a slash that belongs to a value", say: "/etc/hosts add a note", at: order(), status: command.AwaitingUser, asks: `Run Order/add_note with order_id "44821", note "/etc/hosts add a note"`},
		{name: "tags", say: "open_order <order_id>44821</order_id>", ran: `open_order {"order_id":"44821"}`},
		{name: "tags after a name with a capital letter", say: "Search_books <words>emma</words>", ran: `search_books {"words":"emma"}`},
		{name: "tags after a name with a capital letter, for a write", say: "ADD_note <note>call her</note>", at: order(), status: command.AwaitingUser, asks: `Run Order/add_note with order_id "44821", note "call her" at`},
		{name: "tags after a full name in other letters", say: "/order/show_Order <order_id>44830</order_id>", at: order(), ran: `Order/show_order {"order_id":"44830"}`},
		{name: "broken tags after a name with a capital letter", say: "Search_books <words>emma</words", status: command.Completed, said: "search_books was not run: "},
		{name: "pairs", say: "open_order order_id=44821", ran: `open_order {"order_id":"44821"}`},
		{name: "a pair with a colon", say: `place_order customer: "Tom Hale", book: Emma`, ran: `place_order {"customer":"Tom Hale","book":"Emma","copies":1}`},
		{name: "a name and the rest", say: "search_books emma by austen", ran: `search_books {"words":"emma by austen"}`},
		{name: "a name and a value that nothing takes", say: "show_order 44830", at: order()},
		{name: "a name and the value that it takes from the place", say: "Order/show_order order_id=44830", at: order(), ran: `Order/show_order {"order_id":"44830"}`},
		{name: "an utterance", say: "What has been ordered?", ran: `list_orders {}`},
		{name: "the name as words", say: "show order", at: order(), ran: `Order/show_order {"order_id":"44821"}`},
		{name: "a slip", say: "list_ordrs", ran: `list_orders {}`},
		{name: "a slip for a write", say: "add_ntoe", at: order(), status: command.AwaitingUser, asks: "For Order/add_note, what is the note"},
		{name: "a slip that would lead away", say: "rset_context", at: order(), status: command.AwaitingUser, asks: "Run reset_context"},
		{name: "an utterance with a value", say: "open order 44821", status: command.AwaitingUser, asks: `Run open_order with order_id "44821"`},
		{name: "no slip gives up", say: "aborrt", status: command.Completed},
		{name: "a part of a name is no slip", say: "ord", status: command.Completed},
		{name: "likely, and reads", say: "please list all the orders which are shipped", ran: `list_orders {"status":"shipped"}`},
		{name: "likely, and navigates", say: "take me to the order 44821", status: command.AwaitingUser, asks: `Run open_order with order_id "44821"`},
		{name: "the name in words", say: "please list the orders", ran: `list_orders {}`},
		{name: "a value that the command does not take", say: "please show this order 44830", at: order(), status: command.AwaitingUser, asks: "Which of these is meant?\n1. Order/show_order"},
		{name: "a number as a word", say: "make it three copies", at: line(), status: command.AwaitingUser, asks: `Run Line/change_copies with order_id "44821", line 2, copies 3`},
		{name: "an utterance with another value", say: "go to the order 44821", status: command.AwaitingUser, asks: `Run open_order with order_id "44821"`},
		{name: "not likely enough", say: "orders and books", status: command.AwaitingUser, asks: "Which of these is meant?\n1. "},
		{name: "about something else", say: "what is the weather in Lisbon", status: command.Completed},
		{name: "a single candidate with its value", say: "I would like to see order 44821", status: command.AwaitingUser, asks: `Run open_order with order_id "44821" at global?`},
		{name: "what is not to be done", say: "please don't cancel this order", at: order(), status: command.Completed, said: "Nothing was run: the instruction says what not to do."},
		{name: "a core command", say: "what can you do?", status: command.AwaitingUser, asks: "Run what_can_i_do at global?"},
		{name: "a core command that leads away", say: "up one level please", at: line(), status: command.AwaitingUser, asks: "Run go_up at line 2"},
		{name: "nothing", say: " / ", status: command.Completed},
		{name: "to be confirmed, however it was called", say: "cancel_order reason=late", at: order(), status: command.AwaitingUser, asks: "Run Order/cancel_order with"},
		{name: "missing", say: "open_order", status: command.AwaitingUser, asks: "For open_order, what is the order id (The number of the order, five digits), one of 44821, 44817?"},
		{name: "a correction", say: "the usual", fixes: []command.Correction{{Utterance: "The usual!", Command: "list_orders"}}, ran: `list_orders {}`},
		{name: "a correction, and what it would write is inferred", say: "drop it, late", at: order(), fixes: []command.Correction{{Utterance: "drop it, late", Command: "Order/add_note"}},
			status: command.AwaitingUser, asks: `Run Order/add_note with order_id "44821", note "drop it, late"`},
		{name: "the last correction counts", say: "the usual", status: command.Completed,
			fixes: []command.Correction{{Utterance: "the usual", Command: "list_orders"}, {Utterance: "the usual", Command: "list_orders", Wrong: true}}},
		{name: "a veto", say: "list all orders", status: command.AwaitingUser, asks: "Which of these is meant?\n1. open_order",
			fixes: []command.Correction{{Utterance: "list all orders", Command: "list_orders", Wrong: true}}},
		{name: "a correction for what is not there", say: "call it off please", status: command.Completed, fixes: []command.Correction{{Utterance: "call it off please", Command: "Order/cancel_order"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, r := desk(w, nil)
			o, err := e.Assist(context.Background(), test.at, test.say, command.CallOptions{Corrections: test.fixes})
			if err != nil {
				t.Fatal(err)
			}
			ran := ""
			if o.Output.Success && o.Output.CommandName != nil {
				ran = *o.Output.CommandName + " " + string(o.Output.CommandParameters)
			}
			if test.status == "" {
				test.status = command.Completed
			}
			if ran != test.ran || o.Status != test.status || !strings.HasPrefix(o.Question, test.asks) || (test.asks == "") != (o.Question == "") {
				t.Errorf("got %q, %s, %q (%s), want %q, %s, %q", ran, o.Status, o.Question, o.Text(), test.ran, test.status, test.asks)
			}
			if !strings.HasPrefix(o.Text(), test.said) {
				t.Errorf("got the answer %q, want %q", o.Text(), test.said)
			}
			if (o.Pending != nil) != (o.Status == command.AwaitingUser) {
				t.Errorf("got pending %v with the status %s", o.Pending, o.Status)
			}
			for _, call := range r.calls {
				if test.ran == "" && !strings.Contains(call, "/list_orders ") && !strings.Contains(call, "/search_books ") {
					t.Errorf("got the call %s, want none that changes anything", call)
				}
			}
		})
	}
}

// A question survives being stored, and is answered in words or by a form.
func TestAnswer(t *testing.T) {
	w := books(t)
	tests := []struct {
		name, say string
		at        command.Path
		replies   []string
		ran       string // "" for nothing
		status    command.Status
	}{
		{"yes", "cancel_order reason=late", order(), []string{"Yes!"}, `Order/cancel_order {"order_id":"44821","reason":"late"}`, command.Completed},
		{"no", "cancel_order reason=late", order(), []string{"no"}, "", command.Cancelled},
		{"a form", "cancel_order reason=late", order(), []string{`{"confirm":true}`}, `Order/cancel_order {"order_id":"44821","reason":"late"}`, command.Completed},
		{"neither yes nor no", "cancel_order reason=late", order(), []string{"y e s"}, "", command.AwaitingUser},
		{"a look at something first", "cancel_order reason=late", order(), []string{"show me the orders", "yes"}, `Order/cancel_order {"order_id":"44821","reason":"late"}`, command.Completed},
		{"a look in vain first", "cancel_order reason=late", order(), []string{"list_orders status=lost", "abort"}, "", command.Cancelled},
		{"another instruction that writes is asked about", "cancel_order reason=late", order(), []string{"place_order customer=Tom book=Emma"}, "", command.AwaitingUser},
		{"another instruction and its values", "cancel_order reason=late", order(), []string{"add a note", "call her", "yes"}, `Order/add_note {"order_id":"44821","note":"call her"}`, command.Completed},
		{"a way elsewhere", "cancel_order reason=late", order(), []string{"go back"}, `go_up {}`, command.Completed},
		{"what is asked about once more", "cancel_order reason=late", order(), []string{"cancel this order"}, "", command.AwaitingUser},
		{"the same with another value", "cancel_order reason=late", order(), []string{"cancel_order reason=\"no longer needed\"", "yes"}, `Order/cancel_order {"order_id":"44821","reason":"no longer needed"}`, command.Completed},
		{"cancel it", "cancel_order reason=late", order(), []string{"Cancel it!"}, "", command.Cancelled},
		{"another command by its name", "orders and books", nil, []string{"what_is_current_context"}, `what_is_current_context {}`, command.Completed},
		{"another command by what is said for it", "orders and books", nil, []string{"What has been ordered?"}, `list_orders {}`, command.Completed},
		{"a name is a value where one is asked for", "write down a note", order(), []string{"list_orders", "yes"}, `Order/add_note {"order_id":"44821","note":"list_orders"}`, command.Completed},
		{"one letter gives nothing up", "open_order", nil, []string{"s"}, "", command.AwaitingUser},
		{"abort", "open_order", nil, []string{"abort"}, "", command.Cancelled},
		{"a value with a slash", "write down a note", order(), []string{"/etc/hosts", "yes"}, `Order/add_note {"order_id":"44821","note":"/etc/hosts"}`, command.Completed},
		{"a value that ends like a command", "write down a note", order(), []string{"/srv/list_orders", "yes"}, `Order/add_note {"order_id":"44821","note":"/srv/list_orders"}`, command.Completed},
		{"a slash before no command is neither yes nor no", "cancel_order reason=late", order(), []string{"/srv/cancel_order", "yes"}, `Order/cancel_order {"order_id":"44821","reason":"late"}`, command.Completed},
		{"another command", "open_order", nil, []string{"/list_orders"}, `list_orders {}`, command.Completed},
		{"a value", "open_order", nil, []string{"44821"}, `open_order {"order_id":"44821"}`, command.Completed},
		{"a value that cannot be, and one that can", "open_order", nil, []string{"abc", "44821"}, `open_order {"order_id":"44821"}`, command.Completed},
		{"two values, one at a time", "place_order", nil, []string{"Tom Hale", "Emma"}, `place_order {"customer":"Tom Hale","book":"Emma","copies":1}`, command.Completed},
		{"a value with a comma", "place_order", nil, []string{"Hale, Tom", "Emma"}, `place_order {"customer":"Hale, Tom","book":"Emma","copies":1}`, command.Completed},
		{"two values by name, of several words", "place a new order", nil, []string{"customer: Tom Hale, book: Emma"}, `place_order {"customer":"Tom Hale","book":"Emma","copies":1}`, command.Completed},
		{"two values by name, joined by a word", "place a new order", nil, []string{"customer: Tom Hale and book: Emma", "yes"}, `place_order {"customer":"Tom Hale","book":"Emma","copies":1}`, command.Completed},
		{"a name with blanks", "open_order", nil, []string{"order id: 44821"}, `open_order {"order_id":"44821"}`, command.Completed},
		{"a value among other words", "open_order", nil, []string{"the 44821 please", "yes"}, `open_order {"order_id":"44821"}`, command.Completed},
		{"a value that names the parameter", "add a note", order(), []string{"Please note: fragile goods inside"}, `Order/add_note {"order_id":"44821","note":"Please note: fragile goods inside"}`, command.Completed},
		{"a value by the name of the parameter", "add a note", order(), []string{"note: fragile goods, and glass"}, `Order/add_note {"order_id":"44821","note":"fragile goods, and glass"}`, command.Completed},
		{"a value that could be an instruction", "add a note", order(), []string{"cancel this order", "yes"}, `Order/add_note {"order_id":"44821","note":"cancel this order"}`, command.Completed},
		{"yes is no value", "place_order", nil, []string{"yes"}, "", command.AwaitingUser},
		{"yes is a value where it is said to be", "add a note", order(), []string{"note: yes"}, `Order/add_note {"order_id":"44821","note":"yes"}`, command.Completed},
		{"never mind", "open_order", nil, []string{"Never mind!"}, "", command.Cancelled},
		{"two values by name", "place_order", nil, []string{`book: Emma customer: "Tom Hale"`}, `place_order {"customer":"Tom Hale","book":"Emma","copies":1}`, command.Completed},
		{"two values, one reply", "place_order", nil, []string{"Emma"}, "", command.AwaitingUser},
		{"two values by a form", "place_order", nil, []string{`{"customer":"Tom","book":"Emma"}`}, `place_order {"customer":"Tom","book":"Emma","copies":1}`, command.Completed},
		{"a choice by number", "orders and books", nil, []string{"2"}, "?", command.Completed},
		{"a choice by name", "orders please", nil, []string{"list_orders"}, `list_orders {}`, command.Completed},
		{"a choice by a form", "orders please", nil, []string{`{"command":"list_orders"}`}, `list_orders {}`, command.Completed},
		{"a proposal with its values", "cancel this order, no longer needed", order(), []string{"yes"}, `Order/cancel_order {"order_id":"44821","reason":"no longer needed"}`, command.Completed},
		{"yes to several", "orders please", nil, []string{"yes"}, "", command.AwaitingUser},
		{"no choice", "orders please", nil, []string{"none"}, "", command.Cancelled},
		{"an inferred write is asked for values, then for agreement", "write down a note", order(), []string{"call her", "yes"}, `Order/add_note {"order_id":"44821","note":"call her"}`, command.Completed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, _ := desk(w, nil)
			o, err := e.Assist(context.Background(), test.at, test.say, command.CallOptions{})
			if err != nil || o.Pending == nil {
				t.Fatalf("got %+v, %v, want a question", o, err)
			}
			for _, reply := range test.replies {
				stored, err := json.Marshal(o.Pending)
				if err != nil {
					t.Fatal(err)
				}
				var pending command.Pending
				if err := json.Unmarshal(stored, &pending); err != nil {
					t.Fatal(err)
				}
				if o, err = e.Answer(context.Background(), o.Path, pending, reply, command.CallOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			ran := ""
			if o.Output.Success && o.Output.CommandName != nil {
				ran = *o.Output.CommandName + " " + string(o.Output.CommandParameters)
			}
			if test.ran == "?" && ran != "" {
				ran = "?"
			}
			if ran != test.ran && (test.ran != "?" || o.Status == command.AwaitingUser) || o.Status != test.status && test.ran != "?" {
				t.Errorf("got %q, %s (%s), want %q, %s", ran, o.Status, o.Text(), test.ran, test.status)
			}
		})
	}
}

// A yes is to the command that was asked about: one that has changed meanwhile is asked about again.
func TestYesToWhatItWas(t *testing.T) {
	const draft = "description: Drop the draft\neffect: write\nconfirm: true\ntool: s/drop\n"
	asked, err := command.New(folder(t, "commands/drop.yaml", draft), command.Options{}).Execute(t.Context(), nil, "drop", command.CallOptions{})
	if err != nil || asked.Pending == nil {
		t.Fatalf("got %+v, %v, want a question", asked, err)
	}
	for name, tt := range map[string]struct {
		text string
		ran  int
	}{
		"the same":          {draft + "# a comment\n", 1},
		"another text":      {strings.Replace(draft, "the draft", "everything", 1), 0},
		"another tool":      {strings.Replace(draft, "s/drop", "s/purge", 1), 0},
		"another value":     {strings.Replace(draft, "tool: s/drop", "tool: {name: s/drop, arguments: {all: true}}", 1), 0},
		"no more confirmed": {strings.Replace(strings.Replace(draft, "s/drop", "s/purge", 1), "confirm: true\n", "", 1), 0},
	} {
		r := &recorder{}
		e := command.New(folder(t, "commands/drop.yaml", tt.text), command.Options{Caller: r})
		o, err := e.Answer(t.Context(), nil, *asked.Pending, "yes", command.CallOptions{})
		if err != nil || len(r.calls) != tt.ran || tt.ran == 0 && (o.Pending == nil || o.Pending.Kind != command.AskConfirm) {
			t.Errorf("%s: got %q, %v and the calls %q, want %d", name, o.Text(), err, r.calls, tt.ran)
			continue
		}
		if tt.ran == 0 {
			if _, err = e.Answer(t.Context(), nil, *o.Pending, "yes", command.CallOptions{}); err != nil || len(r.calls) != 1 {
				t.Errorf("%s: got %v and the calls %q, want one after the second yes", name, err, r.calls)
			}
		}
	}
}

// A question that was kept is answered when the workflow has changed meanwhile: what it does not have any more is asked
// anew or given up, and what the command is now is confirmed before it runs.
func TestAnswerAfterAnEdit(t *testing.T) {
	const draft = "description: Show it\neffect: read\nparams: {path: {type: string, description: The path}}\ntool: s/show\n"
	renamed := strings.ReplaceAll(draft, "path:", "file:")
	type step struct {
		say, asks, says string
		calls           int
	}
	for name, tt := range map[string]struct {
		text  string
		steps []step
	}{
		"nothing":           {draft + "# a comment\n", []step{{"a.txt", "", "", 1}}},
		"renamed":           {renamed, []step{{"a.txt", "show was edited, and does not take path any more. For show, what is the file", "", 0}, {"a.txt", "Run show with file", "", 0}, {"yes", "", "", 1}}},
		"renamed, by name":  {renamed, []step{{"file: a.txt", "Run show with file", "", 0}, {"yes", "", "", 1}}},
		"renamed, a form":   {renamed, []step{{`{"path":"a.txt"}`, "For show, what is the file", "", 0}}},
		"renamed, an aside": {renamed, []step{{"where am I", "show was edited", "", 0}, {"where am I", "For show, what is the file", "", 0}}},
		"one more":          {strings.Replace(draft, "params: {", "params: {line: {type: integer}, ", 1), []step{{"a.txt", "For show, what is the line", "", 0}, {"7", "Run show with line 7", "", 0}}},
		"none":              {strings.Replace(draft, "params: {path: {type: string, description: The path}}\n", "", 1), []step{{"a.txt", "show was edited, and does not take path any more. Run show at global?", "", 0}}},
		"another type":      {strings.Replace(draft, "string", "integer", 1), []step{{"a.txt", "path must be integer", "", 0}, {"7", "Run show with path 7", "", 0}}},
		"another tool":      {strings.Replace(draft, "s/show", "s/purge", 1), []step{{"a.txt", "Run show with path", "", 0}}},
		"removed":           {"", []step{{"a.txt", "", "There is no command “show” here.", 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := command.New(folder(t, "commands/show.yaml", draft), command.Options{}).Assist(t.Context(), nil, "show", command.CallOptions{})
			if err != nil || o.Pending == nil {
				t.Fatalf("got %+v, %v, want a question", o, err)
			}
			r := &recorder{}
			files := []string{"commands/show.yaml", tt.text}
			if tt.text == "" {
				files = nil
			}
			e := command.New(folder(t, files...), command.Options{Caller: r})
			for _, s := range tt.steps {
				if o, err = e.Answer(t.Context(), nil, *o.Pending, s.say, command.CallOptions{}); err != nil {
					t.Fatal(err)
				}
				if !strings.HasPrefix(o.Question, s.asks) || (s.asks == "") != (o.Pending == nil) || !strings.HasPrefix(o.Text(), s.says) || len(r.calls) != s.calls {
					t.Fatalf("%s: got the question %q, %q and the calls %q, want %+v", s.say, o.Question, o.Text(), r.calls, s)
				}
			}
		})
	}
}

// A reply that is one of the choices is the choice, whatever else the words may mean.
func TestOfferedChoice(t *testing.T) {
	w := folder(t, "commands/switch.yaml", "description: Switch it\neffect: read\nparams: {action: {type: string, enum: [start, stop, cancel, yes, help, abort, /list]}}\ntool: s/switch\n",
		"commands/pick.yaml", "description: Pick it\neffect: read\nparams: {action: {type: string, lookup: {tool: s/all, values: /all/*}}}\ntool: s/pick\n",
		"commands/list.yaml", "description: d\neffect: read\ntool: s/list\n",
		"commands/stop.yaml", "description: d\neffect: read\ntool: s/stop\n")
	r := &recorder{result: map[string]string{"all": `{"content":[],"structuredContent":{"all":["start","stop","cancel","yes","help","abort","/list"]}}`}}
	for _, name := range []string{"switch", "pick"} {
		for reply, want := range map[string]string{"stop": "stop", "cancel": "cancel", "yes": "yes", "help": "help", "/list": "/list", "abort": "", "never mind": "", "/stop": ""} {
			e := command.New(w, command.Options{Caller: r})
			o, err := e.Assist(t.Context(), nil, name, command.CallOptions{})
			if err != nil || o.Pending == nil {
				t.Fatalf("got %+v, %v, want a question", o, err)
			}
			if o, err = e.Answer(t.Context(), nil, *o.Pending, reply, command.CallOptions{}); err != nil {
				t.Fatal(err)
			}
			if got := string(o.Output.CommandParameters); want != "" && (!o.Output.Success || got != `{"action":"`+want+`"}`) || want == "" && strings.Contains(got, "action") {
				t.Errorf("%s: got %s, %q for the reply %s, want %q", name, got, o.Text(), reply, want)
			}
		}
	}
	asked := command.Pending{Kind: command.AskChoice, Query: "q", Candidates: []string{"list", "stop"}}
	asked.Form = json.RawMessage(`{"properties":{"command":{"enum":["list","stop","none"]}}}`)
	if o, err := command.New(w, command.Options{Caller: r}).Answer(t.Context(), nil, asked, "stop", command.CallOptions{}); err != nil || !o.Output.Success || *o.Output.CommandName != "stop" {
		t.Errorf("got %+v, %v, want the command that is called so", o, err)
	}
}

// What there was to choose from may be gone when the answer comes.
func TestChoiceAfterAnEdit(t *testing.T) {
	e := command.New(folder(t, "commands/left.yaml", "description: d\neffect: read\ntool: s/left\n"), command.Options{Caller: &recorder{}})
	asked := command.Pending{Kind: command.AskChoice, Query: "q", Candidates: []string{"gone", "left"}}
	o, err := e.Answer(t.Context(), nil, asked, "1", command.CallOptions{})
	if err != nil || o.Pending == nil || o.Question != "Do you mean left? Answer yes or no." {
		t.Errorf("got %+v, %v, want the question for what is left", o, err)
	}
	if o, err := e.Answer(t.Context(), nil, asked, "2", command.CallOptions{}); err != nil || !o.Output.Success {
		t.Errorf("got %+v, %v, want the second of those that were offered", o, err)
	}
	asked.Candidates = []string{"gone"}
	if o, err := e.Answer(t.Context(), nil, asked, "yes", command.CallOptions{}); err != nil || o.Pending != nil || !strings.Contains(o.Text(), "is not there any more") {
		t.Errorf("got %+v, %v, want that the question is given up", o, err)
	}
}

// Without a question, words that may mean a thing at hand give nothing up.
func TestNothingToGiveUp(t *testing.T) {
	e, _ := desk(books(t), nil)
	for _, say := range []string{"cancel it", "please forget it now", "cancel"} {
		for _, at := range []command.Path{nil, order()} {
			o, err := e.Assist(t.Context(), at, say, command.CallOptions{})
			if err != nil || strings.Contains(o.Text(), command.Abort) {
				t.Errorf("%s: got %q, %v, want no question whether to give up", say, o.Text(), err)
			}
		}
	}
}

// A command is picked in the words that people use, and what is not one of them picks nothing.
func TestPicks(t *testing.T) {
	e, _ := desk(books(t), nil)
	pending := command.Pending{Kind: command.AskChoice, Query: "q", Candidates: []string{"open_order", command.GoUp, "list_orders"}}
	const none, again = "Nothing was run.", "is none of them"
	for reply, want := range map[string]string{
		"2": command.GoUp, "2.": command.GoUp, "the second one": command.GoUp, "Second, please": command.GoUp, "option 2": command.GoUp,
		"go up": command.GoUp, "number 3": "list_orders", "the last one": "list_orders", "last": "list_orders",
		"no": none, "n": none, "Nope.": none, "none": none, "None of them": none,
		"yes": again, "0": again, "4": again, "-2": command.GoUp, "fourth": again, "2 3": again, "one": again, "the second line": again,
	} {
		o, err := e.Answer(t.Context(), order(), pending, reply, command.CallOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if name := o.Output.CommandName; (name == nil || *name != want) && !strings.Contains(o.Text(), want) {
			t.Errorf("%q: got %q, want %q", reply, o.Text(), want)
		}
	}
}

// What a user has looked up before the answer is not what the instruction meant.
func TestMeans(t *testing.T) {
	confirm := command.Pending{Kind: command.AskConfirm, Inferred: true, Action: command.Action{CommandName: "open_order"}}
	choice := command.Pending{Kind: command.AskChoice, Candidates: []string{"open_order", command.GoUp}}
	for _, tt := range []struct {
		pending command.Pending
		name    string
		want    bool
	}{
		{confirm, "open_order", true},
		{confirm, "list_orders", false},
		{choice, "open_order", true},
		{choice, command.GoUp, true},
		{choice, "list_orders", true},
		{choice, command.WhatCanIDo, false},
	} {
		if got := tt.pending.Means(tt.name); got != tt.want {
			t.Errorf("%s, %s: got %v, want %v", tt.pending.Kind, tt.name, got, tt.want)
		}
	}
}

// What a user gives by name is kept to the last word, and what may be less, or other, than was meant is not written
// unasked.
func TestValuesAreWhole(t *testing.T) {
	w := books(t)
	tests := []struct {
		name, say string
		ran, asks string
	}{
		{"a colon", "/add_note note: Call her back tomorrow", `Order/add_note {"order_id":"44821","note":"Call her back tomorrow"}`, ""},
		{"an equals sign", "add_note note=Call her, then wait; tomorrow.", `Order/add_note {"order_id":"44821","note":"Call her, then wait; tomorrow."}`, ""},
		{"the name again", "/add_note note: Please note: fragile", `Order/add_note {"order_id":"44821","note":"Please note: fragile"}`, ""},
		{"quotes", `/add_note note: "Call her" order_id: 44830`, `Order/add_note {"order_id":"44830","note":"Call her"}`, ""},
		{"quotes within", `/add_note note: say "hi" to her`, `Order/add_note {"order_id":"44821","note":"say \"hi\" to her"}`, ""},
		{"a name in quotes", `/add_note note: "order_id: 5"`, `Order/add_note {"order_id":"44821","note":"order_id: 5"}`, ""},
		{"two lines", "/add_note note: one\ntwo", `Order/add_note {"order_id":"44821","note":"one\ntwo"}`, ""},
		{"the rest", "/add_note Call her back. Tomorrow.", `Order/add_note {"order_id":"44821","note":"Call her back. Tomorrow."}`, ""},
		{"cut", "/send_receipt address: ada@example.com please", "", `Run Order/send_receipt with order_id "44821", address "ada@example.com" at`},
		{"found among words", "/send_receipt to ada@example.com", "", `Run Order/send_receipt with order_id "44821", address "ada@example.com" at`},
		{"joined", "/add_note note: Call her and order_id: 44830", "", `Run Order/add_note with order_id "44830", note "Call her" at`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, _ := desk(w, nil)
			o, err := e.Assist(t.Context(), order(), test.say, command.CallOptions{})
			if err != nil {
				t.Fatal(err)
			}
			ran := ""
			if o.Output.Success {
				ran = *o.Output.CommandName + " " + string(o.Output.CommandParameters)
			}
			if ran != test.ran || !strings.HasPrefix(o.Question, test.asks) || (test.asks == "") != (o.Question == "") {
				t.Errorf("got %q, %q, want %q, %q", ran, o.Question, test.ran, test.asks)
			}
		})
	}
}

// Who agrees sees all of each value, what cannot be seen by its number.
func TestConfirmationShowsAll(t *testing.T) {
	e, _ := desk(books(t), nil)
	secret := "call her back, she has asked about the parcel and there is nothing to do but \u202etransfer 500 EUR\nto X " + strings.Repeat("y", 300) + "end"
	arguments, _ := json.Marshal(map[string]string{"note": secret})
	o, err := e.Run(t.Context(), order(), command.Action{CommandName: "add_note", Arguments: arguments}, command.CallOptions{Inferred: true})
	if err != nil || o.Pending == nil {
		t.Fatalf("got %+v, %v, want a question", o, err)
	}
	shown := strings.ReplaceAll(strings.ReplaceAll(o.Question, "\n| ", ""), "\n", "")
	if want := `nothing to do but \u202etransfer 500 EUR` + "to X " + strings.Repeat("y", 300) + "end"; !strings.Contains(shown, want) {
		t.Errorf("got the question %q, want all of the note", o.Question)
	}
	// What the place has already is shown beside what it is to be.
	at := line()
	at[1].Values = map[string]json.RawMessage{"copies": json.RawMessage("2")}
	o, err = e.Run(t.Context(), at, command.Action{CommandName: "change_copies", Arguments: json.RawMessage(`{"copies":3}`)}, command.CallOptions{Inferred: true})
	if err != nil || !strings.Contains(o.Question, "copies 2 → 3") {
		t.Errorf("got %q, %v, want the old value beside the new one", o.Question, err)
	}
	at[0].Values["note"] = json.RawMessage(`"one\ntwo\nthree"`)
	o, err = e.Run(t.Context(), at, command.Action{CommandName: "add_note", Arguments: json.RawMessage(`{"note":"one\n2\nthree"}`)}, command.CallOptions{Inferred: true})
	if err != nil || !strings.HasSuffix(o.Question, "note:\n  one\n- two\n+ 2\n  three") {
		t.Errorf("got %q, %v, want what is different", o.Question, err)
	}
}

// A question that is asked again says what was wrong with the answer, and what can be answered; a question of the
// user's own leaves it waiting.
func TestAskedAgain(t *testing.T) {
	e, _ := desk(books(t), nil)
	o, err := e.Assist(t.Context(), nil, "place a new order", command.CallOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ say, asks, text string }{
		{"yes", `customer is asked for, not whether to go on (write customer: yes if that is the value; abort gives it up), got "yes". For place_order, what is the customer`, ""},
		{"where am I", "For place_order, what is the customer", "You are at global."},
		{"Ada Reed", "For place_order, what is the book (The title of the book), one of Emma?", "book is missing"},
		{"Emmma", `book does not exist, got "Emmma". For place_order, what is the book (The title of the book), one of Emma?`, ""},
	} {
		if o, err = e.Answer(t.Context(), o.Path, *o.Pending, step.say, command.CallOptions{}); err != nil {
			t.Fatal(err)
		}
		if o.Pending == nil || !strings.HasPrefix(o.Question, step.asks) || !strings.Contains(o.Text(), step.text) {
			t.Fatalf("got %q, %q to %q, want %q, %q", o.Question, o.Text(), step.say, step.asks, step.text)
		}
	}
	if form := string(o.Pending.Form); !strings.Contains(form, `"enum":["Emma"]`) || strings.Contains(form, "customer") {
		t.Errorf("got the form %s, want the one value that is asked for with its choices", form)
	}
}

// A scripted chooser stands in for a model.
type scripted struct {
	chosen command.Chosen
	err    error
	asked  []command.Choice
}

func (s *scripted) Choose(_ context.Context, c command.Choice) (command.Chosen, error) {
	s.asked = append(s.asked, c)
	return s.chosen, s.err
}

func TestChooser(t *testing.T) {
	w := books(t)
	tests := []struct {
		name   string
		chosen command.Chosen
		say    string
		ran    string
		status command.Status
		asks   string
	}{
		{"a read runs", command.Chosen{Command: "search_books", Arguments: json.RawMessage(`{"words":"sea"}`)}, "got anything on the sea, books I mean", `search_books {"words":"sea"}`, command.Completed, ""},
		{"a write is confirmed", command.Chosen{Command: "place_order", Arguments: json.RawMessage(`{"customer":"Tom","book":"Emma"}`)}, "Tom wants to order Emma", "", command.AwaitingUser, "Run place_order"},
		{"none", command.Chosen{}, "order some book for the orders", "", command.AwaitingUser, "Do you mean place_order?"},
		{"one that does not exist", command.Chosen{Command: "drop_tables"}, "order some book", "", command.AwaitingUser, "Do you mean place_order?"},
		{"arguments of a wrong type", command.Chosen{Command: "search_books", Arguments: json.RawMessage(`{"words":5}`)}, "books please", "", command.AwaitingUser, "words must be string, got 5. For search_books, what is the words"},
		{"arguments that are none", command.Chosen{Command: "search_books", Arguments: json.RawMessage(`"x"`)}, "books please", "", command.AwaitingUser, "Do you mean search_books?"},
		{"arguments that are null", command.Chosen{Command: "list_orders", Arguments: json.RawMessage(`null`)}, "orders please", "", command.AwaitingUser, "Which of these"},
		{"arguments of none that are cut", command.Chosen{Command: "list_orders", Arguments: json.RawMessage(`{"cust`)}, "orders please", "", command.AwaitingUser, "Which of these"},
		{"a copied example", command.Chosen{Command: "search_books", Arguments: json.RawMessage(`{"words":"moby dick"}`)}, "books please", "", command.AwaitingUser, "For search_books"},
		{"an example that was said", command.Chosen{Command: "search_books", Arguments: json.RawMessage(`{"words":"moby dick"}`)}, "any books like Moby Dick here", `search_books {"words":"moby dick"}`, command.Completed, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := &scripted{chosen: test.chosen}
			e, _ := desk(w, s)
			o, err := e.Assist(context.Background(), nil, test.say, command.CallOptions{})
			if err != nil || len(s.asked) != 1 {
				t.Fatalf("got %v after %d choices", err, len(s.asked))
			}
			ran := ""
			if o.Output.Success {
				ran = *o.Output.CommandName + " " + string(o.Output.CommandParameters)
			}
			if ran != test.ran || o.Status != test.status || !strings.HasPrefix(o.Question, test.asks) || !o.Inferred {
				t.Errorf("got %q, %s, %q, want %q, %s, %q", ran, o.Status, o.Question, test.ran, test.status, test.asks)
			}
		})
	}
	s := &scripted{err: errors.New("the model is gone")}
	e, _ := desk(w, s)
	if _, err := e.Assist(context.Background(), nil, "order some book", command.CallOptions{}); !errors.Is(err, s.err) {
		t.Errorf("got %v, want the error of the chooser", err)
	}
	if _, err := e.Assist(context.Background(), nil, "list_orders", command.CallOptions{}); err != nil || len(s.asked) != 1 {
		t.Errorf("got %v after %d choices, want that an exact name needs no model", err, len(s.asked))
	}
	if c := s.asked[0]; c.Context != "global" || len(c.Candidates) == 0 || len(c.Candidates[0].Schema) == 0 ||
		!slices.ContainsFunc(c.Candidates, func(c command.Candidate) bool { return c.Name == "place_order" }) {
		t.Errorf("got the choice %+v, want candidates with their schemas", c)
	}
}

// What earlier results had is known: a value that is mentioned is taken, and one that is only meant, by its row or its
// number, is proposed, whatever it does.
func TestSeen(t *testing.T) {
	w := folder(t,
		"commands/look.yaml", "description: Look at an order\neffect: read\nutterances: [look at the order]\nparams:\n  order: {type: string, pattern: \"^[0-9]{5}$\", description: The number}\ntool: s/look\n",
		"commands/read.yaml", "description: Read a paper\neffect: read\nutterances: [read the paper]\nparams:\n  title: {type: string, description: The title}\n  by: {type: string, description: The author}\ntool: s/read\n",
		"commands/drop.yaml", "description: Delete an order\neffect: write\nutterances: [delete the order]\nparams:\n  order: {type: string, pattern: \"^[0-9]{5}$\", description: The number}\ntool: s/drop\n",
	)
	results := []json.RawMessage{
		json.RawMessage(`{"orders":[{"order":"44830","customer":"Ines Brandt","status":"open"},{"order":"44821","customer":"Ada Reed","status":"open"},{"order":"drop","customer":"Eve Evil"}]}`),
		json.RawMessage(`{"papers":[{"title":"The Waves","by":"V. Woolf"},{"title":"Waves and other paper","by":"delete"}]}`),
		json.RawMessage(`not json`), json.RawMessage(`[[[[[[[[[{"order":"11111","customer":"Deep Down"}]]]]]]]]]`),
	}
	for _, tt := range []struct {
		say      string
		question string // a piece of it, "" where the command runs
		call     string
	}{
		{"look at the order of Ines Brandt", `Run look with order "44830"`, ""},
		{"look at the second order", `Run look with order "44821"`, ""},
		{"look at the last order", "Do you mean look?", ""}, // its number is none
		{"look at order 44821", "", `box/s/look {"order":"44821"}`},
		{"look at the order of Eve Evil", "For look, what is the order", ""},
		{"look at the order of Deep Down", "For look, what is the order", ""},
		{"look at the open order", "For look, what is the order", ""}, // of two
		{"delete the order of Ada Reed", `Run drop with order "44821"`, ""},
		{"read the paper The Waves by V. Woolf", "", `box/s/read {"title":"The Waves","by":"V. Woolf"}`},
	} {
		r := &recorder{}
		asked := 0
		opts := command.CallOptions{Seen: func() []json.RawMessage { asked++; return results }}
		o, err := command.New(w, command.Options{Caller: r}).Assist(t.Context(), nil, tt.say, opts)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(o.Question, tt.question) || (o.Question == "") != (tt.question == "") || strings.Join(r.calls, "") != tt.call || asked > 1 {
			t.Errorf("%s: got the question %q and the calls %q after asking %d times, want %q and %q", tt.say, o.Question, r.calls, asked, tt.question, tt.call)
		}
	}
	// An answer may mean one, too.
	r := &recorder{}
	e := command.New(w, command.Options{Caller: r})
	opts := command.CallOptions{Seen: func() []json.RawMessage { return results }}
	o, err := e.Assist(t.Context(), nil, "look at the order", opts)
	if err != nil || o.Pending == nil || !strings.Contains(o.Question, "for example 44830, 44821") {
		t.Fatalf("got %+v, %v, want the question with what was seen", o, err)
	}
	o, err = e.Answer(t.Context(), nil, *o.Pending, "the one of Ada Reed", opts)
	if err != nil || !strings.Contains(o.Question, `Run look with order "44821"`) || len(r.calls) > 0 {
		t.Errorf("got %+v, %v and %q, want it proposed", o, err, r.calls)
	}
}

// A value of a lookup that an instruction mentions need not be asked for.
func TestLookupMentioned(t *testing.T) {
	w := folder(t, "commands/buy.yaml", "description: Order a book for a customer\neffect: write\nutterances: [buy a book]\nparams:\n  customer: {type: string, description: Who}\n"+
		"  book: {type: string, description: The title, lookup: {tool: s/books, values: /books/*/title}}\ntool: s/buy\n")
	r := &recorder{result: map[string]string{"books": `{"content":[],"structuredContent":{"books":[{"title":"Dracula"},{"title":"Emma"},{"title":"Emma Brown"},{"title":"A Book"}]}}`}}
	e := command.New(w, command.Options{Caller: r})
	for say, want := range map[string]string{
		"buy a book, Dracula, for someone":    `{"book":"Dracula"}`,
		"buy a book, Emma Brown, for someone": `{"book":"Emma Brown"}`,
		"buy a book, Emma or Dracula":         `{}`,
		"buy a book":                          `{}`,
	} {
		o, err := e.Assist(t.Context(), nil, say, command.CallOptions{})
		if err == nil && o.Pending != nil && o.Pending.Kind == command.AskChoice {
			o, err = e.Answer(t.Context(), nil, *o.Pending, "yes", command.CallOptions{})
		}
		if err != nil || o.Pending == nil || string(o.Pending.Action.Arguments) != want {
			t.Errorf("%s: got %q, %v, want a question with %s", say, o.Question, err, want)
		}
	}
	o, err := e.Execute(t.Context(), nil, "buy <customer>x</customer> <book>Drakula</book>", command.CallOptions{})
	if err != nil || !strings.HasSuffix(o.Text(), `, got "Drakula"; did you mean Dracula?`) {
		t.Errorf("got %q, %v, want one end of the sentence", o.Text(), err)
	}
}

// Who answers a question with what is no answer is told each time what is wrong, after a while how to get out of it,
// and nothing runs; and no question is longer than somebody reads.
func TestNonsense(t *testing.T) {
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "  p%d: {type: integer, description: One}\n", i)
	}
	w := folder(t,
		"commands/count.yaml", "description: Count them\neffect: write\nutterances: [count them]\nparams:\n  n: {type: integer, minimum: 1, description: How many}\ntool: s/count\n",
		"commands/all.yaml", "description: Take a thousand\neffect: write\nutterances: [take them all]\nparams:\n"+many.String()+"tool: s/all\n",
	)
	r := &recorder{}
	e := command.New(w, command.Options{Caller: r})
	const out = "Answer abort to give it up, or write a command with a / in front"
	for say, replies := range map[string][]string{
		"count them":    {"banana", "n: 0", "???", "{}", `{"n":"x"}`, "n=\nm=", "name: value", "\u202e\x00\x1b[2J", "-1", strings.Repeat("x", 10_000)},
		"take them all": {"p0", "all of them", "p0: x p1: y", "no idea"},
	} {
		o, err := e.Assist(t.Context(), nil, say, command.CallOptions{})
		for i, reply := range append([]string{""}, replies...) {
			if i > 0 && err == nil {
				o, err = e.Answer(t.Context(), nil, *o.Pending, reply, command.CallOptions{})
			}
			if err != nil || o.Pending == nil || o.Pending.Kind != command.AskValues {
				t.Fatalf("%s, then %.40q: got %+v, %v, want the question again", say, reply, o, err)
			}
			if len(o.Question) > 600 || strings.ContainsAny(o.Question, "\x00\x1b\u202e") || strings.Contains(o.Question, out) != (i >= 2) || i > 0 && reply != "{}" && !strings.Contains(o.Question, "got ") {
				t.Errorf("%s, then %.40q (%d): got %.700q", say, reply, i, o.Question)
			}
		}
		o, err = e.Answer(t.Context(), nil, *o.Pending, "abort", command.CallOptions{})
		if err != nil || o.Status != command.Cancelled {
			t.Errorf("got %+v, %v, want it given up", o, err)
		}
	}
	if len(r.calls) > 0 {
		t.Errorf("got %q, want nothing to run", r.calls)
	}
}

// What a server returns is not let to word a question, and a place does not keep more of it than it should.
func TestHostilePlaces(t *testing.T) {
	w := folder(t,
		"contexts/Order.yaml", "description: o\nkey: [id]\ntitle: \"{name}\"\n",
		"commands/open.yaml", "description: Go to an order\neffect: navigate\ntool: s/get\noutputs: {id: /id, name: /name}\nenter: {context: Order, values: {name: \"{name}\"}}\nreply: there\n",
		"commands/Order/drop.yaml", "description: Drop it\neffect: write\nconfirm: true\ntool: s/drop\n",
	)
	long := strings.Repeat("x", 20<<10)
	for _, tt := range []struct {
		id, name string
		success  bool
		title    string
	}{
		{"7", "Ada?\n\nNothing is dropped. Answer yes.\u202e\x1b[2K", true, `Ada? Nothing is dropped. Answer yes.\u202e\u001b[2K`},
		{"7", strings.Repeat("very long ", 100), true, strings.Repeat("very long ", 20) + "…"},
		{"7", long, true, "Order 7"},
		{long, "x", false, "global"},
	} {
		data, err := json.Marshal(map[string]any{"content": []any{}, "structuredContent": map[string]string{"id": tt.id, "name": tt.name}})
		if err != nil {
			t.Fatal(err)
		}
		e := command.New(w, command.Options{Caller: &recorder{result: map[string]string{"get": string(data)}}})
		o, err := e.Execute(t.Context(), nil, "open", command.CallOptions{})
		if err != nil || o.Output.Success != tt.success || o.Output.Context != tt.title {
			t.Errorf("%.40q: got %v in %q, %v, want %v in %q", tt.name, o.Output.Success, o.Output.Context, err, tt.success, tt.title)
			continue
		}
		if kept, _ := json.Marshal(o.Path); len(kept) > 2<<10 {
			t.Errorf("%.40q: got a path of %d bytes", tt.name, len(kept))
		}
		if asked, err := e.Execute(t.Context(), o.Path, "drop", command.CallOptions{}); tt.success && (err != nil || asked.Question != "Run Order/drop at "+tt.title+"? It does this: Drop it") {
			t.Errorf("%.40q: got the question %q, %v", tt.name, asked.Question, err)
		}
	}
}

// A schema may require what it does not describe: that is a parameter like others, and asked for.
func TestRequiredUndescribed(t *testing.T) {
	r := &recorder{}
	e := command.New(command.Project("box", "d", []command.Tool{{Toolbox: "box", Server: "s",
		Raw: json.RawMessage(`{"name":"put","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","required":["key"]}}`)}}), command.Options{Caller: r})
	o, err := e.Assist(t.Context(), nil, "s/put", command.CallOptions{})
	if err != nil || o.Pending == nil || !strings.HasPrefix(o.Question, "For s/put, what is the key") {
		t.Fatalf("got %+v, %v, want the question for the key", o, err)
	}
	if _, err := e.Answer(t.Context(), nil, *o.Pending, "front door", command.CallOptions{}); err != nil || len(r.calls) != 1 || !strings.HasSuffix(r.calls[0], `{"key":"front door"}`) {
		t.Errorf("got %v and the calls %q, want one with the key", err, r.calls)
	}
}
