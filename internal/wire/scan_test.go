package wire_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// accepted are messages that Scan takes, and what it finds in them.
func accepted() []struct {
	name, raw, found string
} {
	return []struct{ name, raw, found string }{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`,
			`request id=1 method=tools/call params={"name":"x"}`},
		{"members in any order", `{"method":"tools/call","params":{"a":[1,{}]},"jsonrpc":"2.0","id":"é"}`,
			`request id="é" method=tools/call params={"a":[1,{}]}`},
		{"white space everywhere", " \t\r\n{ \"jsonrpc\" : \"2.0\" ,\n\"id\" :\t1 , \"method\":\r\"a\" , \"params\" : { } } \n",
			`request id=1 method=a params={ }`},
		{"notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`notification method=notifications/initialized`},
		{"result", `{"jsonrpc":"2.0","id":"a\"b","result":{"content":[]}}`, `result id="a\"b" result={"content":[]}`},
		{"result that is no object", `{"jsonrpc":"2.0","id":1,"result":null}`, `result id=1 result=null`},
		{"failure", `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}`,
			`failure id=1 error={"code":-32000,"message":"no"}`},
		{"failure with id null", `{"jsonrpc":"2.0","id":null,"error":{}}`, `failure id=null error={}`},
		{"failure without id", `{"jsonrpc":"2.0","error":{}}`, `failure error={}`},
		{"id of any size", `{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"a"}`,
			`request id=123456789012345678901234567890 method=a`},
		{"id with fraction and exponent", `{"jsonrpc":"2.0","id":-0.5E+7,"method":"a"}`, `request id=-0.5E+7 method=a`},
		{"empty id", `{"jsonrpc":"2.0","id":"","method":"a"}`, `request id="" method=a`},
		{"unknown members", `{"jsonrpc":"2.0","x":[{"id":2}],"method":"a","":{},"ids":1,"i":1,"methods":0}`, `notification method=a`},
		{"names written with escapes", `{"jsonrpc":"2.0","\u0069d":1,"m\u0065thod":"a"}`, `request id=1 method=a`},
		{"lone surrogates", `{"jsonrpc":"2.0","method":"a","params":{"x":"\ud800","\udc00":"\ud800\ud800"}}`,
			`notification method=a params={"x":"\ud800","\udc00":"\ud800\ud800"}`},
		{"every escape", `{"jsonrpc":"2.0","method":"a","params":{"x":"\"\\\/\b\f\n\r\t\u00aF\uD83D\uDE00"}}`,
			`notification method=a params={"x":"\"\\\/\b\f\n\r\t\u00aF\uD83D\uDE00"}`},
		{"every literal", `{"jsonrpc":"2.0","id":1,"result":[true,false,null,0,-1,1.5,1e5,1E-5,"",{},[]]}`,
			`result id=1 result=[true,false,null,0,-1,1.5,1e5,1E-5,"",{},[]]`},
		{"arrays behind objects", `{"jsonrpc":"2.0","id":1,"result":[{"a":[]},[[],1],{"b":{}},[{},2],3]}`,
			`result id=1 result=[{"a":[]},[[],1],{"b":{}},[{},2],3]`},
		{"same member twice further in", `{"jsonrpc":"2.0","method":"a","params":{"id":1,"id":2}}`,
			`notification method=a params={"id":1,"id":2}`},
		{"characters at the borders of UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\x7f\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff\",\"method\":\"日本\"}",
			"request id=\"\x7f\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff\" method=日本"},
		{"as deep as allowed", `{"jsonrpc":"2.0","id":1,"result":` + nested(wire.MaxDepth-1) + `}`,
			`result id=1 result=` + nested(wire.MaxDepth-1)},
	}
}

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// refused are messages that Scan refuses.
func refused() []struct {
	name, raw string
	code      int
	text      string // a piece of the message
	id        string // the id to answer to
} {
	const parse, invalid = wire.CodeParse, wire.CodeInvalidRequest
	return []struct {
		name, raw string
		code      int
		text, id  string
	}{
		{"nothing", ``, parse, "byte 0: message ends too soon", ""},
		{"white space", " \t", parse, "byte 2: message ends too soon", ""},
		{"a banner", `Server listening`, parse, "byte 0: expected a value", ""},
		{"half a message", `{"jsonrpc":"2.0","id":1,"meth`, parse, "byte 29: message ends too soon", ""},
		{"brace alone", `{`, parse, "byte 1: message ends", ""},
		{"name alone", `{"id"`, parse, "byte 5: message ends", ""},
		{"colon alone", `{"id":`, parse, "byte 6: message ends", ""},
		{"comma alone", `{"id":1,`, parse, "byte 8: message ends", ""},
		{"no name", `{1:2}`, parse, "byte 1: expected a member name", ""},
		{"no colon", `{"id" 1}`, parse, "byte 6: expected a colon", ""},
		{"no comma", `{"id":1 "a":2}`, parse, "byte 8: expected a comma", ""},
		{"comma before the brace", `{"id":1,}`, parse, "byte 8: expected a member name", ""},
		{"comma before the bracket", `{"id":[1,]}`, parse, "byte 9: expected a value", ""},
		{"comma after the bracket", `{"id":[,1]}`, parse, "byte 7: expected a value", ""},
		{"brackets crossed", `{"id":[{]}}`, parse, "byte 8: expected a member name", ""},
		{"bracket for brace", `{"id":{"a":1]}`, parse, "byte 12: expected a comma", ""},
		{"brace for bracket", `{"id":[1}}`, parse, "byte 8: expected a comma", ""},
		{"array open", `{"id":[`, parse, "byte 7: message ends", ""},
		{"object open", `{"id":{`, parse, "byte 7: message ends", ""},
		{"nested name without colon", `{"id":{"a"1}}`, parse, "byte 10: expected a colon", ""},
		{"nested name that ends", `{"id":{"a"`, parse, "byte 10: message ends", ""},
		{"after the message", `{"jsonrpc":"2.0","method":"a"}{}`, parse, "byte 30: something comes after", ""},
		{"after another value", `1 2`, parse, "byte 2: something comes after", ""},
		{"single quotes", `{'id':1}`, parse, "byte 1: expected a member name", ""},
		{"comment", `{"id":1/**/}`, parse, "byte 7: expected a comma", ""},
		{"NaN", `{"id":NaN}`, parse, "byte 6: expected a value", ""},
		{"literal cut", `{"id":nul}`, parse, "byte 6: malformed literal", ""},
		{"literal in capitals", `{"id":True}`, parse, "byte 6: expected a value", ""},
		{"literal too long", `{"id":truex}`, parse, "byte 10: expected a comma", ""},
		{"leading zero", `{"id":01}`, parse, "byte 6: malformed number", ""},
		{"plus sign", `{"id":+1}`, parse, "byte 6: expected a value", ""},
		{"minus alone", `{"id":-}`, parse, "byte 7: malformed number", ""},
		{"no digits before the point", `{"id":.5}`, parse, "byte 6: expected a value", ""},
		{"no digits after the point", `{"id":1.}`, parse, "byte 8: malformed number", ""},
		{"no digits in the exponent", `{"id":1e+}`, parse, "byte 9: malformed number", ""},
		{"hexadecimal", `{"id":0x1}`, parse, "byte 7: expected a comma", ""},
		{"unknown escape", `{"id":"\x"}`, parse, "byte 7: malformed escape", ""},
		{"escape in capitals", `{"id":"\N"}`, parse, "byte 7: malformed escape", ""},
		{"escape of a quote alone", `{"id":"\"}`, parse, "byte 10: message ends", ""},
		{"escape at the end", `{"id":"\`, parse, "byte 7: malformed escape", ""},
		{"short unicode escape", `{"id":"\u12"}`, parse, "byte 7: malformed escape", ""},
		{"unicode escape at the end", `{"id":"\u12`, parse, "byte 7: malformed escape", ""},
		{"unicode escape not hexadecimal", `{"id":"\u12g4"}`, parse, "byte 7: malformed escape", ""},
		{"newline in a string", "{\"id\":\"a\nb\"}", parse, "byte 8: control character", ""},
		{"NUL in a string", "{\"id\":\"\x00\"}", parse, "byte 7: control character", ""},
		{"NUL between", "{\x00}", parse, "byte 1: expected a member name", ""},
		{"no-break space between", "{\u00a0}", parse, "byte 1: expected a member name", ""},
		{"byte order mark", "\ufeff{}", parse, "byte 0: expected a value", ""},
		{"stray continuation", "{\"id\":\"\x80\"}", parse, "byte 7: invalid UTF-8", ""},
		{"overlong two", "{\"id\":\"\xc0\xaf\"}", parse, "byte 7: invalid UTF-8", ""},
		{"overlong three", "{\"id\":\"\xe0\x9f\xbf\"}", parse, "byte 7: invalid UTF-8", ""},
		{"overlong four", "{\"id\":\"\xf0\x8f\xbf\xbf\"}", parse, "byte 7: invalid UTF-8", ""},
		{"surrogate in UTF-8", "{\"id\":\"\xed\xa0\x80\"}", parse, "byte 7: invalid UTF-8", ""},
		{"beyond Unicode", "{\"id\":\"\xf4\x90\x80\x80\"}", parse, "byte 7: invalid UTF-8", ""},
		{"lead byte that does not exist", "{\"id\":\"\xff\"}", parse, "byte 7: invalid UTF-8", ""},
		{"character cut", "{\"id\":\"é\xe6\x97\"}", parse, "byte 9: invalid UTF-8", ""},
		{"bad UTF-8 in a name", "{\"\xff\":1}", parse, "byte 2: invalid UTF-8", ""},
		{"bad UTF-8 far in", `{"id":"` + strings.Repeat("x", 100) + "\xff\"}", parse, "byte 107: invalid UTF-8", ""},
		{"grammar before rules", `{"jsonrpc":"1.0","id":1,"id":1`, parse, "message ends", ""},

		{"too deep", `{"jsonrpc":"2.0","id":1,"result":` + nested(wire.MaxDepth) + `}`, invalid, "deeper than 512", "1"},
		{"far too deep", strings.Repeat("[", 1<<20), invalid, "deeper than 512", ""},
		{"batch", ` [{"jsonrpc":"2.0","id":1,"method":"a"}]`, invalid, "batches", ""},
		{"empty batch", `[]`, invalid, "batches", ""},
		{"string", `"a"`, invalid, "a message is an object", ""},
		{"number", `1`, invalid, "a message is an object", ""},
		{"null", `null`, invalid, "a message is an object", ""},
		{"empty object", `{}`, invalid, `jsonrpc must be "2.0"`, ""},
		{"no version", `{"id":1,"method":"a"}`, invalid, `jsonrpc must be "2.0"`, "1"},
		{"other version", `{"jsonrpc":"1.0","id":"x","method":"a"}`, invalid, `jsonrpc must be "2.0"`, `"x"`},
		{"version as number", `{"jsonrpc":2.0,"id":1,"method":"a"}`, invalid, `jsonrpc must be "2.0"`, "1"},
		{"nothing but id", `{"jsonrpc":"2.0","id":1}`, invalid, "a method, a result or an error", "1"},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, invalid, "not both", "1"},
		{"result and error null", `{"jsonrpc":"2.0","id":1,"result":{},"error":null}`, invalid, "not both", "1"},
		{"method and result", `{"jsonrpc":"2.0","id":1,"result":{},"method":"a"}`, invalid, "not both", "1"},
		{"method and error", `{"jsonrpc":"2.0","error":{},"method":"a"}`, invalid, "not both", ""},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"a"}`, invalid, "id must be", ""},
		{"id boolean", `{"jsonrpc":"2.0","id":true,"method":"a"}`, invalid, "id must be", ""},
		{"id object", `{"jsonrpc":"2.0","id":{},"method":"a"}`, invalid, "id must be", ""},
		{"id array", `{"jsonrpc":"2.0","id":[1],"method":"a"}`, invalid, "id must be", ""},
		{"result without id", `{"jsonrpc":"2.0","result":{}}`, invalid, "id must be", ""},
		{"result with id null", `{"jsonrpc":"2.0","id":null,"result":{}}`, invalid, "id must be", ""},
		{"failure with id false", `{"jsonrpc":"2.0","id":false,"error":{}}`, invalid, "id must be", ""},
		{"error that is no object", `{"jsonrpc":"2.0","id":7,"error":"no"}`, invalid, "error must be an object", "7"},
		{"method null", `{"jsonrpc":"2.0","id":1,"method":null}`, invalid, "method must be a string", "1"},
		{"method number", `{"jsonrpc":"2.0","id":1,"method":1}`, invalid, "method must be a string", "1"},
		{"method empty", `{"jsonrpc":"2.0","id":1,"method":""}`, invalid, "method must be a string", "1"},
		{"method with escapes", `{"jsonrpc":"2.0","id":1,"method":"tools\/call"}`, invalid, "without escapes", "1"},
		{"params array", `{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}`, invalid, "params must be an object", "1"},
		{"params null", `{"jsonrpc":"2.0","id":1,"method":"a","params":null}`, invalid, "params must be an object", "1"},
		{"params string", `{"jsonrpc":"2.0","method":"a","params":"{}"}`, invalid, "params must be an object", ""},
		{"id twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}`, invalid, "duplicate member: id", ""},
		{"id twice and equal", `{"jsonrpc":"2.0","id":1,"method":"a","id":1}`, invalid, "duplicate member: id", ""},
		{"id twice, once with escapes", `{"jsonrpc":"2.0","id":1,"method":"a","i\u0064":2}`, invalid, "duplicate member: id", ""},
		{"method twice", `{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}`, invalid, "duplicate member: method", "1"},
		{"params twice", `{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}`, invalid, "duplicate member: params", "1"},
		{"version twice", `{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"a"}`, invalid, "duplicate member: jsonrpc", "1"},
		{"ID", `{"jsonrpc":"2.0","ID":1,"method":"a"}`, invalid, "case-sensitive: id", ""},
		{"Method beside method", `{"jsonrpc":"2.0","id":1,"method":"a","Method":"b"}`, invalid, "case-sensitive: method", "1"},
		{"Params with escapes", `{"jsonrpc":"2.0","id":1,"method":"a","\u0050arams":{}}`, invalid, "case-sensitive: params", "1"},
		{"long s", "{\"jsonrpc\":\"2.0\",\"id\":1,\"re\u017fult\":{}}", invalid, "case-sensitive: result", "1"},
		{"long s with escapes", `{"jsonrpc":"2.0","id":1,"re\u017fult":{}}`, invalid, "case-sensitive: result", "1"},
	}
}

func TestScanAccepts(t *testing.T) {
	m := wire.Message{Kind: wire.Failure, Error: wire.Span{Start: 1, End: 2}} // left from another scan
	for _, tt := range accepted() {
		t.Run(tt.name, func(t *testing.T) {
			if err := wire.Scan([]byte(tt.raw), &m); err != nil {
				t.Fatalf("got %v, want no error", err)
			}
			if got := describe(&m); got != tt.found {
				t.Errorf("got  %s\nwant %s", got, tt.found)
			}
		})
	}
}

// describe names what was found in a message.
func describe(m *wire.Message) string {
	var b strings.Builder
	b.WriteString(m.Kind.String())
	for _, part := range []struct {
		name string
		span wire.Span
	}{{"id", m.ID}, {"method", m.Method}, {"params", m.Params}, {"result", m.Result}, {"error", m.Error}} {
		if part.span.Present() {
			fmt.Fprintf(&b, " %s=%s", part.name, m.Bytes(part.span))
		}
	}
	return b.String()
}

func TestScanSaysError(t *testing.T) {
	for result, want := range map[string]bool{
		`{"content":[],"isError":true}`:                   true,
		`{ "isError" : true , "content":[{"isError":1}]}`: true,
		`{"is\u0045rror":true}`:                           true,
		`{}`:                                              false,
		`{"isError":false}`:                               false,
		`{"isError":"true"}`:                              false,
		`{"isError":true,"isError":true}`:                 false,
		`{"isError":true,"iserror":false}`:                false,
		`{"ISERROR":true}`:                                false,
		`{"content":[{"isError":true}],"_meta":{"isError":true}}`: false,
		`[{"isError":true}]`: false,
		`"isError"`:          false,
	} {
		var m wire.Message
		if err := wire.Scan([]byte(`{"jsonrpc":"2.0","isError":true,"id":1,"result":`+result+`}`), &m); err != nil || m.SaysError != want {
			t.Errorf("%s: got %v, %v, want %v", result, m.SaysError, err, want)
		}
	}
	var m wire.Message
	if err := wire.Scan([]byte(`{"jsonrpc":"2.0","id":1,"error":{"isError":true}}`), &m); err != nil || m.SaysError {
		t.Errorf("an error: got %v, %v, want false", m.SaysError, err)
	}
}

func TestScanRefuses(t *testing.T) {
	for _, tt := range refused() {
		t.Run(tt.name, func(t *testing.T) {
			var m wire.Message
			err := wire.Scan([]byte(tt.raw), &m)
			var fault *wire.Error
			if !errors.As(err, &fault) {
				t.Fatalf("got %v, want a *wire.Error", err)
			}
			if fault.Code != tt.code || !strings.Contains(fault.Message, tt.text) || string(fault.ID) != tt.id {
				t.Errorf("got  %d %q id %q\nwant %d …%q… id %q", fault.Code, fault.Message, fault.ID, tt.code, tt.text, tt.id)
			}
			if m.Kind != wire.Invalid {
				t.Errorf("got kind %v, want invalid", m.Kind)
			}
		})
	}
}

// A fault must be found wherever it lies, because text is read by words of 8 and blocks of 32 bytes, and the last bytes
// one by one.
func TestScanFaultsAtAnyOffset(t *testing.T) {
	faults := []string{"\x00", "\x1f", "\n", "\x80", "\xc3", "\xed\xa0\x80", `\x`, `\u12`}
	fine := []string{"", "é", "日", "😀", `\n`, `\"`, `\\`, `\u00e9`, "!", "#", "[", "]", "\x7f"}
	var m wire.Message
	for before := range 80 {
		for _, after := range []int{0, 1, 7, 40} {
			frame := `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", before) + "%s" + strings.Repeat("y", after) + `"}`
			for _, s := range fine {
				raw := fmt.Sprintf(frame, s)
				if err := wire.Scan([]byte(raw), &m); err != nil {
					t.Fatalf("%q at %d: got %v, want no error", s, before, err)
				}
			}
			for _, s := range faults {
				raw := fmt.Sprintf(frame, s)
				want := fmt.Sprintf("at byte %d:", strings.Index(raw, s))
				if err := wire.Scan([]byte(raw), &m); err == nil || !strings.Contains(err.Error(), want) {
					t.Fatalf("%q at %d: got %v, want a fault %s", s, before, err, want)
				}
			}
		}
	}
}

// Every single byte is tried in every role it can have in a short string.
func TestScanEveryByteInText(t *testing.T) {
	var m wire.Message
	for c := range 256 {
		raw := []byte(`{"jsonrpc":"2.0","id":1,"result":"12345` + string([]byte{byte(c)}) + `789"}`)
		want := c >= ' ' && c < 0x80 && c != '"' && c != '\\'
		if err := wire.Scan(raw, &m); (err == nil) != want {
			t.Errorf("byte %#x: got %v, want accepted %v", c, err, want)
		}
		raw = []byte(`{"jsonrpc":"2.0","id":1,"result":"\` + string([]byte{byte(c)}) + `0000"}`)
		want = slices.Contains([]byte(`"\/bfnrtu`), byte(c))
		if err := wire.Scan(raw, &m); (err == nil) != want {
			t.Errorf("escape of %#x: got %v, want accepted %v", c, err, want)
		}
	}
}

// Every character that folds to a letter of an envelope name is taken for it by some decoder.
func TestScanRefusesEveryFolding(t *testing.T) {
	var m wire.Message
	for _, name := range []string{"jsonrpc", "id", "method", "params", "result", "error"} {
		for i, c := range name {
			for r := unicode.SimpleFold(c); r != c; r = unicode.SimpleFold(r) {
				for _, spelt := range []string{string(r), fmt.Sprintf(`\u%04x`, r)} {
					raw := fmt.Sprintf(`{"jsonrpc":"2.0","method":"a","%s%s%s":{}}`, name[:i], spelt, name[i+1:])
					if err := wire.Scan([]byte(raw), &m); err == nil || !strings.Contains(err.Error(), "case-sensitive: "+name) {
						t.Errorf("%s: got %v, want it refused", raw, err)
					}
				}
			}
		}
	}
}

func TestMessageIsMethod(t *testing.T) {
	for _, tt := range []struct {
		raw  string
		want bool
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, true},
		{`{"jsonrpc":"2.0","method":"ping"}`, true},
		{`{"jsonrpc":"2.0","method":"pin"}`, false},
		{`{"jsonrpc":"2.0","method":"pings"}`, false},
		{`{"jsonrpc":"2.0","id":1,"result":"ping"}`, false},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, false},
	} {
		var m wire.Message
		_ = wire.Scan([]byte(tt.raw), &m)
		if got := m.IsMethod("ping"); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.raw, got, tt.want)
		}
	}
}

func TestMessageBytesCannotReachTheRest(t *testing.T) {
	raw := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	var m wire.Message
	if err := wire.Scan([]byte(raw), &m); err != nil {
		t.Fatal(err)
	}
	_ = append(m.Bytes(m.ID), "23456"...)
	if got := string(m.Raw); got != raw {
		t.Errorf("got %s after an append, want %s", got, raw)
	}
	if got := m.Bytes(m.Params); got != nil {
		t.Errorf("got %q for an absent part, want nil", got)
	}
}

// After an error, an answer must be told from a request: it is not to be answered.
func TestScanLeavesSpansOfWhatItRefuses(t *testing.T) {
	var m wire.Message
	raw := `{"jsonrpc":"1.0","id":5,"result":{}}`
	if err := wire.Scan([]byte(raw), &m); err == nil {
		t.Fatal("got no error, want one")
	}
	if got, want := describe(&m), "invalid id=5 result={}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNoAllocations(t *testing.T) {
	raw := []byte(`{"jsonrpc":"2.0","\u0069d":1,"other":0,"method":"tools/call","params":{"name":"a","arguments":{"x":[1,2,3]},"_meta":{"progressToken":"é\n"}}}`)
	keys := []string{"name", "_meta"}
	name := []byte(`"b"`)
	dst := make([]byte, 0, 1024)
	var m wire.Message
	var out [2]wire.Span
	for _, tt := range []struct {
		name string
		run  func() error
	}{
		{"Scan", func() error { return wire.Scan(raw, &m) }},
		{"Find", func() error { return wire.Find(raw, m.Params, keys, out[:]) }},
		{"FindPath", func() error {
			_, err := wire.FindPath(raw, m.Params, "_meta", "progressToken")
			return err
		}},
		{"Splice", func() error {
			dst = wire.Splice(dst[:0], raw, wire.Edit{Span: m.ID, New: name}, wire.Edit{Span: out[0], New: name})
			return nil
		}},
		{"Members", func() error {
			for range wire.Members(raw, m.Params) {
			}
			return nil
		}},
		{"AppendError", func() error {
			dst = wire.AppendError(dst[:0], m.Bytes(m.ID), wire.CodeInternal, "no", nil)
			return nil
		}},
		{"Compact", func() error {
			dst = wire.Compact(dst[:0], raw)
			return nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := testing.AllocsPerRun(100, func() {
				if err := tt.run(); err != nil {
					t.Fatal(err)
				}
			}); got != 0 {
				t.Errorf("got %v allocations, want none", got)
			}
		})
	}
}
