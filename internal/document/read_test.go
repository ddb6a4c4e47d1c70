package document_test

import (
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/document"
)

const schema = `{"type":"object","properties":{"name":{"type":"string"},"size":{"type":"integer","minimum":1}},
	"required":["name"],"additionalProperties":false}`

// A fault is told with its place, whichever language the file is in.
func TestFaults(t *testing.T) {
	tests := []struct {
		file, text string
		want       []string
	}{
		{"a.yaml", "name: x\nsize: 3\n", nil},
		{"a.yaml", "size: 0\nnmae: x\n", []string{
			`1:1: "name" is missing`, `1:7: /size: must be at least 1, got 0`, `2:1: /nmae: unknown key "nmae"; did you mean "name"?`}},
		{"a.json", "{\n  \"name\": 5\n}", []string{`2:11: /name: must be string, got 5; put quotes around it`}},
		{"a.json", "{\n  \"name\": }", []string{`2:11: not valid JSON: invalid character '}' at start of value`}},
		{"a.json", "{\n  \"é\": [1,]\n}", []string{`2:10: not valid JSON: here is a comment, or a comma that no value follows`}},
		{"a.json", "{} // x\n", []string{`1:4: not valid JSON: here is a comment, or a comma that no value follows`}},
		{"a.json", "[" + strings.Repeat("1,", 200_000) + "1]", []string{`1:1: more than 200000 values`}},
		{"a.yaml", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", []string{`the file is a pointer of Git LFS in place of its content; keep it in git itself, or fetch it with git lfs pull`}},
		{"a.yaml", "n\x00a\x00", []string{`the file is UTF-16; save it as UTF-8`}},
		{"a.yaml", "a: \xef", []string{`1:4: here is a byte that is not UTF-8; save the file as UTF-8`}},
		{"a.yaml", "size:\n\tname: x\n", []string{`2:1: not valid YAML: found character that cannot start any token; ` +
			"indent with spaces, not tabs, and put quotes around a text that begins with @, ` or %"}},
		{"a.json", "{} // x", []string{`1:4: not valid JSON: here is a comment, or a comma that no value follows`}},
		{"a.json", "{ // x", []string{`1:3: not valid JSON: the file ends within it; is a bracket, a quote or a comment left open?`}},
		{"a.yaml", "a: 1\nb:\n  c: 2\n  d: {{name}} does\n", []string{`4:1: not valid YAML: did not find expected key; ` +
			`put quotes around a text that begins with {, [, " or ', and indent what belongs together alike`}},
		{"a.yaml", "a: 1\nb:\n  - c: 2\n    d: 3\n   e: 4\nf: 5\n", []string{`5:1: not valid YAML: did not find expected '-' indicator; ` +
			`put quotes around a text that begins with {, [, " or ', and indent what belongs together alike`}},
		{"a.yaml", "a: \"x\n  y\"\nb: \"c\" and d\n", []string{`3:1: not valid YAML: did not find expected key; ` +
			`put quotes around a text that begins with {, [, " or ', and indent what belongs together alike`}},
		{"a.yaml", "a: 1\nb: [1,\n  2\nc: 3\n", []string{`2:1: not valid YAML: did not find expected ',' or ']'; ` +
			`close the bracket, and put quotes around a text in it that has :, brackets or commas`}},
		{"a.yaml", "a: 1\nb: *bold\n", []string{`2:1: not valid YAML: unknown anchor 'bold' referenced; put quotes around a text that begins with *`}},
		{"a.yaml", "a: 1\nb: **bold** c\n", []string{`2:1: not valid YAML: did not find expected alphabetic or numeric character; ` +
			`put quotes around a text that begins with * or &`}},
		{"a.yaml", "a: 1\nb: \x1b[1m\n", []string{`2:1: not valid YAML: control characters are not allowed`}},
		{"a.yaml", "a: 1\nb: c: d\n", []string{`2:1: not valid YAML: mapping values are not allowed in this context; ` +
			`put quotes around a text with ": " in it, and indent the keys of one object alike`}},
		{"a.yaml", "a: 1\nb: \"\\d\"\n", []string{`2:1: not valid YAML: found unknown escape character; ` +
			`write \\ for a backslash in double quotes, or use single quotes`}},
		{"a.yaml", "a: 1\nb: \"c\nd: 2\n", []string{`2:1: not valid YAML: found unexpected end of stream; a quote is not closed`}},
		{"a.yaml", "a: 1\nb: {{name}}\n", []string{`2:5: keys must be plain strings; put quotes around a text that begins with {`}},
		{"a.yaml", "a: 1\nb: !important\n", []string{`2:4: the tag "!important" has no JSON form; put quotes around a text that begins with !`}},
		{"a.yaml", "a: 1\n--- \nb: {{name}} does\n", []string{`3:1: not valid YAML: did not find expected key; ` +
			`put quotes around a text that begins with {, [, " or ', and indent what belongs together alike`}},
		{"a.yaml", "name: 0123\nsize: 5\n", []string{`1:7: /name: must be string, got 83; put quotes around it`}},
		{"a.yaml", "name: x\nname: y\n", []string{`2:1: key "name" occurs twice in the same object`}},
		{"a.yaml", "", []string{`1:1: the file is empty`}},
	}
	s := document.NewSchema([]byte(schema))
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			var fs document.Faults
			if doc := document.Read(test.file, []byte(test.text), &fs); doc != nil {
				s.Check(doc, &fs)
			}
			var got []string
			for _, f := range fs.Sorted() {
				got = append(got, f.String())
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestPointer(t *testing.T) {
	tokens := []string{"a/b", "~c", "", "0"}
	p := document.Pointer(tokens...)
	if want := "/a~1b/~0c//0"; p != want {
		t.Errorf("got %s, want %s", p, want)
	}
	if got := document.Tokens(p); strings.Join(got, "|") != strings.Join(tokens, "|") {
		t.Errorf("got %q, want %q", got, tokens)
	}
}
