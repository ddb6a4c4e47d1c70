package foreign_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

// hostile steers the terminal, hides something and closes quotation marks.
const hostile = "\x1b]0;owned\x07\x1b[31m\u202eab\u200bc\" \U000e0041\u3164said\u009b1m \"x\x00\r\nnext\u2028line"

const harmless = `abc" said "x nextline`

// Whatever prints, logs or encodes a text of others, the clean form comes out.
func TestTextIsClean(t *testing.T) {
	text, name := foreign.NewText(hostile), foreign.NewName(hostile)
	type both struct {
		Text foreign.Text
		Name foreign.Name
	}
	encoded, err := json.Marshal(both{text, name})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	logger := zerolog.New(&log)
	logger.Info().Stringer("text", text).Interface("name", name).Msg("")
	quoted := strings.ReplaceAll(harmless, `"`, `'`)
	for _, test := range []struct{ way, got, want string }{
		{"String", text.String(), harmless},
		{"String of a name", name.String(), harmless},
		{"%s", fmt.Sprintf("%s", text), harmless},
		{"%v", fmt.Sprintf("%v", name), harmless},
		{"%+v", fmt.Sprintf("%+v", text), harmless},
		{"%#v", fmt.Sprintf("%#v", name), harmless},
		{"%x", fmt.Sprintf("%x", name), harmless},
		{"%5s", fmt.Sprintf("%5s", foreign.NewName("a\x1bb")), "    a"},
		{"%q", fmt.Sprintf("%q", text), `"` + quoted + `"`},
		{"%q of a name", fmt.Sprintf("%q", name), `"` + quoted + `"`},
		{"in a struct", fmt.Sprintf("%v", both{text, name}), "{" + harmless + " " + harmless + "}"},
		{"JSON", string(encoded), fmt.Sprintf(`{"Text":%q,"Name":%[1]q}`, harmless)},
		{"the log", log.String(), fmt.Sprintf("{\"level\":\"info\",\"text\":%q,\"name\":%[1]q}\n", harmless)},
		{"an error", foreign.NewError(errors.New(hostile)).Error(), harmless},
		{"words", fmt.Sprintf("%q", foreign.Words{text, text}), `"` + quoted + " | " + quoted + `"`},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %q, want %q", test.way, test.got, test.want)
		}
	}
	if got := name.Verbatim(); got != hostile {
		t.Errorf("got %q, want the name as it was written", got)
	}
	if err := foreign.NewError(fs.ErrExist); !errors.Is(err, fs.ErrExist) {
		t.Error("an error does not say which it is")
	}
	if got, want := foreign.NewLines("a\r\n\tb\x1b]x\nc\rd\n").String(), "a\n\tb\nc d"; got != want {
		t.Errorf("got the block %q, want %q", got, want)
	}
}

type outer struct {
	inner
	Own int `json:"own"`
}

type inner struct {
	Inner string           `json:"inner"`
	Of    map[string]outer `json:"of"`
}

// What JSON has of a wrong type is told without the names of types in this program.
func TestErrorOfAWrongType(t *testing.T) {
	var into struct {
		outer
		Text  string            `json:"text"`
		Deep  []struct{ N int } `json:"deep"`
		Flag  *bool             `json:"flag"`
		Some  map[string]any    `json:"some"`
		Ratio float64           `json:"ratio"`
	}
	for text, want := range map[string]string{
		`{"text":1}`:                    "x: text: want a string, got JSON of the type number",
		`{"deep":[{"N":1.5}]}`:          "x: deep.N: want a whole number, got JSON of the type number 1.5",
		`{"deep":{}}`:                   "x: deep: want an array, got JSON of the type object",
		`{"flag":"yes"}`:                "x: flag: want true or false, got JSON of the type string",
		`{"some":[]}`:                   "x: some: want an object, got JSON of the type array",
		`{"ratio":"1"}`:                 "x: ratio: want a number, got JSON of the type string",
		`{"own":""}`:                    "x: own: want a whole number, got JSON of the type string",
		`{"inner":1}`:                   "x: inner: want a string, got JSON of the type number",
		`{"of":{"inner":{"inner":[]}}}`: "x: of.inner: want a string, got JSON of the type array",
		`7`:                             "x: want an object, got JSON of the type number",
		`{"text"}`:                      "x: invalid character '}' after object key",
	} {
		err := json.Unmarshal([]byte(text), &into)
		if got := foreign.Misread(fmt.Errorf("x: %w", err), &into).Error(); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// Of every kind of escape sequence nothing is left, nor of one that was cut off, and all that stands behind it is.
func TestEscapesAreGone(t *testing.T) {
	for _, escape := range []string{
		"\x1b[@", "\x1b[~", "\x1b[38;5;1m", "\x1b[?25l", "\u009b4m", // CSI, from its first final byte to the last
		"\x1b]0;title\x07", "\x1bPq\x1b\\", "\x1bXsos\u009c", "\x1b^pm\x1b\\", "\x1b_apc\x07", "\u009fapc\u009c", // strings
		"\x1b(B", "\x1b / F", "\x1b%G", // with bytes between
		"\x1b0", "\x1b7", "\x1bc", "\x1b~", // of two bytes
		"\x1b", "\x1b\x1b", "\u0080",
	} {
		for _, behind := range []string{"", "é"} {
			if got, want := foreign.NewText("a"+escape+behind+"\nb").String(), "a"+behind+" b"; got != want {
				t.Errorf("%q: got %q, want %q", escape+behind, got, want)
			}
		}
	}
	for _, open := range []string{"\x1b", "\x1b[", "\x1b[3", "\x1b]0;t", "\x1b(", "\u009b", "\u009f", "\xc2"} {
		if got := foreign.NewText("a" + open).String(); strings.TrimRight(got, "\ufffd") != "a" {
			t.Errorf("%q: got %q, want a", open, got)
		}
	}
}

// What is just as long as it may be stays whole.
func TestTextFits(t *testing.T) {
	for _, text := range []string{strings.Repeat("x", foreign.MaxText), strings.Repeat("é", foreign.MaxText/2)} {
		if got := foreign.NewText(text).String(); got != text {
			t.Errorf("got %d bytes of %d", len(got), len(text))
		}
	}
}

// What is read is clean too.
func TestTextIsRead(t *testing.T) {
	var got struct {
		Text foreign.Text
		Name foreign.Name
		Both foreign.Lines
	}
	if err := json.Unmarshal([]byte(`{"text":"a\u001b[1mb","name":"c\u001bd","both":"e\n\u001bff"}`), &got); err != nil {
		t.Fatal(err)
	}
	if got.Text != foreign.NewText("ab") || got.Name.Verbatim() != "c\x1bd" || got.Both != foreign.NewLines("e\nf") {
		t.Errorf("got %q, %q and %q", got.Text, got.Name.Verbatim(), got.Both)
	}
}

// No text is longer than it may be, and each shows that it was cut.
func TestTextIsBounded(t *testing.T) {
	for _, long := range []string{strings.Repeat("x", 5<<20), strings.Repeat("é", 1<<20), strings.Repeat("\x1b]é\x07é ", 1<<20)} {
		for _, test := range []struct {
			of   string
			text string
			most int
		}{
			{"a text", foreign.NewText(long).String(), foreign.MaxText},
			{"lines", foreign.NewLines(long).String(), foreign.MaxText},
			{"a name", foreign.NewName(long).String(), foreign.MaxName},
			{"an error", foreign.NewError(errors.New(long)).Error(), foreign.MaxText},
			{"words", foreign.Words{foreign.NewText(long), foreign.NewText(long)}.String(), foreign.MaxText / 2},
		} {
			if n := len(test.text); n > test.most || n < test.most-12 || !strings.HasSuffix(test.text, "…") || !utf8.ValidString(test.text) {
				t.Errorf("%s of %.9q…: got %d bytes that end in %q, want at most %d", test.of, long, n, test.text[n-5:], test.most)
			}
		}
	}
}

// Few words are kept of many, those that name the error among them.
func TestWords(t *testing.T) {
	words := func(lines ...string) (w foreign.Words) {
		for _, line := range lines {
			w = append(w, foreign.NewText(line))
		}
		return w
	}
	for _, test := range []struct {
		name string
		w    foreign.Words
		want string
	}{
		{"none", nil, ""},
		{"few", words("a", "b"), "a | b"},
		{"the last", words("a", "b", "c", "d", "e", "f"), "c | d | e | f"},
		{"an error among the last", words("a", "b", "c", "d", "Error: e", "f"), "c | d | Error: e | f"},
		{"an error before them", words("a", "TypeError: b", " at c", " at d", " at e", "}", "v22"), "TypeError: b |  at c |  at d |  at e"},
		{"a panic in Go", words("a", "panic: b", "goroutine 1 [running]:", "main.c()", " c.go:1", "main.main()", " d.go:1", "exit status 2"),
			"panic: b | goroutine 1 [running]: | main.c() |  c.go:1"},
		{"a fatal error in Go", words("a", "runtime: failed to create new OS thread (have 5 already; errno=11)",
			"runtime: may need to increase max user processes (ulimit -u)", "fatal error: newosproc", "runtime stack:", "runtime.throw()", " b.go:1"),
			"runtime: failed to create new OS thread (have 5 already; errno=11) | runtime: may need to increase max user processes (ulimit -u) | " +
				"fatal error: newosproc | runtime stack:"},
		{"a panic in Rust", words("thread 'main' panicked at src/main.rs:2:5:", "b", "stack backtrace:", " 0: c", " 1: d", " 2: e"),
			"thread 'main' panicked at src/main.rs:2:5: | b | stack backtrace: |  0: c"},
		{"what npm says of a package that there is not", words("npm error code E404", "npm error 404 Not Found - GET https://example.com/x",
			"npm error 404", "npm error 404  The requested resource 'x@*' could not be found", "npm error 404", "npm error 404 Note that you can also install from a",
			"npm error 404 tarball, folder, http url, or git url.", "npm notice", "npm notice New minor version of npm available!",
			"npm error A complete log of this run can be found in: x.log"),
			"npm error code E404 | npm error 404 Not Found - GET https://example.com/x | npm error 404 | npm error 404  The requested resource 'x@*' could not be found"},
		{"a flag that package flag of Go does not know", words("flag provided but not defined: -x", "Usage of s:", " -http string", " where errors go",
			" -level string", " one of debug, info and error"), "flag provided but not defined: -x | Usage of s: |  -http string |  where errors go"},
		{"an error before a long help", words("Error: no context is set", "Configure one", "Usage:", " s [flags]", "Flags:",
			" --help this help", " --log-file where to log; stderr is the standard error stream", " --port where to listen"),
			"Error: no context is set | Configure one | Usage: |  s [flags]"},
		{"an error behind a help", words("usage: s [-h] --key KEY", "", "options:", " -h", " --key KEY", " --level error", "s: error: --key is required"),
			" -h |  --key KEY |  --level error | s: error: --key is required"},
		{"a help alone", words("Usage: s KEY", " a", " b", " c", "Missing required argument: KEY"), " a |  b |  c | Missing required argument: KEY"},
		{"many errors", words("error 1", "error 2", "error 3", "error 4", "error 5", "error 6", "error 7", "error 8", "error 9", "error 10"),
			"error 7 | error 8 | error 9 | error 10"},
	} {
		if got := test.w.String(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// JSON for a terminal has the same value and nothing in it that a terminal obeys.
func TestJSON(t *testing.T) {
	raw, err := json.Marshal(map[string]string{"a": hostile + "ü大👍\U000e0041\x7f"})
	if err != nil {
		t.Fatal(err)
	}
	got := foreign.JSON(raw)
	if i := bytes.IndexFunc(got, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf) }); i >= 0 {
		t.Errorf("got %q in it", got[i:])
	}
	var before, after map[string]string
	if err := errors.Join(json.Unmarshal(raw, &before), json.Unmarshal(got, &after)); err != nil || before["a"] != after["a"] {
		t.Errorf("got %q, want %q, %v", after["a"], before["a"], err)
	}
	if plain := []byte("{\n\t\"a\": \"ü\"\n}"); !bytes.Equal(foreign.JSON(plain), plain) {
		t.Errorf("got %s, want %s", foreign.JSON(plain), plain)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"plain", "\x1b[31mred\x1b[m", "\x1b]0;t\a", "\x1b", "\xc2", "\xc2\x9b", "\u202e", "\x1b(", "\xff\t\r", strings.Repeat("é", 2000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, make := range []func(string) foreign.Text{foreign.NewText, func(s string) foreign.Text { return foreign.NewLines(s).Text }} {
			got := make(raw).String()
			if len(got) > foreign.MaxText || !utf8.ValidString(got) {
				t.Errorf("%d bytes, valid UTF-8: %t", len(got), utf8.ValidString(got))
			}
			if i := strings.IndexFunc(got, func(r rune) bool {
				return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r)
			}); i >= 0 {
				t.Errorf("%q lets %q through", got, got[i:])
			}
			if again := make(got).String(); again != got {
				t.Errorf("cleaned again: got %q, want %q", again, got)
			}
		}
	})
}
