package wire_test

import (
	"testing"

	"github.com/mcp-workbench/workbench/internal/wire"
)

func TestForgive(t *testing.T) {
	for _, tt := range []struct{ name, raw, want string }{
		{"params of a request", `{"jsonrpc":"2.0","id":1,"method":"a","params":null}`, `{"jsonrpc":"2.0","id":1,"method":"a"}`},
		{"params of a notification", ` {"params": null, "jsonrpc":"2.0","method":"notifications/a"}`, `{"jsonrpc":"2.0","method":"notifications/a"}`},
		{"all that a struct has", `{"jsonrpc":"2.0","id":1,"method":null,"params":null,"result":{"x":null},"error":null}`, `{"jsonrpc":"2.0","id":1,"result":{"x":null}}`},
		{"a result beside an error", `{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"null"}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"null"}}`},
		{"a result of null", `{"jsonrpc":"2.0","id":1,"result":null,"error":null}`, `{"jsonrpc":"2.0","id":1,"result":null}`},
		{"the id of a notification", `{"jsonrpc":"2.0","id":null,"method":"notifications/a","result":null}`, `{"jsonrpc":"2.0","method":"notifications/a"}`},
		{"other members", `{"jsonrpc":"2.0","id":1,"other":null,"method":"a","params":null}`, `{"jsonrpc":"2.0","id":1,"other":null,"method":"a"}`},
		{"the id of a request", `{"jsonrpc":"2.0","id":null,"method":"tools/call"}`, ""},
		{"the id of a result", `{"jsonrpc":"2.0","id":null,"result":{}}`, ""},
		{"both", `{"jsonrpc":"2.0","id":1,"result":{},"error":{},"params":null}`, ""},
		{"neither", `{"jsonrpc":"2.0","id":1,"error":null}`, ""},
		{"twice", `{"jsonrpc":"2.0","id":1,"method":"a","params":null,"params":{}}`, ""},
		{"like params", `{"jsonrpc":"2.0","id":1,"method":"a","Params":null}`, ""},
		{"the version", `{"jsonrpc":null,"id":1,"method":"a","params":null}`, ""},
		{"a list", `[null]`, ""},
		{"no JSON", `{"jsonrpc":"2.0","id":1,"method":"a","params":null`, ""},
	} {
		var m wire.Message
		err := wire.Scan([]byte(tt.raw), &m)
		if err == nil {
			t.Fatalf("%s: got no error, want one to forgive", tt.name)
		}
		switch again := wire.Forgive([]byte(tt.raw), &m, err); {
		case tt.want == "" && again != err:
			t.Errorf("%s: got %v, want %v", tt.name, again, err)
		case tt.want != "" && (again != nil || string(m.Raw) != tt.want || m.Kind == wire.Invalid):
			t.Errorf("%s: got %s, %v, want %s", tt.name, m.Raw, again, tt.want)
		}
	}
}
