package wire_test

import (
	"testing"

	"github.com/mcp-workbench/workbench/internal/wire"
)

func TestMap(t *testing.T) {
	for _, tt := range []struct{ is, object, array string }{
		{`{}`, `{}`, ``}, {`[]`, ``, `[]`}, {`1`, ``, ``}, {`"{"`, ``, ``},
		{`{ "a" : 1 , "b":[ 2 ] }`, `{ "a" : 1 , "b":[ 2 ] }`, ``},
		{`{ "a" : 1, "b":"drop", "c":3 }`, `{ "a" : 1,"c":3}`, ``},
		{`{"a":"drop","b":"new"}`, `{"b":{"n":0}}`, ``},
		{`{"a":"drop"}`, `{}`, ``},
		{`[ 1, "new" ,"drop", [2]]`, ``, `[ 1,{"n":0},[2]]`},
		{`["drop"]`, ``, `[]`},
		{`[ ]`, ``, `[ ]`},
	} {
		raw := []byte("xx" + tt.is + "yy")
		in := wire.Span{Start: 2, End: len(raw) - 2}
		of := func(val wire.Span) []byte {
			switch value := raw[val.Start:val.End]; string(value) {
			case `"drop"`:
				return nil
			case `"new"`:
				return []byte(`{"n":0}`)
			default:
				return value
			}
		}
		object := wire.MapMembers(raw, in, func(name []byte, val wire.Span) []byte {
			if len(name) != 3 || name[0] != '"' {
				t.Errorf("%s: got the name %s", tt.is, name)
			}
			return of(val)
		})
		array := wire.MapElements(raw, in, of)
		if string(object) != tt.object || string(array) != tt.array {
			t.Errorf("%s: got %s and %s, want %s and %s", tt.is, object, array, tt.object, tt.array)
		}
		for _, got := range [][]byte{object, array} {
			if got != nil && wire.IsSame(got, raw, in) != (string(got) == tt.is) {
				t.Errorf("%s: its own bytes %v", tt.is, wire.IsSame(got, raw, in))
			}
		}
		if string(raw) != "xx"+tt.is+"yy" {
			t.Errorf("%s became %s", tt.is, raw)
		}
	}
}
