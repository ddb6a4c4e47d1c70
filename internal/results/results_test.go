package results_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/results"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// issues makes the text of a list of so many bytes, and the result of a tool that says it in text and as structured content.
func issues(size int) (text string, result []byte) {
	var b strings.Builder
	b.WriteString(`{"total": 1, "items": [`)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"id": %d, "title": "Issue \"%d\" – ä", "state": "%s", "labels": ["bug", "p%d"], "user": {"login": "u%d"}}`,
			i, i, []string{"open", "closed"}[i%2], i%5, i%97)
	}
	b.WriteString(`]}`)
	text = b.String()
	result = wire.AppendQuote([]byte(`{"content":[{"type":"text","text":`), text)
	return text, append(append(append(result, `}],"structuredContent":`...), text...), `,"isError":false}`...)
}

func shelf(t testing.TB) *results.Shelf {
	s := results.New([]string{t.TempDir()}).Shelf()
	t.Cleanup(s.Close)
	return s
}

// preview keeps a result and gives its preview and its id.
func preview(t testing.TB, s *results.Shelf, result []byte, wish results.Wish) (string, string) {
	t.Helper()
	out, err := s.Preview(result, wire.Span{End: len(result)}, wish)
	if err != nil || out == nil {
		t.Fatalf("got %q, %v, want a preview", out, err)
	}
	if !json.Valid(out) {
		t.Fatalf("the preview is no JSON: %s", out)
	}
	_, id, _ := strings.Cut(string(out), results.Prefix)
	return string(out), id[:26]
}

// A result of 10 MB costs less than 2,000 tokens, and so does each page of it. Under the race detector, which makes the search
// thirty times slower, it is a result of 2 MB.
func TestTenMegabytes(t *testing.T) {
	size := 10 << 20
	if raceEnabled {
		size = 2 << 20
	}
	text, result := issues(size)
	s := shelf(t)
	wish := results.Wish{Over: 25000, Name: "dev/github/list_issues", Links: true}
	began := time.Now()
	out, id := preview(t, s, result, wish)
	t.Logf("preview of %d bytes (with structured content): %d tokens, %s", len(result), len(out)/4, time.Since(began))
	if len(out) > 8000 {
		t.Errorf("the preview has %d tokens, want at most 2000", len(out)/4)
	}
	for _, want := range []string{"array of ", "id: number", "user: {login: string}", "structuredContent is left out", `"isError":false`} {
		if !strings.Contains(out, want) {
			t.Errorf("the preview lacks %q:\n%s", want, out)
		}
	}
	lines := strings.Count(text, "\n") + 1
	for _, q := range []results.Query{
		{}, {Page: 100}, {Lines: "5000-5010"}, {Lines: fmt.Sprint(lines)},
		{Grep: `u42"`}, {Grep: `(?i)issue.*8000`}, {Path: "$.items[*].title"}, {Path: "$.items[?@.state=='open'].id", Page: 3},
		{Path: "$.items[-1]"}, {Path: "$..login", Page: 20},
	} {
		began := time.Now()
		told, page, err := s.Page(id, q)
		took := time.Since(began)
		if err != nil || len(page) == 0 {
			t.Errorf("%+v: got %q, %v", q, told, err)
			continue
		}
		cost := len(wire.AppendQuote(nil, string(page))) + len(told)
		t.Logf("%+v: %d tokens, %s: %s", q, cost/4, took, told)
		if cost > 8000 {
			t.Errorf("%+v: the page has %d tokens, want at most 2000", q, cost/4)
		}
	}
	if _, page, _ := s.Page(id, results.Query{Lines: "5000"}); string(page) != strings.Split(text, "\n")[4999]+"\n" {
		t.Errorf("line 5000: got %q", page)
	}
}

// All pages together are the text, whatever stands where one ends.
func TestPagesAreWhole(t *testing.T) {
	for name, text := range map[string]string{
		"lines":    strings.Repeat("a line of text – ä\n", 3000),
		"one line": strings.Repeat("日本語", 9000),
		"crlf":     strings.Repeat("x\r\n\r\n", 5000) + "end",
		"newlines": strings.Repeat("\n", 20000),
	} {
		s := shelf(t)
		_, id := preview(t, s, content(text), results.Wish{Over: 1000})
		var all bytes.Buffer
		for i := 1; ; i++ {
			_, page, err := s.Page(id, results.Query{Page: i})
			if err != nil {
				if i == 1 {
					t.Fatalf("%s: %v", name, err)
				}
				break
			}
			all.Write(page)
		}
		if all.String() != text {
			t.Errorf("%s: the pages have %d bytes, want the %d of the text, the same", name, all.Len(), len(text))
		}
	}
}

func content(texts ...string) []byte {
	out := []byte(`{"content":[`)
	for i, text := range texts {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(wire.AppendQuote(append(out, `{"type":"text","text":`...), text), '}')
	}
	return append(out, `]}`...)
}

func TestPaths(t *testing.T) {
	const doc = `{"a": [{"n": 1, "s": "x", "b": true}, {"n": 2, "s": "y", "z": null}, {"n": 10, "s": "x y", "k.k": [1, 2, 3, 4]}], "m": {"é": "u"}, "n": 7}`
	s := shelf(t)
	_, id := preview(t, s, content(doc+strings.Repeat(" ", 5000)), results.Wish{Over: 1000})
	for _, tt := range []struct{ path, want string }{
		{"$.n", "7"}, {"$", doc}, {".n", "7"}, {"$['n','m']", "7|{\"é\": \"u\"}"}, {"$.m.é", `"u"`}, {`$["m"]["é"]`, `"u"`},
		{"$.a[0].n", "1"}, {"$.a[-1].n", "10"}, {"$.a[-4].n", ""}, {"$.a[-3].n", "1"}, {"$.a[3].n", ""}, {"$.a[1:].n", "2|10"}, {"$.a[:2].n", "1|2"}, {"$.a[-2:].n", "2|10"},
		{"$.a[-2:-1].n", "2"}, {"$.a[:-1].n", "1|2"}, {"$.a[-9:2].n", "1|2"}, {"$.a[::2].n", "1|10"}, {"$.a[0,2].n", "1|10"}, {"$.a[*].n", "1|2|10"}, {".a[].n", "1|2|10"}, {"$.a.*.n", "1|2|10"},
		{"$..n", "7|1|2|10"}, {"$..['k.k'][1:3]", "2|3"}, {"$.a[?(@.s=='x')].n", "1"}, {"$.a[?@.n>1].n", "2|10"}, {`$.a[?@.n >= 2 && @.s != "y"].n`, "10"},
		{"$.a[?@.b].n", "1"}, {"$.a[?!@.b].n", "2|10"}, {"$.a[?@.n==1||@.n==10].n", "1|10"}, {"$.a[?@.z==null].n", "2"}, {"$.a[?@.b==true].n", "1"}, {"$.a[?@.s<'xx'].n", "1|10"},
		{"$.nothing", ""}, {"$.n.n", ""}, {"$.a[0][0]", ""},
	} {
		_, page, err := s.Page(id, results.Query{Path: tt.path})
		got := strings.ReplaceAll(strings.TrimSuffix(string(page), "\n"), "\n", "|")
		if tt.path == "$" {
			got = strings.TrimRight(got, " ")
		}
		if err != nil || got != tt.want {
			t.Errorf("%s: got %q, %v, want %q", tt.path, got, err, tt.want)
		}
	}
	for _, bad := range []string{"", "a", "$.", "$.a[", "$.a[x]", "$.a[?x]", "$.a['x", "$x", "$.a[1:2:0]", "$.a[?@.n==]", "$.a[99999999999999999999]", "$.a]"} {
		if bad == "" {
			continue
		}
		if _, page, err := s.Page(id, results.Query{Path: bad}); err == nil || !strings.Contains(err.Error(), "want ") {
			t.Errorf("%s: got %q, %v, want an error that says what is wanted", bad, page, err)
		}
	}
}

func BenchmarkPreview(b *testing.B) {
	text, both := issues(10 << 20)
	for name, result := range map[string][]byte{"text": content(text), "both": both} {
		b.Run(name, func(b *testing.B) {
			s := results.New([]string{b.TempDir()}).Shelf()
			defer s.Close()
			b.SetBytes(int64(len(result)))
			for b.Loop() {
				if out, err := s.Preview(result, wire.Span{End: len(result)}, results.Wish{Over: 1000}); out == nil || err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
