package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// readAll reads to the end. A line that is too long is noted as its size.
func readAll(r *wire.Reader) (lines []string, err error) {
	for {
		line, err := r.Next()
		var long *wire.TooLongError
		switch {
		case errors.As(err, &long):
			lines = append(lines, fmt.Sprintf("%d bytes", long.Size))
		case err != nil:
			return lines, err
		default:
			lines = append(lines, string(line))
		}
	}
}

func TestReader(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"lines", "a\nbc\nd\n", []string{"a", "bc", "d"}},
		{"last line without newline", "a\nbc", []string{"a", "bc"}},
		{"CRLF", "a\r\nb\r\n", []string{"a", "b"}},
		{"blank lines", "\n\r\n \t \na\n\n\n b\n  ", []string{"a", "b"}},
		{"white space around", " \ta b\t \r\n", []string{"a b"}},
		{"byte order mark", "\ufeffa\n\ufeffb\n", []string{"a", "\ufeffb"}},
		{"byte order mark before white space", "\ufeff \r\na", []string{"a"}},
		{"as long as allowed", "0123456789\na\n0123456789", []string{"0123456789", "a", "0123456789"}},
		{"too long", "a\n0123456789x\nb\n", []string{"a", "11 bytes", "b"}},
		{"byte order mark behind what is too long", "0123456789x\n\ufeffa", []string{"11 bytes", "\ufeffa"}},
		{"too long, last", "a\n0123456789xy", []string{"a", "12 bytes"}},
		{"too long twice", strings.Repeat("x", 100000) + "\n" + strings.Repeat("x", 200000) + "\nb", []string{"100000 bytes", "200000 bytes", "b"}},
	} {
		for _, chunk := range []struct {
			name string
			wrap func(io.Reader) io.Reader
		}{
			{"whole", func(r io.Reader) io.Reader { return r }},
			{"byte by byte", iotest.OneByteReader},
			{"by halves", iotest.HalfReader},
			{"end with data", iotest.DataErrReader},
		} {
			t.Run(tt.name+"/"+chunk.name, func(t *testing.T) {
				r := wire.NewReader(chunk.wrap(strings.NewReader(tt.in)), 10)
				got, err := readAll(r)
				if err != io.EOF || !slices.Equal(got, tt.want) {
					t.Errorf("got %q, %v, want %q, EOF", got, err, tt.want)
				}
				if _, err := r.Next(); err != io.EOF {
					t.Errorf("got %v after the end, want EOF", err)
				}
			})
		}
	}
}

func TestReaderErrors(t *testing.T) {
	t.Run("of the stream", func(t *testing.T) {
		boom := errors.New("boom")
		r := wire.NewReader(io.MultiReader(strings.NewReader("a\nhalf"), iotest.ErrReader(boom)), 0)
		if got, err := readAll(r); err != boom || !slices.Equal(got, []string{"a"}) {
			t.Errorf("got %q, %v, want the whole line and %v", got, err, boom)
		}
	})
	t.Run("no progress", func(t *testing.T) {
		r := wire.NewReader(readFunc(func([]byte) (int, error) { return 0, nil }), 0)
		if _, err := r.Next(); err != io.ErrNoProgress {
			t.Errorf("got %v, want %v", err, io.ErrNoProgress)
		}
	})
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// Messages of all sizes cross the borders of the buffer in every way.
func TestReaderManySizes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var in bytes.Buffer
	var want []string
	for range 300 {
		line := strings.Repeat(string(rune('a'+rng.IntN(26))), 1+rng.IntN(1<<(4+rng.IntN(15))))
		want = append(want, line)
		in.WriteString(line + "\n")
	}
	got, err := readAll(wire.NewReader(&in, 0))
	if err != io.EOF || !slices.Equal(got, want) {
		t.Errorf("got %d lines, %v, want the %d lines sent and EOF", len(got), err, len(want))
	}
}

// The limit holds to the byte wherever it lies between the sizes of the buffer.
func TestReaderLimitToTheByte(t *testing.T) {
	for _, limit := range []int{1, 65535, 65536, 65537, 131072, 262143, 1 << 20, 3<<20 + 5} {
		fits := strings.Repeat("x", limit)
		in := fits + "\n" + fits + "y\n" + fits + "\nz\n" + fits
		want := []string{fits, fmt.Sprintf("%d bytes", limit+1), fits, "z", fits}
		got, err := readAll(wire.NewReader(strings.NewReader(in), limit))
		if err != io.EOF || !slices.Equal(got, want) {
			t.Errorf("limit %d: got %d lines, %v, want lines that fit delivered, one refused, and EOF", limit, len(got), err)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("\ufeff{}\r\n\n [] \n0123456789012345\nx"), uint64(1))
	f.Add([]byte("0123456789\n0123456789\r\n"), uint64(2))
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		const limit = 10
		var want []string
		lines := strings.Split(strings.TrimPrefix(string(in), "\ufeff"), "\n")
		for i, line := range strings.Split(string(in), "\n") {
			if len(line) > limit {
				want = append(want, fmt.Sprintf("%d bytes", len(line)))
			} else if line = strings.Trim(lines[i], " \t\r"); line != "" {
				want = append(want, line)
			}
		}
		rng := rand.New(rand.NewPCG(seed, 0))
		rest := in
		r := wire.NewReader(readFunc(func(p []byte) (int, error) {
			if len(rest) == 0 {
				return 0, io.EOF
			}
			n := copy(p, rest[:rng.IntN(min(len(rest), 20)+1)])
			rest = rest[n:]
			return n, nil
		}), limit)
		if got, err := readAll(r); err != io.EOF || !slices.Equal(got, want) {
			t.Fatalf("%q: got %q, %v, want %q, EOF", in, got, err, want)
		}
	})
}

// A line of 100 MB is thrown away in memory for one of the longest allowed, and none of that is kept.
func TestReaderMemoryOfLongLine(t *testing.T) {
	const size = 100 << 20
	block := bytes.Repeat([]byte("x"), 32<<10)
	left := size
	r := wire.NewReader(readFunc(func(p []byte) (int, error) {
		if left == 0 {
			return copy(p, "\nshort\n"), io.EOF
		}
		n := copy(p, block[:min(left, len(block))])
		left -= n
		return n, nil
	}), 0)
	before := memory()
	_, err := r.Next()
	var long *wire.TooLongError
	if !errors.As(err, &long) || long.Size != size || long.Max != wire.DefaultMaxMessage {
		t.Fatalf("got %v, want a line of %d bytes refused", err, size)
	}
	after := memory()
	if got := after.TotalAlloc - before.TotalAlloc; got > 32<<20 {
		t.Errorf("got %d bytes allocated, want at most 32 MiB", got)
	}
	if got := int64(after.HeapAlloc) - int64(before.HeapAlloc); got > 1<<20 {
		t.Errorf("got %d bytes kept, want at most 1 MiB", got)
	}
	if line, err := r.Next(); string(line) != "short" || err != nil {
		t.Errorf("got %q, %v, want the next line", line, err)
	}
}

// memory returns the figures of the heap after a collection.
func memory() runtime.MemStats {
	runtime.GC()
	runtime.GC() // what the first one found weakly held or with a cleanup
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m
}

// Waiting for a message, a Reader holds no large buffer on account of the last.
func TestReaderMemoryWhenIdle(t *testing.T) {
	before := memory()
	var idle runtime.MemStats
	line := append(bytes.Repeat([]byte("x"), 8<<20), '\n')
	in := line
	r := wire.NewReader(readFunc(func(p []byte) (int, error) {
		if len(in) == 0 {
			line = nil
			idle = memory()
			return 0, io.EOF
		}
		n := copy(p, in)
		in = in[n:]
		return n, nil
	}), 0)
	if got, err := r.Next(); err != nil || len(got) != 8<<20 {
		t.Fatalf("got %d bytes, %v, want 8 MiB", len(got), err)
	}
	in = nil
	if _, err := r.Next(); err != io.EOF {
		t.Fatalf("got %v, want EOF", err)
	}
	if got := int64(idle.HeapAlloc) - int64(before.HeapAlloc); got > 1<<20 {
		t.Errorf("got %d bytes held while waiting, want at most 1 MiB", got)
	}
}

func TestReaderAllocatesNothing(t *testing.T) {
	for _, size := range []int{200, 20 << 10} {
		r := wire.NewReader(&endless{line: append(call(size), '\n')}, 0)
		if got := testing.AllocsPerRun(1000, func() {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}); got != 0 {
			t.Errorf("%d bytes: got %v allocations, want none", size, got)
		}
	}
}

func TestTooLongError(t *testing.T) {
	long := strings.Repeat("x", 20000)
	for _, tt := range []struct {
		name, line string
		id, method string
		kind       wire.Kind
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"` + long + `"}}`, "1", "a", wire.Request},
		{"request, params first", `{"params":{"x":"` + long + `"},"method":"a","id":"q\"7","jsonrpc":"2.0"}`, `"q\"7"`, "a", wire.Request},
		{"request from both ends", `{"method":"tools/call","params":{"x":"` + long + `"},"jsonrpc":"2.0","id":12}`, "12", "tools/call", wire.Request},
		{"white space", ` { "method" : "a" , "params" : { "x":"` + long + `" } , "jsonrpc" : "2.0" , "id" : 12 } ` + "\r", "12", "a", wire.Request},
		{"result", `{"jsonrpc":"2.0","id":1,"result":{"x":"` + long + `"}}`, "1", "", wire.Result},
		{"result first", `{"result":{"x":"` + long + `"},"jsonrpc":"2.0","id":1}`, "1", "", wire.Result},
		{"failure", `{"jsonrpc":"2.0","id":1,"error":{"data":"` + long + `"}}`, "1", "", wire.Failure},
		{"notification", `{"jsonrpc":"2.0","method":"a","params":{"x":"` + long + `"}}`, "", "a", wire.Invalid},
		{"id in the dark", `{"a":{"x":"` + long + `"},"id":1,"b":["` + long + `"]}`, "", "", wire.Invalid},
		{"ids differ", `{"id":1,"a":"` + long + `","id":2}`, "", "", wire.Invalid},
		{"ids equal", `{"id":1,"a":"` + long + `","id":1}`, "1", "", wire.Invalid},
		{"ids differ at once", `{"id":1,"id":2,"a":"` + long + `"}`, "", "", wire.Invalid},
		{"id null", `{"jsonrpc":"2.0","id":null,"error":{"data":"` + long + `"}}`, "", "", wire.Failure},
		{"id object", `{"id":{},"a":"` + long + `"}`, "", "", wire.Invalid},
		{"id is the long one", `{"id":"` + long + `","method":"a"}`, "", "a", wire.Invalid},
		{"id further in", `{"result":{"id":5,"x":"` + long + `","id":6}}`, "", "", wire.Result},
		{"id in text", `{"result":{"x":"` + long + `\",\"id\":5}"}}`, "", "", wire.Result},
		{"id in text at the end", `{"jsonrpc":"2.0","id":3,"x":"` + long + `\",\"id\":5}`, "3", "", wire.Invalid},
		{"id in a name", `{"x":"` + long + `","a\",\"id":5}`, "", "", wire.Invalid},
		{"backslashes before a quote", `{"x":"` + long + `\\","id":5}`, "5", "", wire.Invalid},
		{"no JSON", long, "", "", wire.Invalid},
		{"array", `[{"id":1},"` + long + `"]`, "", "", wire.Invalid},
		{"short beyond a low limit", `{"jsonrpc":"2.0","id":1,"method":"a"}`, "1", "a", wire.Request},
		{"ends before the value", `{"x":"` + long + `","id":`, "", "", wire.Invalid},
		{"name cut at the head", `{"` + long + `":1,"id":4}`, "4", "", wire.Invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := wire.NewReader(strings.NewReader(tt.line+"\n"), 20).Next()
			var e *wire.TooLongError
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want a *TooLongError", err)
			}
			if id, method, kind := string(e.ID()), e.Method(), e.Kind(); id != tt.id || method != tt.method || kind != tt.kind {
				t.Errorf("got id %s method %q %v, want id %s method %q %v", id, method, kind, tt.id, tt.method, tt.kind)
			}
			if !strings.HasPrefix(tt.line, string(e.Head)) || !strings.HasSuffix(tt.line, string(e.Tail)) || max(len(e.Head), len(e.Tail)) > 4096 {
				t.Errorf("got head of %d bytes, tail of %d bytes that are not the ends of the line", len(e.Head), len(e.Tail))
			}
		})
	}
}

// Whatever the ends hold, looking into them ends well.
func FuzzTooLongError(f *testing.F) {
	f.Add([]byte(`{"method":"a","id":1}`), []byte(`"x":"\\","id":"\"",  "jsonrpc":"2.0"}`))
	f.Add([]byte(`{"`), []byte(`"}`))
	f.Add([]byte(`{`), []byte(`{"":1}`))
	f.Fuzz(func(t *testing.T, head, tail []byte) {
		e := wire.TooLongError{Head: head, Tail: tail}
		if id := e.ID(); id != nil && !bytes.Contains(head, id) && !bytes.Contains(tail, id) {
			t.Fatalf("got id %q, which is in neither %q nor %q", id, head, tail)
		}
		if e.Kind() == wire.Request && e.Method() == "" {
			t.Fatalf("got a request without a method from %q and %q", head, tail)
		}
	})
}

func TestEnds(t *testing.T) {
	for _, tt := range []struct {
		name, line, id string
		kind           wire.Kind
	}{
		{"a reply that is no UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"x\":\"\xff\"}}", "7", wire.Result},
		{"the id behind the fault", "{\"result\":{\"x\":\"\xff\"},\"id\":7}", "7", wire.Result},
		{"a request", "{\"id\":7,\"method\":\"m\",\"params\":{\"x\":\"\xff\"}}", "7", wire.Request},
		{"no object", "DEBUG: {\"id\":7,\"result\":1}", "7", wire.Result},
		{"empty", "", "", wire.Invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := wire.Ends([]byte(tt.line))
			if got := string(e.ID()); got != tt.id || e.Kind() != tt.kind {
				t.Errorf("got id %q and kind %v, want %q and %v", got, e.Kind(), tt.id, tt.kind)
			}
		})
	}
}
