package wire_test

import (
	"testing"

	"github.com/mcp-workbench/workbench/internal/wire"
)

func unquoteCases() []struct {
	token, want string
	ok          bool
} {
	return []struct {
		token, want string
		ok          bool
	}{
		{`""`, "", true},
		{`"plain"`, "plain", true},
		{`"é日😀"`, "é日😀", true},
		{`"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t", true},
		{`"a\u00e9\u65E5b"`, "aé日b", true},
		{`"\ud83d\ude00"`, "😀", true},
		{`"\ud83d"`, "\ufffd", true},
		{`"\ude00\ud83d"`, "\ufffd\ufffd", true},
		{`"\ud83dx"`, "\ufffdx", true},
		{`"\ud83d\n"`, "\ufffd\n", true},
		{`"\ud83d\ud83d\ude00"`, "\ufffd😀", true},
		{`"\u0000"`, "\x00", true},
		{``, "", false},
		{`"`, "", false},
		{`"a`, "", false},
		{`a"`, "", false},
		{`"a"b`, "", false},
		{`"a" `, "", false},
		{`"a"b"`, "", false},
		{`"\"`, "", false},
		{`"\x"`, "", false},
		{"\"\n\"", "", false},
		{"\"\xff\"", "", false},
		{`null`, "", false},
		{`1`, "", false},
	}
}

func TestUnquote(t *testing.T) {
	for _, tt := range unquoteCases() {
		t.Run(tt.token, func(t *testing.T) {
			if got, ok := wire.Unquote([]byte(tt.token)); got != tt.want || ok != tt.ok {
				t.Errorf("got %q, %v, want %q, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestAppendQuote(t *testing.T) {
	for _, tt := range []struct{ name, s, want string }{
		{"empty", "", `""`},
		{"plain", "plain é日😀", `"plain é日😀"`},
		{"escapes", "a\"b\\c\nd\re\tf/", `"a\"b\\c\nd\re\tf/"`},
		{"control characters", "\x00\b\f\x1f\x7f", `"\u0000\u0008\u000c\u001f` + "\x7f" + `"`},
		{"HTML", "<a>&</a>", `"<a>&</a>"`},
		{"JavaScript line ends", "a\u2028b\u2029c", `"a\u2028b\u2029c"`},
		{"invalid UTF-8", "a\xffb\xe6\x97", `"a` + "\ufffd" + `b` + "\ufffd\ufffd" + `"`},
		{"the replacement character", "\ufffd", `"` + "\ufffd" + `"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(wire.AppendQuote([]byte("> "), tt.s)); got != "> "+tt.want {
				t.Errorf("got %s, want > %s", got, tt.want)
			}
		})
	}
}

func TestCompact(t *testing.T) {
	for _, tt := range []struct{ name, raw, want string }{
		{"nothing to do", `{"a":[1,2]}`, `{"a":[1,2]}`},
		{"white space", "\r\n{ \"a\" :\t[ 1 ,\n2 ] }\n", `{"a":[1,2]}`},
		{"in text", `{ "a b" : "c \" d" , "e" : "\\" }`, `{"a b":"c \" d","e":"\\"}`},
		{"text that does not end", `[ "a b`, `["a b`},
		{"tokens apart", "[1 2, tr\nue, 1 {} 2 [ 3 ] \"a\" 4 5]", `[1 2,tr ue,1{}2[3]"a"4 5]`},
		{"quote at the end", `[ "`, `["`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(wire.Compact([]byte("> "), []byte(tt.raw))); got != "> "+tt.want {
				t.Errorf("got %s, want > %s", got, tt.want)
			}
			raw := []byte(tt.raw)
			if got := string(wire.Compact(raw[:0], raw)); got != tt.want {
				t.Errorf("in place: got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAppendErrorAndResult(t *testing.T) {
	for _, tt := range []struct{ name, got, want string }{
		{"error", string(wire.AppendError([]byte("> "), []byte("7"), wire.CodeParse, `a "b"`, nil)),
			`> {"jsonrpc":"2.0","id":7,"error":{"code":-32700,"message":"a \"b\""}}`},
		{"error without id, with data", string(wire.AppendError(nil, nil, 1, "x", []byte(`{"a":1}`))),
			`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x","data":{"a":1}}}`},
		{"result", string(wire.AppendResult([]byte("> "), []byte(`"a"`), []byte("{}"))),
			`> {"jsonrpc":"2.0","id":"a","result":{}}`},
		{"Error", string((&wire.Error{Code: wire.CodeMethodNotFound, Message: "no", ID: []byte("1"), Data: []byte("2")}).Append(nil)),
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no","data":2}}`},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, tt.got, tt.want)
		}
	}
}
