package amend_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flag"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mcp-workbench/workbench/internal/amend"
	"github.com/mcp-workbench/workbench/internal/document"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const entry = `{"command": "/usr/bin/workbench", "args": ["serve", "a \"b\""], "env": {"A": "b: c"}}`

// Each file of the archive is changed as its comment says, and becomes the file of the same name with .want. Where the
// member was put in as a new one, taking it out again gives the file that was there, byte for byte.
func TestChanges(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/changes.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var out txtar.Archive
	out.Comment = archive.Comment
	want := map[string]string{}
	for _, f := range archive.Files {
		want[f.Name] = string(f.Data)
	}
	for _, f := range archive.Files {
		if strings.HasSuffix(f.Name, ".want") {
			continue
		}
		words := strings.Fields(strings.TrimSuffix(f.Name, filepath.Ext(f.Name)))
		at := amend.Place{File: f.Name, Keys: words[1:]}
		if words[0] == "list" || words[0] == "unlist" {
			at.List = true
		}
		t.Run(f.Name, func(t *testing.T) {
			var got []byte
			var err error
			value := entry
			if at.List {
				value = `{"name": "` + words[len(words)-1] + `", ` + entry[1:]
			}
			if strings.HasSuffix(words[0], "set") || words[0] == "list" {
				got, err = amend.Set(f.Data, at, []byte(value))
			} else {
				got, err = amend.Remove(f.Data, at)
			}
			if err != nil {
				got = fmt.Appendf(nil, "%v\n", err)
			}
			out.Files = append(out.Files, f, txtar.File{Name: f.Name + ".want", Data: got})
			if !*update && string(got) != want[f.Name+".want"] {
				t.Errorf("got\n%s\nwant\n%s", got, want[f.Name+".want"])
			}
			if words[0] != "set" && words[0] != "list" {
				return
			}
			back, err := amend.Remove(got, at)
			if err != nil || !bytes.Equal(back, f.Data) {
				t.Errorf("taken out again: got %v\n%s\nwant\n%s", err, back, f.Data)
			}
		})
	}
	if *update {
		if err := os.WriteFile("testdata/changes.txtar", txtar.Format(&out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// What a text ends with, and how its lines do, stays.
func TestLineEnds(t *testing.T) {
	for _, text := range []string{"{\r\n\t\"a\": 1,\r\n\t\"b\": {\"c\": {}}\r\n}", "\xef\xbb\xbf{\n    \"b\": {\n        \"x\": {}\n    }\n}\n", "{\"b\":{\"x\":{}}}", "{\"b\":{\"x\":{}}} // the end"} {
		at := amend.Place{File: "f.json", Keys: []string{"b", "new"}}
		set, err := amend.Set([]byte(text), at, []byte(entry))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "\r\n") && strings.Contains(strings.ReplaceAll(string(set), "\r\n", ""), "\n") {
			t.Errorf("lines end in two ways: %q", set)
		}
		if back, err := amend.Remove(set, at); err != nil || string(back) != text {
			t.Errorf("got %q, %v, want %q", back, err, text)
		}
	}
}

// A file of YAML that is written anew keeps the ends of its lines, and gets no lines between its comments.
func TestLineEndsYAML(t *testing.T) {
	at := amend.Place{File: "f.yaml", Keys: []string{"a", "new"}}
	got, err := amend.Set([]byte("# top\r\na: {b: 1} # c\r\n# below\r\nd: |\r\n  e\r\n  f\r\n"), at, []byte(`{"g": 2}`))
	want := "# top\r\n# c\r\na:\r\n  b: 1\r\n  new:\r\n    g: 2\r\n# below\r\nd: |\r\n  e\r\n  f\r\n"
	if err != nil || string(got) != want {
		t.Errorf("got %v\n%q\nwant\n%q", err, got, want)
	}
}

// In YAML too a member that is moved takes its comments along, however far the lines of its new place are indented.
func TestMoveYAML(t *testing.T) {
	const entry = "command: x   # why\n"
	const long = "  x:\n    # run it\n    " + entry + "    env:\n      A: 'b' # c\n\n      B: |\n        # text\n        b\n"
	from := amend.Place{File: "f.yaml", Keys: []string{"a", "x"}}
	to := amend.Place{File: "f.yaml", Keys: []string{"b", "x"}}
	for text, want := range map[string]string{
		"a:\n" + long + "  z: 1\nb:\n  y: 2\n":                  "a:\n  z: 1\nb:\n  y: 2\n" + long,
		"a:\n  x: {c: 'd'} # why\n  z: 1\n":                     "a:\n  z: 1\nb:\n  x: {c: 'd'} # why\n",
		"a:\n      x:\n          " + entry + "      z: 1\n":     "a:\n      z: 1\nb:\n  x:\n      " + entry,
		"a:\n  x:\n    " + entry + "  z: 1\nb:\n    y: 2\n":     "a:\n  z: 1\nb:\n    y: 2\n    x:\n      " + entry,
		"a:\r\n  x:\r\n    c: d # e\r\n  z: 1":                  "a:\r\n  z: 1\r\nb:\r\n  x:\r\n    c: d # e\r\n",
		"a: {x: {\n  c: d # why\n  }, z: 1}\n":                  "", // no lines of its own
		"a:\n  x: &x\n    " + entry + "  z: *x\n":               "", // the alias would come before its anchor
		"a:\n  z: &z {c: 'd'}\n  x: *z\nb:\n  y: 2 # because\n": "a:\n  z: &z {c: 'd'}\nb:\n  y: 2 # because\n  x: *z\n",
	} {
		got, err := amend.Move([]byte(text), from, to)
		if string(got) != want || (want == "") != errors.Is(err, amend.ErrUnable) {
			t.Errorf("%s: got %v\n%s\nwant\n%s", text, err, got, want)
		}
	}
}

// A member that is moved takes its comments along, and a flag is set as one.
func TestMove(t *testing.T) {
	text := "{\n  \"a\": {\n    \"x\": {\n      \"y\": 1 // why\n    }\n  },\n  \"b\": {}\n}\n"
	want := "{\n  \"a\": {},\n  \"b\": {\n    \"x\": {\n      \"y\": 1 // why\n    }\n  }\n}\n"
	got, err := amend.Move([]byte(text), amend.Place{File: "f.json", Keys: []string{"a", "x"}}, amend.Place{File: "f.json", Keys: []string{"b", "x"}})
	if err != nil || string(got) != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
	}
	got, err = amend.Move([]byte("a:\n  x: {y: 1}\n  z: 2\n"), amend.Place{File: "f.yaml", Keys: []string{"a", "x"}}, amend.Place{File: "f.yaml", Keys: []string{"b", "x"}})
	if want := "a:\n  z: 2\nb:\n  x: {y: 1}\n"; err != nil || string(got) != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
	}
	for file, want := range map[string]string{"f.json": "{\n  \"a\": true\n}", "f.yaml": "a: true\n"} {
		if got, err := amend.Set(nil, amend.Place{File: file, Keys: []string{"a"}}, []byte("true")); err != nil || strings.TrimSpace(string(got)) != strings.TrimSpace(want) {
			t.Errorf("%s: got %q, %v, want %q", file, got, err, want)
		}
	}
}

func TestRefuses(t *testing.T) {
	for text, at := range map[string]amend.Place{
		`{"a": `:            {File: "f.json", Keys: []string{"a", "b"}},
		`{"a": [1]}`:        {File: "f.json", Keys: []string{"a", "b"}},
		`[]`:                {File: "f.json", Keys: []string{"a", "b"}},
		`{"a": 1, "a": {}}`: {File: "f.json", Keys: []string{"a", "b"}},
		"a: b: c":           {File: "f.yaml", Keys: []string{"a", "b"}},
		"a = [":             {File: "f.toml", Keys: []string{"a", "b"}},
		"a = 1":             {File: "f.toml", Keys: []string{"a", "b"}},
	} {
		if got, err := amend.Set([]byte(text), at, []byte(entry)); err == nil {
			t.Errorf("%s: got %q, want an error", text, got)
		}
	}
	if _, err := amend.Set([]byte("a = 1"), amend.Place{File: "f.toml", Keys: []string{"a", "b"}}, []byte("{}")); !errors.Is(err, amend.ErrUnable) {
		t.Errorf("got error %v, want ErrUnable", err)
	}
}

// Whatever a file holds, the result has the member and all else, and without it is what it was.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{`{}`, `{"a":{"x":1,},}`, "{ // c\n \"a\": {\n  \"x\": 1 // d\n }\n}", `{"a":null}`, `{"a":{"b":{}}}`, "{\"a\":{/**/}}", "{\"a\": {\"x\": 1, // c\n},}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at := amend.Place{File: "f.json", Keys: []string{"a", "b"}}
		set, err := amend.Set([]byte(text), at, []byte(entry))
		if err != nil {
			return
		}
		var faults document.Faults
		if got := document.ReadSettings("f.json", set, &faults).Get("a").Get("b"); len(faults) > 0 || got.Str("command") != "/usr/bin/workbench" {
			t.Errorf("%q became %q", text, set)
		}
		if _, err := amend.Remove(set, at); err != nil {
			t.Errorf("%q: taking the member out again: %v", set, err)
		}
	})
}
