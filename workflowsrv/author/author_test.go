package author_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/workflowsrv/author"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/library"
)

// everyWorkflow gives those that are part of the program and the sample, as files.
func everyWorkflow(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{"sample.json": definition.Sample()}
	err := fs.WalkDir(library.Files(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".json" {
			return err
		}
		files[path], err = fs.ReadFile(library.Files(), path)
		return err
	})
	if err != nil || len(files) < 5 {
		t.Fatalf("got %d workflows, %v", len(files), err)
	}
	return files
}

// TestPictures draws every workflow: each step stands in the picture, and SVG is XML.
func TestPictures(t *testing.T) {
	for name, data := range everyWorkflow(t) {
		w, err := definition.Parse(name, data)
		if err != nil {
			t.Fatal(err)
		}
		chart, picture := author.Mermaid(w), author.SVG(w)
		for _, id := range w.StepIDs() {
			if !strings.Contains(chart, id+":") || !strings.Contains(picture, id+":") {
				t.Errorf("%s: the step %s is missing in a picture", name, id)
			}
		}
		dec := xml.NewDecoder(strings.NewReader(picture))
		for {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// TestHostilePictures draws a workflow whose texts are made to break out.
func TestHostilePictures(t *testing.T) {
	w, err := definition.Parse("w.yaml", []byte("id: abc\nname: 'n\"]; <script>x</script>'\ndescription: d\nversion: 1.0.0\n"+
		"steps: [{id: one, title: 'a\"] --> b', prompt: p, runCondition: {var: '</text>', equals: '\"'}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := author.Mermaid(w); strings.Contains(got, "<script>") || strings.Count(got, `"`) != 8 {
		t.Errorf("got a label that ends early:\n%s", got)
	}
	if got := author.SVG(w); strings.Contains(got, "<script>") || strings.Count(got, "</text>") != strings.Count(got, "<text") {
		t.Errorf("got a text that ends early:\n%s", got)
	}
}

// TestLayout lays files out anew: what they say stays, and a second time changes nothing.
func TestLayout(t *testing.T) {
	for name, data := range everyWorkflow(t) {
		asYAML, err := author.ToYAML(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, c := range []struct {
			isYAML bool
			file   string
			data   []byte
		}{{false, name, data}, {true, name + ".yaml", asYAML}} {
			once, err := author.Format(c.isYAML, c.data)
			if err != nil {
				t.Fatalf("%s: %v", c.file, err)
			}
			twice, err := author.Format(c.isYAML, once)
			if err != nil || !bytes.Equal(once, twice) {
				t.Errorf("%s: the second time gives something else, %v", c.file, err)
			}
			before, err := definition.Parse(name, data)
			if err != nil {
				t.Fatal(err)
			}
			after, err := definition.Parse(c.file, once)
			if err != nil || !bytes.Equal(before.JSON, after.JSON) {
				t.Errorf("%s: it says something else, %v", c.file, err)
			}
		}
	}
	const commented = "# head\nid: abc # why\nlist:\n    - a\n"
	if got, err := author.Format(true, []byte(commented)); err != nil || string(got) != "# head\nid: abc # why\nlist:\n  - a\n" {
		t.Errorf("got %q %v, want the comments in their places", got, err)
	}
	const inText = "list: [{a: 'b #c',   d: \"e #f\"  }]\n"
	if got, err := author.Format(true, []byte(inText)); err != nil || string(got) != "list: [{a: 'b #c', d: \"e #f\"}]\n" {
		t.Errorf("got %q %v, want what is no comment formatted", got, err)
	}
	const doubled = "list:\n  - a: |\n      x\n# one\n  # two\n\n    b: y\n"
	if got, err := author.Format(true, []byte(doubled)); err == nil ||
		!strings.Contains(err.Error(), `line 4: the comment "# one"`) {
		t.Errorf("got %q %v, want an error that names the comment", got, err)
	}
	const hashes = "a: 'x # y'\nb: |\n  # z  \n  w\nc: \"d \\\n  # e\"\n"
	if got, err := author.Format(true, []byte(hashes)); err != nil {
		t.Errorf("got %q %v, want no comment found in texts", got, err)
	}
	if got, err := author.Format(false, []byte("\xef\xbb\xbf{}")); err != nil || string(got) != "{}\n" {
		t.Errorf("got %q %v, want a byte order mark taken away", got, err)
	}
	for _, broken := range []string{"{", "", "a: 1\n---\nb: 1\n", "a: *x\n"} {
		if got, err := author.Format(true, []byte(broken)); err == nil {
			t.Errorf("%q: got %q, want an error", broken, got)
		}
	}
}

// What is of another type in a file of cases is a fault with its place, and does not count as empty.
func TestCaseFaults(t *testing.T) {
	w, err := definition.Parse("w.yaml", []byte("id: abc\nname: n\ndescription: d\nversion: 1.0.0\nsteps: [{id: one, title: t, prompt: p}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ text, want string }{
		{"steps: one", `1:17: /cases/0/steps: must be a list, got "one"`},
		{"steps: [one, 2]", `/cases/0/steps: must be a text, got 2; put quotes around it`},
		{"missing: size", `/cases/0/missing: must be a list, got "size"`},
		{"name: 5", `/cases/0/name: must be a text, got 5; put quotes around it`},
		{"rejected: {one: {size: 1}}", `/cases/0/rejected/one: must be a text, got an object with size; put quotes around it`},
		{"outputs: {one: [x, 5]}", `/cases/0/outputs/one: must be a text, got 5; put quotes around it`},
		{"outputs: {one: [x, y]}, rejected: {one: z}, steps: [one], missing: [], name: n", ""},
	} {
		_, err := author.ParseCases("c.yaml", []byte("cases: [{"+tt.text+"}]"), w)
		if got := fmt.Sprint(err); err == nil != (tt.want == "") || !strings.Contains(got, tt.want) && tt.want != "" {
			t.Errorf("%s: got %s, want %q", tt.text, got, tt.want)
		}
	}
}
