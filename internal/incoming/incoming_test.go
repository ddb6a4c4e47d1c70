package incoming_test

import (
	"errors"
	"testing"

	"github.com/mcp-workbench/workbench/internal/incoming"
	"github.com/mcp-workbench/workbench/internal/wire"
)

const call = `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"n","arguments":{"x":1},"task":{},"requestState":"s","inputResponses":{},` +
	`"_meta":{"progressToken":7,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c"},` +
	`"io.modelcontextprotocol/clientCapabilities":{"roots":{}},"io.modelcontextprotocol/logLevel":"info"}}}`

func read(t *testing.T, raw string) (*incoming.Request, error) {
	t.Helper()
	r := new(incoming.Request)
	if err := wire.Scan([]byte(raw), &r.Message); err != nil {
		t.Fatal(err)
	}
	return r, r.Read()
}

// wantParts compares the parts of the request above.
func wantParts(t *testing.T, r *incoming.Request) {
	t.Helper()
	for _, part := range []struct {
		name string
		at   wire.Span
		want string
	}{
		{"id", r.ID, `"a"`}, {"method", r.Method, "tools/call"},
		{"name", r.Name, `"n"`}, {"arguments", r.Args, `{"x":1}`}, {"task", r.Task, "{}"}, {"state", r.State, `"s"`}, {"responses", r.Responses, "{}"},
		{"token", r.Token, "7"}, {"info", r.Info, `{"name":"c"}`}, {"capabilities", r.Capabilities, `{"roots":{}}`}, {"level", r.LogLevel, `"info"`},
	} {
		if got := string(r.Bytes(part.at)); got != part.want {
			t.Errorf("%s: got %s, want %s", part.name, got, part.want)
		}
	}
}

func TestRead(t *testing.T) {
	r, err := read(t, call)
	if err != nil {
		t.Fatal(err)
	}
	wantParts(t, r)
	if r.MethodName != "tools/call" || r.Version != "2026-07-28" || !r.Versioned || !r.HasMeta() || !r.HasCapabilities() || r.URI.Present() {
		t.Errorf("got %+v", r)
	}
	if r, err := read(t, `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt"},"name":"other"}}`); err != nil || string(r.Bytes(r.Name)) != `{"type":"ref/prompt"}` {
		t.Errorf("got %s, %v for what a completion is about, want its ref", r.Bytes(r.Name), err)
	}
	if r, err := read(t, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":3}}`); err != nil || r.HasMeta() || r.HasCapabilities() || r.Versioned {
		t.Errorf("got %+v, %v of metadata that is a number", r, err)
	}
}

// Whoever answers a request that is wrong needs its id.
func TestReadFault(t *testing.T) {
	for _, raw := range []string{
		`{"jsonrpc":"2.0","id":17,"method":"ping","params":{"_meta":{},"_meta":{}}}`,
		`{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"Name":"n"}}`,
		`{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"_meta":{"progressToken":1,"progressToken":2}}}`,
	} {
		_, err := read(t, raw)
		var bad *wire.Error
		if !errors.As(err, &bad) || bad.Code != wire.CodeInvalidParams || string(bad.ID) != "17" {
			t.Errorf("%s: got %v, want the fault with the id", raw, err)
		}
	}
}

// The parts of a request that is edited are found where they are then.
func TestWith(t *testing.T) {
	r, err := read(t, call)
	if err != nil {
		t.Fatal(err)
	}
	rest := []wire.Edit{{Span: r.Token, New: []byte("8")}}
	longer, rest := r.With(wire.Edit{Span: wire.At(r.Params.Start + 1), New: []byte(`"more":true,`)}, rest)
	wantParts(t, longer)
	if got := string(longer.Bytes(rest[0].Span)); got != "7" {
		t.Errorf("the edit that is left replaces %s, want 7", got)
	}
	if got := wire.Splice(nil, longer.Raw, rest...); len(got) != len(longer.Raw) {
		t.Errorf("got %s", got)
	}
	bare, err := read(t, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}`)
	if err != nil {
		t.Fatal(err)
	}
	if with, _ := bare.With(wire.Edit{Span: wire.At(bare.Params.Start + 1), New: []byte(`"_meta":{}`)}, nil); !with.HasMeta() {
		t.Errorf("the metadata that were added to %s are not found", with.Raw)
	}
}

// What each call passes through leaves nothing behind.
func TestReadAllocatesNothing(t *testing.T) {
	raw := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1},"_meta":{"progressToken":1}}}`)
	var r incoming.Request
	if got := testing.AllocsPerRun(100, func() {
		if err := wire.Scan(raw, &r.Message); err != nil {
			t.Fatal(err)
		}
		if err := r.Read(); err != nil {
			t.Fatal(err)
		}
	}); got != 0 {
		t.Errorf("got %v allocations, want none", got)
	}
}
