package wire_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

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

// A long message that a Reader lends is edited where it lies, without harm to the messages around it; what does not fit
// there, and a message that is short or not lent, is copied.
func TestMessageSplice(t *testing.T) {
	text := strings.Repeat("0123456789", 2000)
	first := `{"jsonrpc":"2.0","id":12,"result":{"text":"` + text + `"}}`
	last := `{"result":{"text":"` + text + `"},"jsonrpc":"2.0","id":12}`
	long := `"` + strings.Repeat("x", 300) + `"`
	middle := func(m *wire.Message) wire.Span { return wire.Span{Start: len(m.Raw) / 2, End: len(m.Raw)/2 + 1} }
	for _, tt := range []struct {
		name, line, id, text string // text is what a byte in the middle becomes; "" leaves it
		where                string // the result: "in place", "copied", or "" where the bytes around decide
	}{
		{"shorter", first, "1", "", "in place"},
		{"as long", first, "34", "", "in place"},
		{"longer", first, `"0123456789abcdef"`, "", "in place"},
		{"too long", first, long, "", ""},
		{"id last, shorter", last, "1", "", "in place"},
		{"id last, too long", last, long, "", ""},
		{"twice", first, `"id"`, "abc", "in place"},
		{"id last, twice", last, `1`, "", "in place"},
		{"short", `{"jsonrpc":"2.0","id":12,"result":{}}`, "1", "", "copied"},
		{"white space", " \t" + first + " \r", "345", "", "in place"},
	} {
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "in halves": iotest.HalfReader,
		} {
			t.Run(tt.name+", "+name, func(t *testing.T) {
				r := wire.NewReader(wrap(strings.NewReader(strings.Repeat(tt.line+"\n", 20))), 0)
				var buf []byte
				for n := range 20 {
					line, err := r.Next()
					if err != nil {
						t.Fatalf("message %d: %v", n, err)
					}
					if string(line) != strings.TrimSpace(tt.line) {
						t.Fatalf("message %d was changed by those before it", n)
					}
					var m wire.Message
					if err := wire.Scan(line, &m); err != nil {
						t.Fatal(err)
					}
					edits := []wire.Edit{{Span: m.ID, New: []byte(tt.id)}, {}}
					if tt.text != "" {
						edits[1] = wire.Edit{Span: middle(&m), New: []byte(tt.text)}
					}
					want := wire.Splice(nil, line, edits...)
					if got := m.Clone().Splice(&buf, edits...); !bytes.Equal(got, want) || &got[0] != &buf[0] {
						t.Fatalf("message %d, not lent: got another message, or none of its own", n)
					}
					r.Lend(&m)
					got := m.Splice(&buf, edits...)
					if !bytes.Equal(got, want) {
						t.Fatalf("message %d: got %.60q, want %.60q", n, got, want)
					}
					if copied := &got[0] == &buf[0]; tt.where != "" && copied != (tt.where == "copied") {
						t.Fatalf("message %d: got copied: %v, want %s", n, copied, tt.where)
					}
				}
				if _, err := r.Next(); err != io.EOF {
					t.Fatal(fmt.Errorf("got %w, want the end", err))
				}
			})
		}
	}
}
