package eras_test

import (
	"testing"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/wire"
)

const members = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c"},"io.modelcontextprotocol/clientCapabilities":{}`

// scan reads a message whose params have the given _meta, or none.
func scan(t *testing.T, raw string) (m wire.Message, meta wire.Span) {
	t.Helper()
	if err := wire.Scan([]byte(raw), &m); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	meta, err := wire.FindPath(m.Raw, m.Params, "_meta")
	if err != nil {
		t.Fatal(err)
	}
	return m, meta
}

func request(params string) string {
	if params != "" {
		params = `,"params":` + params
	}
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call"` + params + `}`
}

func TestRequests(t *testing.T) {
	const own = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	tests := []struct{ name, params, legacy, modern string }{
		{"no params", ``, ``, `{"_meta":{` + own + `}}`},
		{"empty params", `{}`, `{}`, `{"_meta":{` + own + `}}`},
		{"params", `{"name":"n"}`, `{"name":"n"}`, `{"_meta":{` + own + `},"name":"n"}`},
		{"an empty _meta", `{"_meta":{}}`, `{"_meta":{}}`, `{"_meta":{` + own + `}}`},
		{"a _meta that is no object", `{"_meta":3,"name":"n"}`, `{"_meta":3,"name":"n"}`, `{"_meta":{` + own + `},"name":"n"}`},
		{"members of the client's", `{"_meta":{"a":1,"progressToken":2}}`, `{"_meta":{"a":1,"progressToken":2}}`, `{"_meta":{` + own + `,"a":1,"progressToken":2}}`},
		{"modern alone", `{"_meta":{` + members + `}}`, `{"_meta":{}}`, `{"_meta":{` + own + `}}`},
		{"modern first", `{"_meta":{` + members + `,"a":1},"name":"n"}`, `{"_meta":{"a":1},"name":"n"}`, `{"_meta":{` + own + `,"a":1},"name":"n"}`},
		{"modern last", `{"_meta":{"a":1,` + members + `}}`, `{"_meta":{"a":1}}`, `{"_meta":{` + own + `,"a":1}}`},
		{"modern between", `{"_meta":{ "a":1 , ` + members + ` , "b":2 } }`, `{"_meta":{ "a":1 , "b":2 } }`, `{"_meta":{` + own + `, "a":1 , "b":2 } }`},
		{"modern scattered", `{"_meta":{"io.modelcontextprotocol/logLevel":"info","a":1,"io.modelcontextprotocol/clientInfo":{},"b":2,"io.modelcontextprotocol/clientCapabilities":{}}}`,
			`{"_meta":{"a":1,"b":2}}`, `{"_meta":{` + own + `,"a":1,"b":2}}`},
		{"hidden by an escape", `{"_meta":{"io.modelcontextprotocol\/clientInfo":{},"a":1}}`, `{"_meta":{"a":1}}`, `{"_meta":{` + own + `,"a":1}}`},
		{"another round", `{"name":"n","inputResponses":{"q":{"_meta":{}}},"_meta":{"a":1},"requestState":"s"}`,
			`{"name":"n","_meta":{"a":1}}`, `{"name":"n","inputResponses":{"q":{"_meta":{}}},"_meta":{` + own + `,"a":1},"requestState":"s"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			raw := request(test.params)
			m, meta := scan(t, raw)
			if got, want := string(wire.Splice(nil, m.Raw, eras.ToLegacy(m.Raw, m.Params, meta, eras.Drop)...)), request(test.legacy); got != want {
				t.Errorf("to a legacy server: got %s want %s", got, want)
			}
			if got, want := string(wire.Splice(nil, m.Raw, eras.ToModern(m.Raw, m.Params, meta, []byte(own))...)), request(test.modern); got != want {
				t.Errorf("to a modern server: got %s want %s", got, want)
			}
		})
	}
}

func TestResults(t *testing.T) {
	tests := []struct {
		name, result   string
		cacheable      bool
		legacy, modern string
	}{
		{"empty", `{}`, false, `{}`, `{"resultType":"complete"}`},
		{"that may be kept", `{"contents":[]}`, true, `{"contents":[]}`, `{"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[]}`},
		{"modern", `{"resultType":"complete","content":[],"ttlMs":5}`, false, `{"content":[],"ttlMs":5}`, `{"resultType":"complete","content":[],"ttlMs":5}`},
		{"modern that may be kept", `{"ttlMs":5,"contents":[],"resultType":"complete","cacheScope":"public"}`, true, `{"contents":[]}`,
			`{"ttlMs":5,"contents":[],"resultType":"complete","cacheScope":"public"}`},
		{"a server's name", `{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"},"a":1},"content":[]}`, false,
			`{"_meta":{"a":1},"content":[]}`, `{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"},"a":1},"content":[]}`},
		{"structured content that is a list", `{"resultType":"complete","content":[ ],"structuredContent":["a"]}`, false,
			`{"content":[{"type":"text","text":"[\"a\"]"}]}`, `{"resultType":"complete","content":[ ],"structuredContent":["a"]}`},
		{"structured content beside other", `{"structuredContent":[1],"content":[{"type":"text","text":"one"}]}`, false,
			`{"content":[{"type":"text","text":"one"}]}`, `{"resultType":"complete","structuredContent":[1],"content":[{"type":"text","text":"one"}]}`},
		{"structured content that is null", `{"structuredContent":null}`, false, `{"content":[{"type":"text","text":"null"}]}`,
			`{"resultType":"complete","structuredContent":null}`},
		{"a question", `{"resultType":"input_required","requestState":"s"}`, true, `{"requestState":"s"}`, `{"resultType":"input_required","requestState":"s"}`},
		{"no object", `"text"`, true, `"text"`, `"text"`},
		{"a member of that name within", `{"structuredContent":{"resultType":"x","ttlMs":1}}`, true, `{"structuredContent":{"resultType":"x","ttlMs":1}}`,
			`{"resultType":"complete","ttlMs":0,"cacheScope":"private","structuredContent":{"resultType":"x","ttlMs":1}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m, _ := scan(t, `{"jsonrpc":"2.0","id":1,"result":`+test.result+`}`)
			got := wire.Splice(nil, m.Raw, eras.ResultToLegacy(m.Raw, m.Result, test.cacheable)...)
			if want := `{"jsonrpc":"2.0","id":1,"result":` + test.legacy + `}`; string(got) != want {
				t.Errorf("to a legacy client: got %s want %s", got, want)
			}
			got = wire.Splice(nil, m.Raw, eras.ResultToModern(m.Raw, m.Result, test.cacheable)...)
			if want := `{"jsonrpc":"2.0","id":1,"result":` + test.modern + `}`; string(got) != want {
				t.Errorf("to a modern client: got %s want %s", got, want)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for from, to := range map[string]string{
		`{"code":-32002,"message":"Resource not found","data":{"code":-32002}}`: `{"code":-32602,"message":"Resource not found","data":{"code":-32002}}`,
		`{"message":"m","code":-32001}`:                                         `{"message":"m","code":-32001}`,
		`{"message":"m","code":-32042}`:                                         `{"message":"m","code":-32603}`,
	} {
		m, _ := scan(t, `{"jsonrpc":"2.0","id":1,"error":`+from+`}`)
		got := wire.Splice(nil, m.Raw, eras.Legacy.Reply(eras.Modern, &m, false)...)
		if want := `{"jsonrpc":"2.0","id":1,"error":` + to + `}`; string(got) != want {
			t.Errorf("got %s want %s", got, want)
		}
	}
}

// What a server asks is the same question in both eras.
func TestQuestions(t *testing.T) {
	for _, test := range []struct{ legacy, modern string }{
		{`"method":"elicitation/create","params":{"message":"?","z":1,"a":9007199254740993}`, ``},
		{`"method":"roots/list"`, ``},
		{`"method":"elicitation/create","params":{"elicitationId":"wb-1","mode":"url","url":"u"}`, `"method":"elicitation/create","params":{"mode":"url","url":"u"}`},
	} {
		if test.modern == "" {
			test.modern = test.legacy
		}
		raw := `{"jsonrpc":"2.0","id":"wb-1",` + test.legacy + `}`
		m, _ := scan(t, raw)
		modern := eras.AppendQuestionToModern(nil, &m)
		if got, want := string(modern), "{"+test.modern+"}"; got != want {
			t.Errorf("in a result: got %s want %s", got, want)
		}
		method, params, err := eras.Question(modern, wire.Span{Start: 0, End: len(modern)})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(eras.AppendQuestionToLegacy(nil, []byte(`"wb-1"`), method, params)); got != raw {
			t.Errorf("as a request: got %s want %s", got, raw)
		}
	}
	for _, bad := range []string{`"roots/list"`, `{}`, `null`, `{"method":"tools/call"}`, `{"method":"roots/list","params":3}`, `{"Method":"roots/list"}`, `{"method":"roots/list","method":"roots/list"}`} {
		if method, _, err := eras.Question([]byte(bad), wire.Span{Start: 0, End: len(bad)}); err == nil {
			t.Errorf("%s was taken for a question, %s", bad, method)
		}
	}
}

func TestSubscription(t *testing.T) {
	const own = `"_meta":{"io.modelcontextprotocol/subscriptionId":"s"`
	for _, tt := range []struct{ params, want string }{
		{`{"uri":"x:1"}`, `{` + own + `},"uri":"x:1"}`},
		{`{"uri":"x:1","_meta":{"a":1}}`, `{"uri":"x:1",` + own + `,"a":1}}`},
		{`{"uri":"x:1","_meta":{"a":1,"io.modelcontextprotocol/subscriptionId":7}}`, `{"uri":"x:1",` + own + `,"a":1}}`},
		{`{"uri":"x:1","_meta":["a"]}`, `{` + own + `},"uri":"x:1"}`},
		{`{"_meta":null,"uri":"x:1"}`, `{` + own + `},"uri":"x:1"}`},
		{`{"_meta":{"io.modelcontextprotocol/subscriptionId":7},"uri":"x:1","_meta":{}}`, `{` + own + `},"uri":"x:1"}`},
	} {
		var m wire.Message
		if err := wire.Scan([]byte(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":`+tt.params+`}`), &m); err != nil {
			t.Fatal(err)
		}
		got := wire.Splice(nil, m.Raw, eras.WithSubscription(m.Raw, m.Params, []byte(`"s"`))...)
		if want := `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":` + tt.want + `}`; string(got) != want {
			t.Errorf("%s: got %s, want %s", tt.params, got, want)
		}
	}
}

// An output schema that is not of an object becomes one of it where it may be, for clients of the legacy era, and none
// where it may not.
func TestOutputToLegacy(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"array"}`:                                                   `{"name":"a","inputSchema":{}}`,
		`{"type":["object","null"]}`:                                         `{"name":"a","inputSchema":{}}`,
		`{"anyOf":[{"type":"object"}]}`:                                      `{"name":"a","outputSchema":{"type":"object","anyOf":[{"type":"object"}]},"inputSchema":{}}`,
		`{"anyOf":[{"type":"object"},{"type":"null"}]}`:                      `{"name":"a","inputSchema":{}}`,
		`{"oneOf":[{"$ref":"#/$defs/A"},{}],"$defs":{"A":{"type":"array"}}}`: `{"name":"a","inputSchema":{}}`,
		`{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/A"}}}`:            `{"name":"a","outputSchema":{"type":"object","$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/A"}}},"inputSchema":{}}`,
		`{ }`: `{"name":"a","outputSchema":{"type":"object" },"inputSchema":{}}`,
		`{"$ref":"#/$defs/A","$defs":{"A":{"x":1}}}`: `{"name":"a","outputSchema":{"type":"object","$ref":"#/$defs/A","$defs":{"A":{"x":1}}},"inputSchema":{}}`,
	} {
		definition := []byte(`{"name":"a","outputSchema":` + schema + `,"inputSchema":{}}`)
		if got := wire.Splice(nil, definition, eras.OutputToLegacy(definition)...); string(got) != want {
			t.Errorf("%s: got %s, want %s", schema, got, want)
		}
	}
}
