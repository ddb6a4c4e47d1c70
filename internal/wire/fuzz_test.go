package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// member is one member of an object as the reference sees it.
type member struct{ name, val string }

// reference splits an object into its members with encoding/json. It must be valid JSON.
func reference(t *testing.T, raw []byte) []member {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		t.Fatalf("reference: got %v, %v for %q, want an object", tok, err, raw)
	}
	var all []member
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatalf("reference: %v in %q", err, raw)
		}
		var val json.RawMessage
		if err := dec.Decode(&val); err != nil {
			t.Fatalf("reference: %v in %q", err, raw)
		}
		all = append(all, member{name.(string), string(bytes.TrimSpace(val))})
	}
	return all
}

// lookup finds wanted names among members by the rules of the package: ok is false where a name is there twice, or in
// another case.
func lookup(all []member, names ...string) (found map[string]string, ok bool) {
	found = map[string]string{}
	for _, m := range all {
		for _, name := range names {
			if !strings.EqualFold(m.name, name) {
				continue
			}
			if _, twice := found[name]; twice || m.name != name {
				return nil, false
			}
			found[name] = m.val
		}
	}
	return found, true
}

// judge says what Scan has to make of a message: its description, or a code.
func judge(t *testing.T, raw []byte) (string, int) {
	t.Helper()
	if !json.Valid(raw) || !utf8.Valid(raw) {
		return "", wire.CodeParse
	}
	if bytes.TrimSpace(raw)[0] != '{' {
		return "", wire.CodeInvalidRequest
	}
	found, ok := lookup(reference(t, raw), "jsonrpc", "id", "method", "params", "result", "error")
	if !ok || found["jsonrpc"] != `"2.0"` {
		return "", wire.CodeInvalidRequest
	}
	first := func(name string) byte { return (found[name] + "-")[0] }
	has := func(name string) bool { return found[name] != "" }
	goodID := has("id") && strings.IndexByte(`"-0123456789`, first("id")) >= 0
	var kind string
	switch {
	case has("method") && !has("result") && !has("error"):
		method := found["method"]
		if method[0] != '"' || len(method) == 2 || strings.Contains(method, `\`) || has("params") && first("params") != '{' || has("id") && !goodID {
			return "", wire.CodeInvalidRequest
		}
		found["method"] = method[1 : len(method)-1]
		kind = "notification"
		if has("id") {
			kind = "request"
		}
	case has("result") && !has("method") && !has("error") && goodID:
		kind = "result"
	case has("error") && !has("method") && !has("result") && first("error") == '{' && (goodID || !has("id") || found["id"] == "null"):
		kind = "failure"
	default:
		return "", wire.CodeInvalidRequest
	}
	for _, name := range []string{"id", "method", "params", "result", "error"} {
		if has(name) {
			kind += " " + name + "=" + found[name]
		}
	}
	return kind, 0
}

func depth(raw []byte) int {
	deepest, now := 0, 0
	inText := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			inText = !inText
		case inText && c == '\\':
			i++
		case inText:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

func FuzzScan(f *testing.F) {
	for _, tt := range accepted() {
		f.Add([]byte(tt.raw))
	}
	for _, tt := range refused() {
		f.Add([]byte(tt.raw))
	}
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"isError":true,"a":{"isError":true}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"isError":true,"isError":false}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var m wire.Message
		err := wire.Scan(raw, &m)
		if depth(raw) > wire.MaxDepth {
			if err == nil {
				t.Fatalf("accepted %q, which is too deep", raw)
			}
			return // which fault comes first is left open
		}
		want, code := judge(t, raw)
		var fault *wire.Error
		switch {
		case err == nil && code != 0:
			t.Fatalf("%q: got no error, want code %d", raw, code)
		case err != nil && (!errors.As(err, &fault) || fault.Code != code):
			t.Fatalf("%q: got %v, want code %d (0: none)", raw, err, code)
		case err == nil && describe(&m) != want:
			t.Fatalf("%q:\ngot  %s\nwant %s", raw, describe(&m), want)
		}
		if said, ferr := wire.FindPath(raw, m.Result, "isError"); err == nil && m.SaysError != (ferr == nil && string(m.Bytes(said)) == "true") {
			t.Fatalf("%q says that it is an error: %v, and its member is %s, %v", raw, m.SaysError, m.Bytes(said), ferr)
		}
		if err == nil && m.Kind == wire.Request {
			spliceID(t, &m)
		}
	})
}

// spliceID replaces the id of a request, and checks that nothing else changes.
func spliceID(t *testing.T, m *wire.Message) {
	t.Helper()
	spliced := wire.Splice(nil, m.Raw, wire.Edit{Span: m.ID, New: []byte(`"new"`)})
	got, want := decode(t, spliced), decode(t, m.Raw)
	want["id"] = "new"
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%q with another id:\ngot  %v\nwant %v", m.Raw, got, want)
	}
}

func decode(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v map[string]any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return v
}

func FuzzFind(f *testing.F) {
	for _, tt := range findCases() {
		f.Add([]byte(tt.raw), tt.key)
	}
	f.Add([]byte(`{"a":"\"`), "a") // not JSON
	f.Add([]byte(`{"`), "")
	f.Add([]byte("[1 2,\"\" 3]"), "")
	f.Add([]byte("[1. 2, 1 e5, - 1, tru\te]"), "")
	f.Add([]byte(`{"a" "b":`), "b")
	f.Fuzz(func(t *testing.T, raw []byte, name string) {
		in := wire.Span{Start: 0, End: len(raw)}
		if !utf8.ValidString(name) || name == "_meta" || !in.Present() {
			return
		}
		var out [2]wire.Span
		err := wire.Find(raw, in, []string{name, "_meta"}, out[:])
		rebuilt := rebuild(nil, raw, in)
		compact := wire.Compact(nil, raw)
		if json.Valid(compact) != json.Valid(raw) {
			t.Fatalf("%q is compact as %q, of which one is valid JSON", raw, compact)
		}
		if !json.Valid(raw) || !utf8.Valid(raw) || bytes.TrimSpace(raw)[0] != raw[0] {
			return // whatever comes of it, it comes to an end
		}
		var want bytes.Buffer
		if json.Compact(&want, raw); string(rebuilt) != want.String() || string(compact) != want.String() {
			t.Fatalf("%q:\nfrom parts %s\ncompact    %s\nwant       %s", raw, rebuilt, compact, want.String())
		}
		if raw[0] != '{' {
			if err == nil {
				t.Fatalf("%q: got no error for what is no object", raw)
			}
			return
		}
		found, ok := lookup(reference(t, raw), name, "_meta")
		if ok != (err == nil) {
			t.Fatalf("%q in %q: got %v, want found %v", name, raw, err, ok)
		}
		for i, name := range []string{name, "_meta"} {
			if got := string(raw[out[i].Start:out[i].End]); err == nil && got != found[name] {
				t.Fatalf("%q in %q: got %s, want %s", name, raw, got, found[name])
			}
		}
	})
}

// rebuild appends the value at in, put together from its parts.
func rebuild(dst, raw []byte, in wire.Span) []byte {
	sep := ""
	switch raw[in.Start] {
	case '{':
		dst = append(dst, '{')
		for name, val := range wire.Members(raw, in) {
			dst = append(append(append(dst, sep...), raw[name.Start:name.End]...), ':')
			dst = rebuild(dst, raw, val)
			sep = ","
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for val := range wire.Elements(raw, in) {
			dst = rebuild(append(dst, sep...), raw, val)
			sep = ","
		}
		return append(dst, ']')
	}
	return append(dst, bytes.TrimRight(raw[in.Start:in.End], " \t\r\n")...)
}

func FuzzQuote(f *testing.F) {
	for _, tt := range unquoteCases() {
		f.Add(tt.token)
	}
	f.Add("<a href=\"x\">&amp;\u2028\u2029\x00\x1f\x7f\xff\xed\xa0\x80é日😀")
	f.Fuzz(func(t *testing.T, s string) {
		// As a string to be quoted.
		quoted := wire.AppendQuote(nil, s)
		var back string
		if err := json.Unmarshal(quoted, &back); err != nil || back != string([]rune(s)) {
			t.Fatalf("%q is quoted as %s, which is %q, %v", s, quoted, back, err)
		}
		if got, ok := wire.Unquote(quoted); !ok || got != back {
			t.Fatalf("%s: got %q, %v, want %q", quoted, got, ok, back)
		}
		if bytes.ContainsAny(quoted, "\n\u2028\u2029") || bytes.Contains(quoted, []byte(`\u003c`)) {
			t.Fatalf("%q is quoted as %s", s, quoted)
		}
		// As a token.
		valid := len(s) > 0 && s[0] == '"' && s[len(s)-1] == '"' && json.Valid([]byte(s)) && utf8.ValidString(s)
		got, ok := wire.Unquote([]byte(s))
		if ok != valid {
			t.Fatalf("%q as a token: got %v, want %v", s, ok, valid)
		}
		if valid {
			var want string
			if err := json.Unmarshal([]byte(s), &want); err != nil || got != want {
				t.Fatalf("%s: got %q, want %q (%v)", s, got, want, err)
			}
		}
	})
}

// A message put together from answers must always be one.
func FuzzAppendError(f *testing.F) {
	f.Add(-32600, "no \"good\"\n", true)
	f.Add(0, "", false)
	f.Fuzz(func(t *testing.T, code int, text string, withData bool) {
		var data []byte
		want := fmt.Sprintf(`failure id="x" error={"code":%d,"message":%s}`, code, wire.AppendQuote(nil, text))
		if withData {
			data = []byte(`[1]`)
			want = strings.TrimSuffix(want, "}") + `,"data":[1]}`
		}
		raw := wire.AppendError(nil, []byte(`"x"`), code, text, data)
		var m wire.Message
		if err := wire.Scan(raw, &m); err != nil || describe(&m) != want {
			t.Fatalf("%s: got %s, %v, want %s", raw, describe(&m), err, want)
		}
	})
}
