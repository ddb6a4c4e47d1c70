package wiretest_test

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name, line string
		want       string // a piece of the error; empty for none
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"m","params":{}}`, ""},
		{"notification", `{"jsonrpc":"2.0","method":"m"}`, ""},
		{"result", `{"jsonrpc":"2.0","id":"a","result":null}`, ""},
		{"error with id null", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, ""},
		{"unknown member", `{"jsonrpc":"2.0","method":"m","x":[1]}`, ""},
		{"not JSON", `hello`, "invalid character"},
		{"cut", `{"jsonrpc":"2.0","method":"m"`, "EOF"},
		{"batch", `[{"jsonrpc":"2.0","method":"m"}]`, "begins with ["},
		{"two values", `{"jsonrpc":"2.0","method":"m"}{}`, "more than one value"},
		{"key twice", `{"jsonrpc":"2.0","id":1,"id":1,"result":{}}`, `"id" twice`},
		{"key in another case", `{"jsonrpc":"2.0","id":1,"Result":{}}`, "0 outcomes"},
		{"no version", `{"id":1,"result":{}}`, "jsonrpc is"},
		{"other version", `{"jsonrpc":"1.0","id":1,"result":{}}`, "jsonrpc is"},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}`, "2 outcomes"},
		{"method and result", `{"jsonrpc":"2.0","id":1,"method":"m","result":{}}`, "method and an outcome"},
		{"reply without id", `{"jsonrpc":"2.0","result":{}}`, "without an id"},
		{"method of another type", `{"jsonrpc":"2.0","method":1}`, "method:"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := wiretest.Parse([]byte(test.line))
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got error %v want %q", err, test.want)
			}
		})
	}
}

func TestModern(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"wiretest","version":"1.0.0"},` +
		`"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}`
	tests := []struct{ name, params, want string }{
		{"none", "", "{" + meta + "}"},
		{"empty", " { } ", "{" + meta + "}"},
		{"some", `{"name":"x"}`, "{" + meta + `,"name":"x"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := wiretest.Modern(test.params, `{"roots":{}}`); got != test.want {
				t.Errorf("got %s want %s", got, test.want)
			}
		})
	}
}
