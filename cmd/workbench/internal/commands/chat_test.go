package commands

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// Tab completes a line as far as there is one way to go on.
func TestCompleteLine(t *testing.T) {
	list := []command.ListedEntry{
		{Name: "Order/cancel_order", Parameters: []command.ListedParam{{Name: "reason", Choices: []string{"late", "no longer needed"}}, {Name: "refund"}}},
		{Name: "list_orders", Parameters: []command.ListedParam{{Name: "status", Choices: []string{"open", "shipped"}}}},
		{Name: "list_books"},
	}
	for _, tt := range []struct {
		line, want string
		choices    []string
	}{
		{"li", "list_", []string{"list_books ", "list_orders "}},
		{"/list_o", "/list_orders ", []string{"/list_orders "}},
		{"can", "cancel_order ", []string{"cancel_order "}},
		{"Ord", "Order/cancel_order ", []string{"Order/cancel_order "}},
		{"list_orders st", "list_orders status=", []string{"status="}},
		{"list_orders status=o", "list_orders status=open ", []string{"status=open "}},
		{"cancel_order re", "cancel_order re", []string{"reason=", "refund="}},
		{"cancel_order reason=", "cancel_order reason=", []string{`reason="no longer needed" `, "reason=late "}},
		{"show me the ord", "show me the ord", nil},
		{"x", "x", nil},
	} {
		if got, choices := completeLine(tt.line, list); got != tt.want || !slices.Equal(choices, tt.choices) {
			t.Errorf("%q: got %q with %q, want %q with %q", tt.line, got, choices, tt.want, tt.choices)
		}
	}
}

// What was carried out before a question is answered is told, and a question only once.
func TestReply(t *testing.T) {
	for _, tt := range []struct{ answer, want string }{
		{`{"success":true,"question":"Shall it?","command_responses":[{"response":"You are here."}]}`, "You are here.\nShall it?"},
		{`{"success":true,"question":"Shall it?","command_responses":[{"response":"Shall it?"}]}`, "Shall it?"},
		{`{"success":false,"question":"Which?","command_responses":[{"response":"not run"}]}`, "Which?"},
		{`{"success":true,"response_text":"done"}`, "done"},
	} {
		var s spoken
		if err := json.Unmarshal([]byte(tt.answer), &s); err != nil {
			t.Fatal(err)
		}
		if got := s.reply(); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.answer, got, tt.want)
		}
	}
}
