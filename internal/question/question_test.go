package question_test

import (
	"bufio"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/question"
)

func TestAsk(t *testing.T) {
	const form = `{"message":"Book\u001b[31m a table","requestedSchema":{"type":"object","properties":{
		"guests":{"type":"integer","title":"Guests"},"when":{"type":"string","enum":["noon","night"],"enumNames":["At noon","At night"]},
		"out":{"type":"boolean","default":false},"with":{"type":"array","items":{"anyOf":[{"const":"w","title":"Wine"},{"const":"b"}]}}},"required":["guests","when"]}}`
	tests := []struct{ name, params, typed, want string }{
		{"a form", form, "2\nnight\nyes\nw, b\n", `{"action":"accept","content":{"guests":2,"when":"night","out":true,"with":["w","b"]}}`},
		{"left out", form, "2\nAt noon\n\n\n", `{"action":"accept","content":{"guests":2,"when":"noon","out":false}}`},
		{"until it fits", form, "two\n\n2\nsoon\nnoon\nmaybe\nno\nx\n\n", `{"action":"accept","content":{"guests":2,"when":"noon","out":false}}`},
		{"never", form, "two\ntwo\ntwo\ntwo\ntwo\n", `{"action":"decline"}`},
		{"declined", form, "2\n!\n", `{"action":"decline"}`},
		{"the end of the input", form, "2\n", `{"action":"cancel"}`},
		{"no fields, yes", `{"message":"Sure?","requestedSchema":{"type":"object","properties":{}}}`, "y\n", `{"action":"accept","content":{}}`},
		{"no fields, no", `{"message":"Sure?"}`, "\n", `{"action":"decline"}`},
		{"an address", `{"mode":"url","message":"Pay","url":"https://pay.example/1"}`, "yes\n", `{"action":"accept"}`},
		{"an address refused", `{"mode":"url","message":"Pay","url":"https://pay.example/1"}`, "no\n", `{"action":"decline"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			terminal := question.Terminal{In: bufio.NewReader(strings.NewReader(test.typed)), Out: &out}
			got, err := terminal.Ask("shop", []byte(test.params))
			if err != nil || string(got) != test.want {
				t.Errorf("got %s and %v, want %s", got, err, test.want)
			}
			if strings.Contains(out.String(), "\x1b") || !strings.Contains(out.String(), "Server shop asks:") {
				t.Errorf("got %q on the terminal", out.String())
			}
		})
	}
	for _, params := range []string{`[]`, `{"requestedSchema":{"properties":{"a":7}}}`, `{"message":{}}`} {
		terminal := question.Terminal{In: bufio.NewReader(strings.NewReader("1\n")), Out: new(strings.Builder)}
		if got, err := terminal.Ask("shop", []byte(params)); err == nil {
			t.Errorf("%s: got %s, want an error", params, got)
		}
	}
}
