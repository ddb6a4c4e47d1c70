package wire_test

import (
	"testing"

	"github.com/mcp-workbench/workbench/internal/wire"
)

func TestScan(t *testing.T) {
	for _, tt := range []struct {
		name, raw string
		kind      wire.Kind
		id        string
		method    string
		params    string
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, wire.Request, "1", "tools/call", `{"name":"x"}`},
		{"notification", ` {"method":"a","jsonrpc":"2.0"} `, wire.Notification, "", "a", ""},
		{"result", `{"jsonrpc":"2.0","id":"a\"b","result":[1,{"a":[]},{}]}`, wire.Result, `"a\"b"`, "", ""},
		{"failure", `{"jsonrpc":"2.0","id":null,"error":{"code":-1.5e+3}}`, wire.Failure, `null`, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var m wire.Message
			if err := wire.Scan([]byte(tt.raw), &m); err != nil {
				t.Fatal(err)
			}
			if m.Kind != tt.kind || string(m.Bytes(m.ID)) != tt.id || string(m.Bytes(m.Method)) != tt.method || string(m.Bytes(m.Params)) != tt.params {
				t.Errorf("got %v id %s method %s params %s", m.Kind, m.Bytes(m.ID), m.Bytes(m.Method), m.Bytes(m.Params))
			}
		})
	}
}
