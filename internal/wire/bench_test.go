package wire_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// call returns a tools/call request of about size bytes.
func call(size int) []byte {
	const frame = `{"jsonrpc":"2.0","id":12345,"method":"tools/call","params":{"name":"dev__git__git_status","arguments":{"repo_path":"%s","max":10,"all":true},"_meta":{"progressToken":"t-1"}}}`
	return fmt.Appendf(nil, frame, strings.Repeat("x", max(0, size-len(frame)+2)))
}

// result returns a tools/call result whose text is of about size bytes.
func result(size int, text string) []byte {
	quoted := wire.AppendQuote(nil, strings.Repeat(text, size/len(text)))
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":12345,"result":{"content":[{"type":"text","text":%s}],"isError":false}}`, quoted)
}

// tools returns a tools/list result of n tools.
func tools(n int) []byte {
	b := []byte(`{"jsonrpc":"2.0","id":7,"result":{"tools":[`)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"name":"tool_%d","description":"Does the thing number %d, and does it well.","inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"where"},"depth":{"type":"integer","minimum":0,"maximum":%d}},"required":["path"]}}`, i, i, i)
	}
	return append(b, "]}}"...)
}

// source is some Go.
func source(tb testing.TB) string {
	text, err := os.ReadFile("scan.go")
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// mixed returns n words of a text in no order, so that a processor cannot learn it.
func mixed(text string, n int) string {
	words, r := strings.Fields(text), rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for range n {
		b.WriteString(words[r.IntN(len(words))] + " ")
	}
	return b.String()
}

// described returns a tools/list result whose n tools are not alike.
func described(n int) []byte {
	words, r := strings.Fields(mixed(prose, 1000)), rand.New(rand.NewPCG(3, 4))
	some := func(n int) string { at := r.IntN(len(words) - n); return strings.Join(words[at:at+n], " ") }
	b := []byte(`{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"first"}`)
	for i := range n {
		b = fmt.Appendf(b, `,{"name":"tool_%d","description":"%s","inputSchema":{"type":"object","properties":{`, i, some(3+r.IntN(25)))
		for k := range 1 + r.IntN(6) {
			b = fmt.Appendf(b, `"p%d":{"type":"string","description":"%s","minLength":%d,"x":%v},`, k, some(1+r.IntN(10)), r.IntN(1000), r.IntN(2) == 0)
		}
		b = append(b, `"last":{}},"required":["last"]}}`...)
	}
	return append(b, "]}}"...)
}

// numbers returns a result of n numbers in arrays of some.
func numbers(n int) []byte {
	r := rand.New(rand.NewPCG(5, 6))
	b := []byte(`{"jsonrpc":"2.0","id":7,"result":{"structuredContent":[[0`)
	for range n {
		if r.IntN(8) == 0 {
			b = append(b, "],[0"...)
		}
		switch r.IntN(3) {
		case 0:
			b = fmt.Appendf(b, ",%d", r.IntN(100_000)-50_000)
		case 1:
			b = fmt.Appendf(b, ",%v", r.Float64())
		case 2:
			b = fmt.Appendf(b, ",%.2f", 1000*r.Float64())
		}
	}
	return append(b, "]]}}"...)
}

const (
	prose   = "The quick brown fox jumps over the lazy dog, again and again. "
	lines   = "func main() {\n\tfmt.Println(\"hello\")\n}\n\n"
	foreign = "Größe, çok güzel, 日本語のテキスト, и ещё немного. "
)

func BenchmarkScan(b *testing.B) {
	for _, bb := range []struct {
		name string
		raw  []byte
	}{
		{"call200B", call(200)},
		{"text100KB", result(100<<10, prose)},
		{"code100KB", result(100<<10, source(b))},
		{"foreign100KB", result(100<<10, mixed(foreign+" ελληνικά, 한국어 문장, हिन्दी में पाठ, 中文字符测试数据", 2000))},
		{"tools1000", tools(1000)},
		{"described100KB", described(250)},
		{"numbers100KB", numbers(10_000)},
		{"base64100KB", result(100<<10, base64.StdEncoding.EncodeToString([]byte(mixed(foreign, 100))))},
	} {
		b.Run(bb.name, func(b *testing.B) {
			var m wire.Message
			b.SetBytes(int64(len(bb.raw)))
			b.ReportAllocs()
			for b.Loop() {
				if err := wire.Scan(bb.raw, &m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFind(b *testing.B) {
	for _, bb := range []struct {
		name string
		raw  []byte
	}{
		{"call200B", call(200)},
		{"call100KB", call(100 << 10)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			var m wire.Message
			if err := wire.Scan(bb.raw, &m); err != nil {
				b.Fatal(err)
			}
			keys := []string{"name", "_meta"}
			var out [2]wire.Span
			b.SetBytes(int64(len(bb.raw)))
			b.ReportAllocs()
			for b.Loop() {
				if err := wire.Find(bb.raw, m.Params, keys, out[:]); err != nil || !out[1].Present() {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFindPath(b *testing.B) {
	raw := call(200)
	var m wire.Message
	if err := wire.Scan(raw, &m); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if s, err := wire.FindPath(raw, m.Params, "_meta", "progressToken"); err != nil || !s.Present() {
			b.Fatal(err)
		}
	}
}

func BenchmarkSplice(b *testing.B) {
	raw := call(200)
	var m wire.Message
	if err := wire.Scan(raw, &m); err != nil {
		b.Fatal(err)
	}
	name, err := wire.FindPath(raw, m.Params, "name")
	if err != nil {
		b.Fatal(err)
	}
	id, tool := []byte(`"w-77"`), []byte(`"git_status"`)
	var dst []byte
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		dst = wire.Splice(dst[:0], raw, wire.Edit{Span: m.ID, New: id}, wire.Edit{Span: name, New: tool})
	}
}

func BenchmarkElements(b *testing.B) {
	raw := tools(1000)
	var m wire.Message
	if err := wire.Scan(raw, &m); err != nil {
		b.Fatal(err)
	}
	list, err := wire.FindPath(raw, m.Result, "tools")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for range wire.Elements(raw, list) {
			n++
		}
		if n != 1000 {
			b.Fatalf("got %d elements, want 1000", n)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	for _, size := range []int{200, 100 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			line := append(call(size), '\n')
			r := wire.NewReader(&endless{line: line}, 0)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// endless reads as line, again and again.
type endless struct {
	line []byte
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.line[e.at:])
	e.at = (e.at + n) % len(e.line)
	return n, nil
}

func BenchmarkAppendQuote(b *testing.B) {
	s := strings.Repeat(prose, 4)
	var dst []byte
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		dst = wire.AppendQuote(dst[:0], s)
	}
}

func BenchmarkCompact(b *testing.B) {
	raw := bytes.ReplaceAll(tools(100), []byte(`,"`), []byte(",\n  \""))
	var dst []byte
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		dst = wire.Compact(dst[:0], raw)
	}
}
