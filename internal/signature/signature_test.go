package signature_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/signature"
)

func TestOf(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"no schema", ``, `()`},
		{"no parameters", `{"type":"object"}`, `()`},
		{"no parameters, said so", `{"type":"object","properties":{},"additionalProperties":false}`, `()`},
		{"any parameters", `{"type":"object","additionalProperties":{"type":"string"}}`, `({[key]: string})`},
		{"plain", `{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer"},"x":{"type":"number"},"on":{"type":"boolean"}},"required":["path","n"]}`,
			`(path: string, n: integer, x?: number, on?: boolean)`},
		{"required first", `{"properties":{"b":{"type":"string"},"a":{"type":"string"}},"required":["a"]}`, `(a: string, b?: string)`},
		{"type left out", `{"properties":{"a":{},"b":true,"c":{"items":{}},"d":{"properties":{}},"e":{"description":"x"}}}`, `(a?: any, b?: any, c?: any[], d?: object, e?: any)`},
		{"arrays", `{"properties":{"a":{"type":"array","items":{"type":"string"}},"b":{"type":"array"},"c":{"type":"array","items":{"enum":[1,2]}},"d":{"type":"array","items":{"type":"array","items":{"type":"number"}}},"e":{"prefixItems":[{"type":"string"},{"type":"number"}]}}}`,
			`(a?: string[], b?: any[], c?: (1|2)[], d?: number[][], e?: [string, number])`},
		{"objects", `{"properties":{"o":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"object"}},"required":["a"]},"m":{"type":"object","additionalProperties":{"type":"integer"}},"f":{"type":"object","additionalProperties":true}},"required":["o"]}`,
			`(o: {a: string, b?: object}, m?: {[key]: integer}, f?: object)`},
		{"choices", `{"properties":{"e":{"type":"string","enum":["a","b"]},"k":{"const":"x"},"u":{"anyOf":[{"type":"string"},{"type":"null"}]},"v":{"oneOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]},"w":{"type":["integer","null"]},"x":{"anyOf":[{"type":"string"},{"type":"string"}]}}}`,
			`(e?: "a"|"b", k?: "x", u?: string|null, v?: string|string[], w?: integer|null, x?: string)`},
		{"defaults", `{"properties":{"a":{"type":"integer","default":10},"b":{"type":"string","default":"x"},"c":{"type":"boolean","default":false},"d":{"default":null},"e":{"type":"array","default":[1]},"f":{"type":"string","default":"` + strings.Repeat("x", 99) + `"},"g":{"type":"number","default":1}},"required":["g"]}`,
			`(g: number, a?: integer = 10, b?: string = "x", c?: boolean = false, d?: any, e?: any[], f?: string)`},
		{"references", `{"properties":{"a":{"$ref":"#/$defs/A"},"b":{"type":"array","items":{"$ref":"#/definitions/x~1y"}},"c":{"$ref":"https://example.com/x"},"d":{"$ref":"#/$defs/none"}},"$defs":{"A":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}},"definitions":{"x/y":{"enum":["1"]}}}`,
			`(a?: {id: string}, b?: "1"[], c?: any, d?: any)`},
		{"a reference at the top", `{"$ref":"#/$defs/P","$defs":{"P":{"type":"object","properties":{"id":{"type":"string"}}}}}`, `(id?: string)`},
		{"a tree", `{"properties":{"t":{"$ref":"#/$defs/T"}},"$defs":{"T":{"type":"object","properties":{"v":{"type":"string"},"sub":{"type":"array","items":{"$ref":"#/$defs/T"}}}}}}`,
			`(t?: {v?: string, sub?: any[]})`},
		{"all of", `{"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"allOf":[{"type":"string"}]}}}]}`, `(a: string, b?: string)`},
		{"one of at the top", `{"type":"object","oneOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b"]}]}`,
			`({a: string}|{b: string})`},
		{"either at the top", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `(a?: string, b?: string)`},
		{"odd names", `{"properties":{"a b":{},"ключ":{},"":{},"\u202e\n":{},"file.name-x$":{}}}`, `("a b"?: any, ключ?: any, ""?: any, "\u202e\n"?: any, file.name-x$?: any)`},
		{"odd values", `{"properties":{"a":{"enum":["x\u200by",1.5,null,true,{"o":1}]}}}`, `(a?: "x\u200by"|1.5|null|true|any)`},
		{"twice", `{"properties":{"a":{"type":"string","type":"number"},"a":{"type":"boolean"}}}`, `(a?: string)`},
		{"wrong types", `{"type":7,"properties":[1],"required":{"a":1},"enum":"x","anyOf":{},"$ref":1,"items":[]}`, `()`},
		{"true", `true`, `()`},
		{"text", `"text"`, `()`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := signature.Of([]byte(c.schema)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// What does not fit is left out, the optional first, and what is left out is marked.
func TestOfIsBounded(t *testing.T) {
	many := func(n int, schema string) string {
		var props []string
		for i := range n {
			props = append(props, fmt.Sprintf(`"parameter%d":%s`, i, schema))
		}
		return `{"type":"object","properties":{` + strings.Join(props, ",") + `},"required":["parameter` + fmt.Sprint(n-1) + `"]}`
	}
	values := `"` + strings.Join(strings.Split(strings.Repeat("value ", 500), " "), `","`) + `0"`
	laughs := `"d0":{"type":"string"}`
	for i := range 40 {
		laughs += fmt.Sprintf(`,"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"},{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}}]}`, i+1, i, i, i, i)
	}
	nested := `{"type":"string"}`
	for range 100 {
		nested = `{"type":"array","items":{"type":"object","properties":{"a":` + nested + `}}}`
	}
	types := `{"type":["object"` + strings.Repeat(`,"object"`, 10000) + `],"required":["a"` + strings.Repeat(`,"b"`, 20000) + `]}`
	for _, c := range []struct{ name, schema, want string }{
		{"parameters", many(500, `{"type":"string"}`), `(parameter499: string, parameter0?: string, `},
		{"values", `{"properties":{"a":{"enum":[` + values + `]}}}`, `(a?: "value"|`},
		{"a long value", `{"properties":{"a":{"const":"` + strings.Repeat("x", 1000) + `"}}}`, `(a?: "xxx`},
		{"a long name", `{"properties":{"` + strings.Repeat("é", 1000) + `":{"type":"string"}}}`, `(éé`},
		{"objects", many(10, many(10, many(10, `{"type":"string"}`))), `(parameter9: {parameter9: {parameter9: string, `},
		{"deep", `{"properties":{"a":` + nested + `}}`, `(a?: {a?: {a?: `},
		{"references upon references", `{"properties":{"a":{"$ref":"#/$defs/d40"},"b":{"$ref":"#/$defs/d39"}},"$defs":{` + laughs + `}}`, `(a?: `},
		{"types", `{"properties":{"a":` + types + `}}`, `(a?: object`},
		{"a long schema", many(20000, `{"type":"string"}`), `(…)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			got := signature.Of([]byte(c.schema))
			if took := time.Since(began); took > time.Minute { // it is milliseconds, or without a bound for ever
				t.Errorf("took %s", took)
			}
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("got  %s\nwant %s…", got, c.want)
			}
			check(t, got)
		})
	}
}

func TestMisfit(t *testing.T) {
	const schema = `{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer","default":1},"x":{"type":["number","null"]},"on":{"type":"boolean"},` +
		`"kind":{"enum":["a","b"]},"level":{"enum":[1,2]},"list":{"type":"array"},"o":{"type":"object"},"any":{}},"required":["path"]}`
	for _, c := range []struct{ arguments, want string }{
		{`{"path":"x"}`, ""},
		{`{"path":"x","n":2,"x":1.5,"on":true,"kind":"b","level":2.0,"list":[],"o":{},"any":7}`, ""},
		{`{"p\u0061th":"x","n":2.0,"x":null}`, ""},
		{`{}`, "path is missing"},
		{`{"file":"x"}`, "path is missing, file is not known"},
		{`{"path":7,"n":"2","x":"","on":1,"kind":"c"}`, `path is not string, n is not integer, x is not number|null, on is not boolean, kind is not "a"|"b"`},
		{`{"path":7,"n":1.5,"x":[],"on":null,"list":{},"o":[]}`, "path is not string, n is not integer, x is not number|null, on is not boolean, list is not any[], …"},
		{`{"path":"x","\u202e":1}`, `"\u202e" is not known`},
		{`[]`, "path is missing"},
		{``, "path is missing"},
	} {
		if got := signature.Misfit([]byte(schema), []byte(c.arguments)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.arguments, got, c.want)
		}
	}
	for _, open := range []string{`{}`, `true`, ``, `{"type":"object"}`, `{"properties":{"a":{}},"additionalProperties":true}`, `{"properties":{"a":{"$ref":"#/x"}},"additionalProperties":{"type":"string"}}`} {
		if got := signature.Misfit([]byte(open), []byte(`{"a":1,"b":2}`)); got != "" {
			t.Errorf("%s: got %q, want nothing", open, got)
		}
	}
}

func TestSentence(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"Read a file.", "Read a file"},
		{"Read a file. Then another one.", "Read a file"},
		{"Read a file, e.g. JSON. More.", "Read a file, e.g. JSON"},
		{"Read approx. five. More.", "Read approx. five"},
		{"Read v1.2 files\nof  two lines.\tMore.", "Read v1.2 files of two lines"},
		{"Really? Yes.", "Really?"},
		{"# Read\n\nIt reads.", "Read"},
		{"- Reads:\n\n- files", "Reads"},
		{"读取文件。然后更多。", "读取文件"},
		{"\n\n  Read\u200b a \u202efile\x1b[31m", "Read a file[31m"},
		{"Read \xff it", "Read it"},
		{strings.Repeat("long ", 50), "long long long long long long long long long long long long long lo…"},
	} {
		got := signature.Sentence(c.text, 70)
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// check wants text that is bounded and has in it nothing that cannot be seen.
func check(t *testing.T, text string) {
	t.Helper()
	if len(text) > 500 {
		t.Errorf("got %d bytes, want 500 at most: %s", len(text), text)
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsGraphic(c) }) {
		t.Errorf("got what cannot be seen: %q", text)
	}
}

// Whatever a schema and a description are, a line comes of them, and soon.
func FuzzLine(f *testing.F) {
	for _, seed := range []string{
		`{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#/$defs/x"}},"b":{"enum":[1,"\u202e"]}},"required":["a"],"$defs":{"x":{"anyOf":[{"type":["string","null"]},{"$ref":"#"}]}}}`,
		`{"allOf":[{"$ref":"#/allOf/0"}],"properties":{"":{"const":-1e9,"default":null,"prefixItems":[true,{}]}}}`,
		`{"properties":{"a":{"default":"x"`, "\x00", `[`, `"`, `{"":`,
	} {
		f.Add([]byte(seed), "A \u202e text. Another.")
	}
	f.Fuzz(func(t *testing.T, schema []byte, description string) {
		began := time.Now()
		check(t, signature.Of(schema))
		check(t, signature.Sentence(description, 100))
		if got := signature.Stub(schema, schema); len(got) > 800 || strings.Contains(got, "\n") || !utf8.ValidString(got) {
			t.Errorf("got %d bytes: %q", len(got), got)
		}
		signature.Misfit(schema, []byte(description))
		if took := time.Since(began); took > time.Minute {
			t.Errorf("took %s", took)
		}
	})
}

func TestStub(t *testing.T) {
	for _, c := range []struct{ name, input, output, want string }{
		{"nothing", ``, ``, `()`},
		{"no parameters", `{"type":"object"}`, ``, `()`},
		{"some", `{"properties":{"n":{"type":"integer","default":10},"path":{"type":"string"}},"required":["path"]}`, ``, `(args: {path: string, n?: number})`},
		{"none that it needs", `{"properties":{"n":{"type":["integer","null"]}}}`, ``, `(args?: {n?: number|null})`},
		{"what it gives", `{}`, `{"type":"object","properties":{"rows":{"type":"array","items":{"properties":{"id":{"type":"integer"},"at":{}},"required":["id"]}},"next":{"type":"string"}},"required":["rows"]}`,
			`(): Promise<{rows: {id: number, at?: any}[], next?: string}>`},
		{"it gives anything", `{}`, `true`, `(): Promise<any>`},
		{"types without a name in TypeScript", `{"properties":{"a":{"type":"array"},"m":{"additionalProperties":{"type":"integer"}},"t":{"prefixItems":[{"type":"integer"},{"type":"array"}]}}}`, ``,
			`(args?: {a?: any[], m?: {[key: string]: number}, t?: [number, any[]]})`},
		{"names that are no identifiers", `{"properties":{"a-b":{},"1":{},"":{},"$x":{},"\"y":{}},"required":["a-b"]}`, ``, `(args: {"a-b": any, "1"?: any, ""?: any, $x?: any, "\"y"?: any})`},
		{"a long value", `{"properties":{"a":{"enum":["` + strings.Repeat("x", 99) + `","b"]}}}`, ``, `(args?: {a?: string|"b"})`},
		{"a choice of objects", `{"oneOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{}}}]}`, ``, `(args?: {[more: string]: any})`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := signature.Stub([]byte(c.input), []byte(c.output)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	var many []string
	for i := range 200 {
		many = append(many, fmt.Sprintf(`"parameter%d":{"type":"string"}`, i))
	}
	if got := signature.Stub([]byte(`{"properties":{`+strings.Join(many, ",")+`}}`), nil); !strings.HasSuffix(got, ", [more: string]: any})") || len(got) > 500 {
		t.Errorf("got %q of many parameters, want the first and that there are more", got)
	}
}
