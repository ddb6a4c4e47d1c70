package child

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/foreign"
)

func TestTailLines(t *testing.T) {
	tests := []struct {
		name    string
		written []string
		want    []string
	}{
		{"lines", []string{"one\ntwo\n"}, []string{"one", "two"}},
		{"in pieces", []string{"on", "e\nt", "wo"}, []string{"one", "two"}},
		{"CR LF", []string{"one\r", "\ntwo\r\r\n"}, []string{"one", "two"}},
		{"progress bar", []string{"10%\r50", "%\r100%", "\ndone"}, []string{"100%", "done"}},
		{"empty lines", []string{"\n\n \none\n"}, []string{"one"}},
		{"indentation", []string{"Error: x\n\tat y\n"}, []string{"Error: x", " at y"}},
		{"colours", []string{"\x1b[1;31merror:\x1b[0m \x1b[38;2;1;2;3mno\x1b[K\n"}, []string{"error: no"}},
		{"title and clipboard", []string{"\x1b]0;title\aa\x1b]52;c;ZXZpbA==\x1b\\b\u009d8;;x\u009cc\n"}, []string{"abc"}},
		{"device control", []string{"a\x1bP1$r\x1b\\b\x1b_x\x1b\\c\x1b^y\ad\n"}, []string{"abcd"}},
		{"short escapes", []string{"a\x1b7b\x1b(Bc\x1b=d\x1bMe\n"}, []string{"abcde"}},
		{"unfinished escapes", []string{"a\x1b[12\nb\x1b]0;x\nc\x1b\nd\u009b1\n"}, []string{"a", "b", "c", "d"}},
		{"C1 CSI", []string{"a\u009b31mb\u0085c\n"}, []string{"abc"}},
		{"controls", []string{"a\x00\a\b\v\f\x7fb\tc\n"}, []string{"ab c"}},
		{"bidirectional and hidden", []string{"a\u202eb\u200bc\U000e0041d\ufe0fe\u2028f\n"}, []string{"abcdef"}},
		{"invalid UTF-8", []string{"a\xffb\xc3\n\x9bc"}, []string{"a�b�", "�c"}},
		{"other scripts", []string{"Größe 大きさ 👍\n"}, []string{"Größe 大きさ 👍"}},
		{"long", []string{strings.Repeat("é", 3000), "tail\nnext"}, []string{strings.Repeat("é", 1022) + "…", "next"}},
		{"long ASCII", []string{strings.Repeat("x", 100_000), "\nnext"}, []string{strings.Repeat("x", 2045) + "…", "next"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tail := newTail(nil, nil)
			for _, s := range test.written {
				tail.write([]byte(s))
			}
			if got := texts(tail.last()); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// However long the stack is that a program ends with, what it died of is told.
func TestTailKeepsTheError(t *testing.T) {
	tail := newTail(nil, nil)
	write := func(lines ...string) { tail.write([]byte(strings.Join(lines, "\n") + "\n")) }
	write("error: an old one", "it goes on", "panic: no licence", "", "goroutine 1 [running]:")
	for range 100 {
		write("main.f()", "\t/src/f.go:2")
	}
	tail.write([]byte("exit status 2"))
	if got, want := tail.last().String(), "panic: no licence | goroutine 1 [running]: | main.f() |  /src/f.go:2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	write("", "runtime: program exceeds 10000-thread limit", "fatal error: thread exhaustion", "runtime stack:")
	for range 100 {
		write("runtime.throw()", "\t/src/runtime/panic.go:2")
	}
	tail.write([]byte("exit status 2"))
	if got, want := tail.last().String(), "runtime: program exceeds 10000-thread limit | fatal error: thread exhaustion | runtime stack: | runtime.throw()"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := texts(tail.last()); len(got) != tailLines || got[tailLines-1] != "exit status 2" {
		t.Errorf("got %q, want the last line, too", got)
	}
	for range 100 {
		write("it goes on")
	}
	write("error: another")
	for range tailLines - 1 {
		write("it goes on")
	}
	if got := texts(tail.last()); len(got) != tailLines || got[0] != "error: another" {
		t.Errorf("got %q, want the last error", got)
	}
}

// However long the help is that a program ends with, what it did not understand is told.
func TestTailKeepsWhatIsBeforeAHelp(t *testing.T) {
	tail := newTail(nil, nil)
	tail.write([]byte("flag provided but not defined: -x\nUsage of s:\n"))
	for range 100 {
		tail.write([]byte("  -level string\n    debug, info or error\n"))
	}
	if got, want := tail.last().String(), "flag provided but not defined: -x | Usage of s: |   -level string |     debug, info or error"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTailKeepsTheLast(t *testing.T) {
	tail := newTail(nil, nil)
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		tail.write([]byte(string(c) + "\n"))
	}
	tail.write([]byte("unfinished"))
	got := strings.Join(texts(tail.last()), " ")
	if want := "h i j k l m n o p q r s t u v w x y z unfinished"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func texts(w foreign.Words) (lines []string) {
	for _, line := range w {
		lines = append(lines, line.String())
	}
	return lines
}
