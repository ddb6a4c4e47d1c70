package example_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/command/example"
)

func engine(t *testing.T) *command.Engine {
	t.Helper()
	shop := example.New()
	w, err := command.Load(example.Files(), command.LoadOptions{Tools: shop.Tools()})
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Warnings) > 0 {
		t.Errorf("got warnings %v, want none", w.Warnings)
	}
	return command.New(w, command.Options{Caller: shop})
}

// The walk that the documentation shows.
func TestWalk(t *testing.T) {
	e := engine(t)
	tests := []struct {
		say       string
		confirmed bool
		success   bool
		text      string // a piece of the answer
		context   string // where the session stands then
	}{
		{say: "list_orders <status>open</status>", success: true, text: "44830, Ines Brandt, open\n44821, Ada Reed, open", context: "global"},
		{say: "cancel_order", text: "Go there first: open_order", context: "global"},
		{say: "open_order <order_id>44822</order_id>", text: "order_id does not exist, got \"44822\"; did you mean 44821", context: "global"},
		{say: "open_order <order_id>44821</order_id>", success: true, text: "Order 44821 of Ada Reed, open:\n1. Emma, 2", context: "Order 44821 of Ada Reed"},
		{say: "cancel_order", text: "reason is missing (Why it is cancelled); one of no longer needed", context: "Order 44821 of Ada Reed"},
		{say: "open_line <line>2.0</line>", success: true, text: "The Waves, 1", context: "line 2 of order 44821, The Waves"},
		{say: "change_copies <copies>3</copies>", success: true, text: "The Waves: 3 copies now.", context: "line 2 of order 44821, The Waves"},
		{say: "Order/add_note <note>Gift &amp; card</note>", success: true, text: "Noted.", context: "line 2 of order 44821, The Waves"},
		{say: "go_up", success: true, text: "global > Order 44821 of Ada Reed.", context: "Order 44821 of Ada Reed"},
		{say: "show_order", success: true, text: "2. The Waves, 3\nNote: Wants them before Friday\nNote: Gift & card", context: "Order 44821 of Ada Reed"},
		{say: "cancel_order <reason>late</reason>", text: "Run Order/cancel_order with order_id \"44821\", reason \"late\"", context: "Order 44821 of Ada Reed"},
		{say: "cancel_order <reason>late</reason>", confirmed: true, success: true, text: "Order 44821 is cancelled: late.", context: "Order 44821 of Ada Reed"},
		{say: "cancel_order <reason>late</reason>", confirmed: true, text: "order 44821 is cancelled and cannot be cancelled", context: "Order 44821 of Ada Reed"},
		{say: "reset_context", success: true, text: "top", context: "global"},
	}
	var path command.Path
	for _, test := range tests {
		o, err := e.Execute(context.Background(), path, test.say, command.CallOptions{Confirmed: test.confirmed})
		if err != nil {
			t.Fatalf("%s: %v", test.say, err)
		}
		if got := o.Text(); o.Output.Success != test.success || !strings.Contains(got, test.text) || o.Output.Context != test.context {
			t.Errorf("%s:\ngot  %v %q at %q\nwant %v %q at %q", test.say, o.Output.Success, got, o.Output.Context, test.success, test.text, test.context)
		}
		// What a session keeps survives being stored.
		stored, err := json.Marshal(o.Path)
		if err != nil {
			t.Fatal(err)
		}
		path = nil
		if err := json.Unmarshal(stored, &path); err != nil {
			t.Fatal(err)
		}
	}
}

// The startup command of the workflow works.
func TestStartup(t *testing.T) {
	e := engine(t)
	o, err := e.Execute(context.Background(), nil, e.Workflow().Startup, command.CallOptions{})
	if err != nil || !o.Output.Success {
		t.Errorf("got %v, %v, want success", o, err)
	}
}

// The shop is an MCP server, too.
func TestServer(t *testing.T) {
	var answers []string
	s := example.New().Connect(func(msg []byte) { answers = append(answers, string(msg)) })
	for _, msg := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get_order","arguments":{"order_id":"44817"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"get_order","arguments":{"order_id":"1"}}}`,
	} {
		s.Receive([]byte(msg))
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	wants := []string{`"protocolVersion":"2025-06-18"`, `"name":"cancel_order"`, `"customer":"Tom Hale"`, `"isError":true`}
	if len(answers) != len(wants) {
		t.Fatalf("got %d answers, want %d: %q", len(answers), len(wants), answers)
	}
	for i, want := range wants {
		var m wire.Message
		if err := wire.Scan([]byte(answers[i]), &m); err != nil || m.Kind != wire.Result || !strings.Contains(answers[i], want) {
			t.Errorf("got %s, %v, want a result with %s", answers[i], err, want)
		}
	}
}
