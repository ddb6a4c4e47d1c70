package results_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/results"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// issues makes the text of a list of so many bytes, and the result of a tool that says it in text and as structured
// content.
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

// A result of 10 MB costs less than 2,000 tokens, and so does each page of it. Under the race detector, which makes the
// search thirty times slower, it is a result of 2 MB.
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
		told, page, err := s.Page(t.Context(), id, q)
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
	if _, page, _ := s.Page(t.Context(), id, results.Query{Lines: "5000"}); string(page) != strings.Split(text, "\n")[4999]+"\n" {
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
			_, page, err := s.Page(t.Context(), id, results.Query{Page: i})
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

// A page is bounded as it stands in the reply, whatever of it is escaped there.
func TestPagesOfEscapes(t *testing.T) {
	for name, text := range map[string]string{
		"newlines":           strings.Repeat("\n", 150_000),
		"quotes":             strings.Repeat(`"\\`, 80_000),
		"control characters": strings.Repeat("\x01", 150_000),
		"separators":         strings.Repeat("\u2028", 50_000),
		"lines of quotes":    strings.Repeat(strings.Repeat(`"`, 300)+"\n", 500),
		"a JSON text":        `["` + strings.Repeat(`\u0001`, 50_000) + `"]`,
	} {
		s := shelf(t)
		_, id := preview(t, s, content(text), results.Wish{Over: 1000})
		for _, q := range []results.Query{{}, {Page: 2}, {Lines: "1-200"}, {Grep: "."}, {Grep: "^"}, {Path: "$"}} {
			told, page, err := s.Page(t.Context(), id, q)
			if err != nil {
				continue // one that is not there
			}
			if n := len(wire.AppendQuote(nil, told)) + len(wire.AppendQuote(nil, string(page))); n > 7800 {
				t.Errorf("%s, %+v: got %d bytes of reply, want less than 2,000 tokens", name, q, n)
			}
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
	const doc = `{"a": [{"n": 1, "s": "x", "b": true}, {"n": 2, "s": "y", "z": null}, {"n": 10, "s": "x y", "k.k": [1, 2, 3, 4]}], "m": {"é": "u"}, "n": 7, ` +
		`"ids": [{"id": 12345678901234567890, "i": 0}, {"id": 12345678901234567891, "i": 1}, {"id": 5.0, "i": 2}]}`
	s := shelf(t)
	_, id := preview(t, s, content(doc+strings.Repeat(" ", 5000)), results.Wish{Over: 1000})
	for _, tt := range []struct{ path, want string }{
		{"$.n", "7"}, {"$", doc}, {".n", "7"}, {"$['n','m']", "7|{\"é\": \"u\"}"}, {"$.m.é", `"u"`}, {`$["m"]["é"]`, `"u"`},
		{"$.a[0].n", "1"}, {"$.a[-1].n", "10"}, {"$.a[-4].n", ""}, {"$.a[-3].n", "1"}, {"$.a[3].n", ""}, {"$.a[1:].n", "2|10"}, {"$.a[:2].n", "1|2"}, {"$.a[-2:].n", "2|10"},
		{"$.a[-2:-1].n", "2"}, {"$.a[:-1].n", "1|2"}, {"$.a[-9:2].n", "1|2"}, {"$.a[::2].n", "1|10"}, {"$.a[0,2].n", "1|10"}, {"$.a[*].n", "1|2|10"}, {".a[].n", "1|2|10"}, {"$.a.*.n", "1|2|10"},
		{"$..n", "7|1|2|10"}, {"$..['k.k'][1:3]", "2|3"}, {"$.a[?(@.s=='x')].n", "1"}, {"$.a[?@.n>1].n", "2|10"}, {`$.a[?@.n >= 2 && @.s != "y"].n`, "10"},
		{"$.a[?@.b].n", "1"}, {"$.a[?!@.b].n", "2|10"}, {"$.a[?@.n==1||@.n==10].n", "1|10"}, {"$.a[?@.z==null].n", "2"}, {"$.a[?@.b==true].n", "1"}, {"$.a[?@.s<'xx'].n", "1|10"},
		{"$.nothing", ""}, {"$.n.n", ""}, {"$.a[0][0]", ""},
		{`$.m['\u00e9']`, `"u"`}, {`$.m["\u00E9"]`, `"u"`}, {`$['\u006d'].é`, `"u"`}, {`$.a[?@.s=='x\u0020y'].n`, "10"}, {`$.a[?@.s=="x"].n`, "1"}, {`$['"\'']`, ""},
		{"$.a[?(@.n==1 || @.n==2) && @.z==null].n", "2"}, {"$.a[?(@.n>1) && (@.s=='y')].n", "2"}, {"$.a[?!(@.n>1)].n", "1"}, {"$.a[?((@.n==10))].n", "10"}, {"$.a[?!(@.b) && !@['k.k']].n", "2"},
		{"$.a[?@.n<$.n].n", "1|2"}, {"$.a[?2<=@.n].n", "2|10"}, {"$.a[?@.n==@.n].n", "1|2|10"}, {"$.a[?'x'==@.s].n", "1"}, {"$.a[?@.n!=$.none].n", "1|2|10"},
		{"$.a[?@.b!=true].n", "2|10"}, {"$.a[?@.b!=false].n", "1|2|10"}, {"$.a[?@.x==@.y].n", "1|2|10"}, {"$.a[?@.b==null].n", ""}, {"$.a[?@.n=='1'].n", ""}, {"$.a[?@.s>1].n", ""},
		{"$ .a [ 0 ] .n", "1"}, {"$.a[?@.n == 1e0 ].n", "1"}, {"$.a[?@['k.k'][0]==1].n", "10"}, {"$.a[?@['k.k'][*]==3].n", "10"},
		{"$.ids[?@.id==12345678901234567891].i", "1"}, {"$.ids[?@.id<12345678901234567891].i", "0|2"}, {"$.ids[?@.id==5].i", "2"}, {"$.ids[?@.id>=12345678901234567890].i", "0|1"},
	} {
		_, page, err := s.Page(t.Context(), id, results.Query{Path: tt.path})
		got := strings.ReplaceAll(strings.TrimSuffix(string(page), "\n"), "\n", "|")
		if tt.path == "$" {
			got = strings.TrimRight(got, " ")
		}
		if err != nil || got != tt.want {
			t.Errorf("%s: got %q, %v, want %q", tt.path, got, err, tt.want)
		}
	}
	for _, bad := range []string{"", "a", "$.", "$.a[", "$.a[x]", "$.a[?x]", "$.a['x", "$x", "$.a[1:2:0]", "$.a[?@.n==]", "$.a[?(@.n]", "$.a[?1]", "$.a[?@.n==tru]", "$.a[?@.n==-]", `$.a['\u12']`, "$.a[?()]", "$.a[99999999999999999999]", "$.a]"} {
		if bad == "" {
			continue
		}
		if _, page, err := s.Page(t.Context(), id, results.Query{Path: bad}); err == nil || !strings.Contains(err.Error(), "want ") {
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

// Images whose reading takes much memory stay as they are, and those of one result that take much together.
func TestImagesThatAreTooLarge(t *testing.T) {
	encode := func(img image.Image) string {
		var b bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		return base64.StdEncoding.EncodeToString(b.Bytes())
	}
	plain := encode(image.NewNRGBA(image.Rect(0, 0, 3000, 3000)))  // 36 MB
	deep := encode(image.NewNRGBA64(image.Rect(0, 0, 3000, 3000))) // 72 MB
	for name, tt := range map[string]struct {
		images []string
		whole  int // as they are
	}{
		"two":     {[]string{plain, plain}, 1},
		"16 bits": {[]string{deep}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := shelf(t)
			var items []string
			for _, data := range tt.images {
				items = append(items, `{"type":"image","mimeType":"image/png","data":"`+data+`"}`)
			}
			result := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat("x", 9000) + `"},` + strings.Join(items, ",") + `]}`)
			out, err := s.Preview(result, wire.Span{Start: 0, End: len(result)}, results.Wish{Over: 2000, Images: results.ScaleImages})
			if err != nil {
				t.Fatal(err)
			}
			if got := bytes.Count(out, []byte(tt.images[0])); got != tt.whole {
				t.Errorf("got %d images as they are, want %d", got, tt.whole)
			}
		})
	}
}

// An image that comes in several passes takes more than its pixels.
func TestSizeOfImages(t *testing.T) {
	info := func(m color.Model) image.Config { return image.Config{ColorModel: m, Width: 100, Height: 10} }
	once, twice := make([]byte, 40), make([]byte, 40)
	twice[28] = 1
	for _, tt := range []struct {
		format string
		data   []byte
		model  color.Model
		want   int
	}{
		{"png", once, color.NRGBAModel, 4000},
		{"png", once, color.NRGBA64Model, 8000},
		{"png", twice, color.NRGBAModel, 8000},
		{"png", nil, color.GrayModel, 4000},
		{"gif", twice, color.NRGBAModel, 4000},
		{"jpeg", []byte("\xff\xc0"), color.YCbCrModel, 4000},
		{"jpeg", []byte("\xff\xd8\xff\xc2"), color.YCbCrModel, 16000},
	} {
		if got := results.SizeOf(tt.data, info(tt.model), tt.format); got != tt.want {
			t.Errorf("%s of %d bytes: got %d, want %d", tt.format, len(tt.data), got, tt.want)
		}
	}
}

// picture makes an image in base64.
func picture(t *testing.T, w, h int) string {
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = byte(i * i >> 3)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// Images of large results stay, are made smaller, or are linked to; what cannot be read as one stays.
func TestImages(t *testing.T) {
	large, small := picture(t, 2000, 1000), picture(t, 20, 10)
	item := func(data string) string { return `{"type":"image","mimeType":"image/png","data":"` + data + `"}` }
	noise := strings.Repeat("QUJD", 3000)
	result := []byte(`{"content":[{"type":"text","text":"short"},` + item(large) + `,` + item(small) + `,` + item(noise) + `,` + item("%%") + `],"structuredContent":{"a":1}}`)
	in := wire.Span{End: len(result)}
	s := shelf(t)
	if out, err := s.Preview(result, in, results.Wish{Over: 2000}); out != nil || err != nil {
		t.Errorf("pass: got %.100s, %v, want the result as it is", out, err)
	}
	out, err := s.Preview(result, in, results.Wish{Over: 2000, Images: results.ScaleImages, Links: true})
	var got struct {
		Content []struct{ Type, Text, Data, URI string }
	}
	if err != nil || json.Unmarshal(out, &got) != nil || len(got.Content) != 5 || !bytes.HasSuffix(out, []byte(`"structuredContent":{"a":1}}`)) {
		t.Fatalf("scale: got %.300s, %v, want all pieces", out, err)
	}
	data, err := base64.StdEncoding.DecodeString(got.Content[1].Data)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := png.DecodeConfig(bytes.NewReader(data)); err != nil || info.Width != 1024 || info.Height != 512 {
		t.Errorf("scale: got %d×%d, %v, want 1024×512", info.Width, info.Height, err)
	}
	if c := got.Content; c[0].Text != "short" || c[2].Data != small || c[3].Data != noise || c[4].Data != "%%" {
		t.Error("scale: the other pieces are not as they were")
	}

	linked, id := preview(t, s, result, results.Wish{Over: 2000, Images: results.LinkImages, Links: true})
	if strings.Contains(linked, small) || strings.Count(linked, "resource_link") != 5 {
		t.Errorf("link: got %s, want links to the result and to four images", linked)
	}
	whole, err := s.Read(results.Prefix + id + ".3")
	if err != nil || !strings.Contains(string(whole), `"blob":"`+small+`"`) || strings.Count(string(whole), `"uri"`) != 1 {
		t.Errorf("got %.200s, %v, want the third piece", whole, err)
	}
	if _, err := s.Read(results.Prefix + id + ".9"); err == nil {
		t.Error("got a piece that is not there")
	}
	for _, part := range []string{".1", ".9", ".structured"} {
		if told, page, err := s.Page(t.Context(), id+part, results.Query{}); err == nil || !strings.Contains(err.Error(), "without "+part) {
			t.Errorf("%s: got %q, %.100q, %v, want no page", part, told, page, err)
		}
	}
}

// What is odd about a result is no reason to lose it: it is passed on, or kept as it is.
func TestOddResults(t *testing.T) {
	big := strings.Repeat("x", 9000)
	for name, result := range map[string]string{
		"no content":      `{"x":"` + big + `"}`,
		"content no list": `{"content":"` + big + `"}`,
		"no object":       `"` + big + `"`,
		"task":            `{"task":{"taskId":"` + big + `"}}`,
	} {
		if out, err := shelf(t).Preview([]byte(result), wire.Span{End: len(result)}, results.Wish{Over: 2000}); out != nil || err != nil {
			t.Errorf("%s: got %.100s, %v, want it passed on", name, out, err)
		}
	}
	deep := strings.Repeat("[", 500) + strings.Repeat("]", 500)
	for name, result := range map[string]string{
		"pieces that are none": `{"content":[1,null,"x",[],{},{"type":5},{"type":"text"},{"type":"text","text":5},{"type":"resource","resource":7},{"type":"resource","resource":{"text":"` + big + `"}}]}`,
		"structured alone":     `{"content":[],"structuredContent":{"a":"` + big + `"}}`,
		"deep":                 `{"content":[{"type":"text","text":"` + deep + `"}],"structuredContent":{"a":[` + strings.Repeat("[],", 4000) + `1]}}`,
		"many keys":            `{"content":[{"type":"text","text":"{` + strings.Repeat(`\"k\":{\"k\":[{}]},`, 1000) + `\"z\":1}"}]}`,
		"control characters":   `{"content":[{"type":"text","text":"` + strings.Repeat(`\u0001\u2028`, 3000) + `"}]}`,
		"surrogates":           `{"content":[{"type":"text","text":"` + strings.Repeat(`\ud800x`, 3000) + `"}]}`,
		"many pieces":          `{"content":[` + strings.Repeat(`{"type":"resource_link","uri":"a:b","name":"n"},`, 500) + `{"type":"text","text":"` + big + `"}]}`,
	} {
		result = strings.ReplaceAll(result, `\\`, `\`)
		if !json.Valid([]byte(result)) {
			t.Fatalf("%s: the test is wrong", name)
		}
		s := shelf(t)
		out, id := preview(t, s, []byte(result), results.Wish{Over: 2000, Links: true})
		if len(out) > 12000 {
			t.Errorf("%s: the preview has %d bytes", name, len(out))
		}
		if whole, err := s.Read(results.Prefix + id); err != nil || !json.Valid(whole) {
			t.Errorf("%s: got %.200s, %v", name, whole, err)
		}
		for _, q := range []results.Query{{}, {Grep: "."}, {Grep: "(a|b|x*)*$"}, {Lines: "1"}} {
			if _, page, err := s.Page(t.Context(), id, q); err != nil || len(page) > 8000 {
				t.Errorf("%s: %+v: got %d bytes, %v", name, q, len(page), err)
			}
		}
		_, _, _ = s.Page(t.Context(), id, results.Query{Path: "$..*..*..*"}) // it ends
	}
}

// A preview advises to nothing that does not work: what has no text is read as a resource, and links are lines.
func TestResultsWithoutText(t *testing.T) {
	big := base64.StdEncoding.EncodeToString(make([]byte, 9000))
	links := strings.TrimSuffix(strings.Repeat(`{"type":"resource_link", "uri":"file:///a","name":"two  spaces"},`+"\n", 300), ",\n")
	for name, tt := range map[string]struct {
		pieces, told string
		lines        string // of the first page; "" if there is no text
	}{
		"audio":          {`{"type":"audio","mimeType":"audio/wav","data":"` + big + `"}`, "It has 1 × audio; each is a resource, the first of them " + results.Prefix, ""},
		"blob":           {`{"type":"resource","resource":{"uri":"a:b","mimeType":"x/y","blob":"` + big + `"}}`, "It has 1 × resource", ""},
		"links":          {links, "(of 300)", `{"type":"resource_link", "uri":"file:///a","name":"two  spaces"}` + "\n"},
		"text and links": {`{"type":"text","text":"files:"},` + links, "(of 301)", "files:\n{"},
		"JSON and links": {`{"type":"text","text":"{\"n\": 300}"},` + links, "Shape: {n: number}", `{"n": 300}`},
	} {
		s := shelf(t)
		out, id := preview(t, s, []byte(`{"content":[`+tt.pieces+`]}`), results.Wish{Over: 2000, Links: true})
		if !strings.Contains(string(out), tt.told) || strings.Contains(string(out), "Read on with") != (tt.lines != "") {
			t.Errorf("%s: got %.800s, want %q", name, out, tt.told)
		}
		if _, page, err := s.Page(t.Context(), id, results.Query{Lines: "1-2"}); tt.lines != "" && (err != nil || !strings.HasPrefix(string(page), tt.lines)) {
			t.Errorf("%s: got the page %.200s, %v, want %q", name, page, err, tt.lines)
		}
		if tt.lines == "" {
			if read, err := s.Read(results.Prefix + id + ".1"); err != nil || !strings.Contains(string(read), `"blob":"`+big+`"`) || !strings.Contains(string(out), `"size":9000`) {
				t.Errorf("%s: got %.200s, %v, and the preview %.900s, want the data and its size", name, read, err, out)
			}
		}
	}
}

// What is kept is bounded: the oldest make room, what is larger than all the room is refused, and nothing is left at
// the end.
func TestBounds(t *testing.T) {
	s := shelf(t)
	result := content(strings.Repeat("x", 9000))
	_, first := preview(t, s, result, results.Wish{Over: 2000})
	for range 64 {
		preview(t, s, result, results.Wish{Over: 2000})
	}
	if _, _, err := s.Page(t.Context(), first, results.Query{}); err == nil {
		t.Error("the oldest of 65 results is still there")
	}
	s.Close()
	if _, err := s.Preview(result, wire.Span{End: len(result)}, results.Wish{Over: 2000}); err == nil {
		t.Error("a closed shelf takes a result")
	}
	for name, dirs := range map[string][]string{"no folder": nil, "a file": {"/dev/null/x"}} {
		if _, err := results.New(dirs).Shelf().Preview(result, wire.Span{End: len(result)}, results.Wish{Over: 2000}); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

// What an expression needs is looked for before it, and nothing that it matches is passed over for that.
func TestGrepFindsAll(t *testing.T) {
	var text strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&text, "took=1.2ms #%d \ufffd end\n", i)
	}
	s := shelf(t)
	_, id := preview(t, s, content(text.String()), results.Wish{Over: 1000})
	for _, pattern := range []string{
		`took=.*#23456 `, `#23456 `, `(?i)TOOK=.*#23456 `, `took=(.*)(#)23456 `, `(#23456 )+`, `(#23456 ){1,3}`, `(zzz)?#23456 `, `(zzz)*#23456 `, `zzz|#23456 `, `#(23456 |zzz)`,
		`(?:zz){0}#23456 `, `#2345[6] `, `#23456 . end`, `(?-s)#23456 .*`, `(?s)#23456 .*?end`, `(?m)^took=1.2ms #23456 .*$`, `#23456 \x{fffd}`, `\Q#23456 \E`, `(?i:TOOK)=1.2ms #23456 `,
	} {
		if told, page, err := s.Page(t.Context(), id, results.Query{Grep: pattern}); err != nil || !strings.HasPrefix(string(page), "23457: took=1.2ms #23456 ") || !strings.Contains(told, "1 of 1") {
			t.Errorf("%s: got %q, %.100q, %v, want line 23457 alone", pattern, told, page, err)
		}
	}
}

// An expression matches within a line, of which ^ and $ are the ends, wherever the line stands and however long it is.
func TestGrepWithinLines(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "line %d foo\nbar %d end\r\n\n", i, i)
	}
	long := "[" + strings.Repeat(`{"a": "b"}, `, 20_000) + "7]"
	text.WriteString(long + "\nlast line")
	s := shelf(t)
	_, id := preview(t, s, content(text.String()), results.Wish{Over: 1000})
	const all = " on page 2"
	for _, tt := range []struct{ pattern, page, told string }{
		{`^line 7 `, "22: line 7 foo\n", "1 of 1"}, {`^bar 4000 end$`, "12002: bar 4000 end\r\n", "1 of 1"}, {`line 4999 foo$`, "14998: line 4999 foo\n", "1 of 1"},
		{`^last line$`, "15002: last line\n", "1 of 1"}, {`\Alast line\z`, "15002: last line\n", "1 of 1"}, {`(?m)^last`, "15002: last line\n", "1 of 1"},
		{`foo$`, "", all}, {`end$`, "", all}, {`^$`, "3: \n6: \n", all}, {`^`, "1: line 0 foo\n2: bar 0 end\r\n3: \n", all},
		{`foo\sbar`, "", "nothing matches"}, {"foo\nbar", "", "nothing matches"}, {`(?s)foo.bar`, "", "nothing matches"}, {`^foo`, "", "nothing matches"},
		{`^\[`, "15001: [{", "1 of 1"}, {`7\]$`, "15001: ", "1 of 1"}, {`^\{`, "", "nothing matches"}, {`"b"$`, "", "nothing matches"}, {`^(?:\{|", )`, "", "nothing matches"},
	} {
		told, page, err := s.Page(t.Context(), id, results.Query{Grep: tt.pattern})
		if err != nil || !strings.HasPrefix(string(page), tt.page) || !strings.HasSuffix(told, tt.told) {
			t.Errorf("%s: got %q, %.100q, %v, want %q and %q", tt.pattern, told, page, err, tt.told, tt.page)
		}
	}
}

// A value that is longer than a page is told page by page.
func TestLongValues(t *testing.T) {
	text := `{"a":["` + strings.Repeat("long ä ", 3000) + `",{"b":1}]}`
	s := shelf(t)
	_, id := preview(t, s, content(text), results.Wish{Over: 1000})
	var whole bytes.Buffer
	pages := 1
	for ; ; pages++ {
		told, page, err := s.Page(t.Context(), id, results.Query{Path: "$", Page: pages})
		if err != nil {
			t.Fatalf("page %d: %v", pages, err)
		}
		whole.Write(page)
		more := strings.Contains(told, "there are more")
		if want := fmt.Sprintf("page %d: values 1 to 1", pages); !strings.HasPrefix(told, want) {
			t.Errorf("got %q, want %q", told, want)
		}
		if !more {
			break
		}
	}
	if whole.String() != text+"\n" || pages < 3 {
		t.Errorf("got %d bytes on %d pages, want the whole value of %d on several", whole.Len(), pages, len(text))
	}
}

// A search that takes long ends with who waits for it, and what is kept meanwhile does not wait for it.
func TestSearchEnds(t *testing.T) {
	s := shelf(t)
	_, id := preview(t, s, content(strings.Repeat("a", 20<<20)), results.Wish{Over: 1000})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, _, err := s.Page(ctx, id, results.Query{Grep: "(?i)" + strings.Repeat("a?", 300) + "b"})
		ended <- err
	}()
	preview(t, s, content(strings.Repeat("b", 10000)), results.Wish{Over: 1000})
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
}
