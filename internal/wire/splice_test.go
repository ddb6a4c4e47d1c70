package wire_test

import (
	"testing"

	"github.com/mcp-workbench/workbench/internal/wire"
)

func TestSplice(t *testing.T) {
	const raw = `{"id":1,"params":{}}`
	id := wire.Span{Start: 6, End: 7}
	for _, tt := range []struct {
		name  string
		edits []wire.Edit
		want  string
	}{
		{"nothing", nil, raw},
		{"shorter", []wire.Edit{{wire.Span{Start: 1, End: 8}, nil}}, `{"params":{}}`},
		{"longer", []wire.Edit{{id, []byte(`"long"`)}}, `{"id":"long","params":{}}`},
		{"insert", []wire.Edit{{wire.At(18), []byte(`"a":1`)}}, `{"id":1,"params":{"a":1}}`},
		{"several", []wire.Edit{{id, []byte("2")}, {wire.At(18), []byte(`"a":1`)}, {wire.At(20), []byte("\n")}}, "{\"id\":2,\"params\":{\"a\":1}}\n"},
		{"side by side", []wire.Edit{{id, []byte("2")}, {wire.At(7), []byte("3")}, {wire.Span{Start: 7, End: 8}, []byte(";")}}, `{"id":23;"params":{}}`},
		{"absent span", []wire.Edit{{wire.Span{}, []byte("lost")}, {id, []byte("2")}}, `{"id":2,"params":{}}`},
		{"absent span behind", []wire.Edit{{id, []byte("2")}, {wire.Span{}, []byte("lost")}}, `{"id":2,"params":{}}`},
		{"whole", []wire.Edit{{wire.Span{Start: 0, End: 20}, []byte("{}")}}, "{}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(wire.Splice([]byte("> "), []byte(raw), tt.edits...)); got != "> "+tt.want {
				t.Errorf("got %s, want > %s", got, tt.want)
			}
		})
	}
}

func TestSpliceOutOfOrderPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("got no panic, want one")
		}
	}()
	wire.Splice(nil, []byte("0123456789"), wire.Edit{Span: wire.Span{Start: 5, End: 7}}, wire.Edit{Span: wire.Span{Start: 6, End: 8}})
}
