// Package foreign holds text that others wrote: servers, clients, people who wrote a configuration file, HTTP servers
// of others. Such a text may be endless, steer the terminal that shows it, hide what it says, or give orders to the
// model that reads it.
//
// Each source of such text gives it as one of the types of this package, and never as a string, so that what is logged,
// printed or put into an answer of workbench's own is clean and bounded whoever writes the line that does it:
//
//	Text   what somebody says: an error, a line of standard error, a description; at most 2 KB
//	Lines  the same, of several lines
//	Name   what somebody calls a thing: shown with at most 128 bytes, and kept as it is for telling things apart
//	Words  the last lines that a program wrote: at most four are shown
//	Error  an error whose wording somebody else has a part in
//
// Printed with %q they stand in quotation marks, which their own words cannot close: that is how they are marked as
// somebody else's where a model reads them. [Block] and [JSON] are for what a person asked to see as it is.
package foreign

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of what is shown, in bytes and lines.
const (
	MaxText  = 2 << 10
	MaxName  = 128
	MaxWords = 4
)

// Text is one line of at most [MaxText] bytes. The zero Text is empty.
type Text struct{ clean string }

// NewText makes a Text of what somebody wrote.
func NewText(raw string) Text { return Text{clean(raw, MaxText, false)} }

// String gives the text, cleaned.
func (t Text) String() string { return t.clean }

// IsEmpty reports whether nothing is left of the text.
func (t Text) IsEmpty() bool { return t.clean == "" }

// Format prints the text, or with %q its quotation.
func (t Text) Format(f fmt.State, verb rune) { format(f, verb, t.clean) }

// MarshalText gives the text, cleaned.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.clean), nil }

// UnmarshalText takes what somebody wrote.
func (t *Text) UnmarshalText(raw []byte) error {
	*t = NewText(string(raw))
	return nil
}

// Lines are a Text that keeps its lines.
type Lines struct{ Text }

// NewLines makes Lines of what somebody wrote.
func NewLines(raw string) Lines { return Lines{Text{clean(raw, MaxText, true)}} }

// UnmarshalText takes what somebody wrote.
func (l *Lines) UnmarshalText(raw []byte) error {
	*l = NewLines(string(raw))
	return nil
}

// Name is what somebody calls a thing. Names are equal when they are so to the letter. The zero Name is empty.
type Name struct{ raw string }

// NewName makes a Name of what somebody wrote.
func NewName(raw string) Name { return Name{raw} }

// Verbatim gives the name as it was written, to find what has it, to send it on and to derive names from. It is not to
// be shown.
func (n Name) Verbatim() string { return n.raw }

// String gives the name, cleaned and cut.
func (n Name) String() string { return clean(n.raw, MaxName, false) }

// IsEmpty reports whether there is no name.
func (n Name) IsEmpty() bool { return n.raw == "" }

// Format prints the name as String gives it, or with %q its quotation.
func (n Name) Format(f fmt.State, verb rune) { format(f, verb, n.String()) }

// MarshalText gives the name, cleaned and cut.
func (n Name) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText takes what somebody wrote.
func (n *Name) UnmarshalText(raw []byte) error {
	*n = Name{string(raw)}
	return nil
}

// maxError is how many lines one error may take.
const maxError = 2 * MaxWords

// separator stands between the lines of Words.
const separator = " | "

// Words are the last lines that a program wrote, the oldest first.
type Words []Text

// String gives the last [MaxWords] lines in one, each with its share of [MaxText]. Where none of them names an error
// and one before them does, as when a stack ends the output, or where the error takes more lines, the lines from where
// it begins are given. What npm adds to any failure is left out.
func (w Words) String() string {
	said := slices.DeleteFunc(slices.Clone(w), isAside)
	from := max(0, len(said)-MaxWords)
	if last := said.cause(); last >= 0 {
		from = min(from, said.Begin(last))
	}
	var lines []string
	for _, line := range said[from:min(len(said), from+MaxWords)] {
		lines = append(lines, cut(line.clean, MaxText/MaxWords-len(separator)))
	}
	return strings.Join(lines, separator)
}

// NameError reports whether one of the lines says what went wrong.
func (w Words) NameError() bool { return w.cause() >= 0 }

// Begin returns the number of the line with which an error begins that line number last names. The lines right before
// it belong to it if they name an error too, or if Go's runtime wrote them: it says why before its "fatal error".
func (w Words) Begin(last int) int {
	first := last
	for first > 0 && (namesError(w[first-1].clean, "") || strings.HasPrefix(w[first-1].clean, "runtime: ")) {
		first--
	}
	if last-first >= maxError { // many errors, of which the last counts
		return last
	}
	return first
}

// cause is the number of the last line that says what went wrong, or -1 for none.
func (w Words) cause() int {
	last, cause := -1, Cause{}
	for i, line := range w {
		last = cause.Next(line, i, last)
	}
	return last
}

// Cause finds the line that says what went wrong among lines that come one after the other. The zero Cause has seen none.
type Cause struct {
	help bool // the program has begun to explain how it is called
}

// Next takes line number at, and returns the number of the last line that says what went wrong. So far that was number
// named, or -1 for none. A program that explains how it is called has said before why, often without the word error; the
// explanation itself has that word in what it says of options.
func (c *Cause) Next(line Text, at, named int) int {
	said, after := strings.ToLower(strings.TrimSpace(line.clean)), ""
	if c.help {
		after = ":"
	}
	switch {
	case strings.HasPrefix(said, "usage:") || strings.HasPrefix(said, "usage of "):
		c.help = true
		if named < 0 || at-named > MaxWords {
			return at - 1
		}
	case namesError(line.clean, after):
		return at
	}
	return named
}

// namesError reports whether a line has a word that the usual programming languages name an error by, with what stands
// after it.
func namesError(line, after string) bool {
	said := strings.ToLower(line)
	return slices.ContainsFunc([]string{"error", "exception", "panic:", "panicked", "fatal"}, func(word string) bool {
		return strings.Contains(said, strings.TrimSuffix(word, after)+after)
	})
}

// isAside reports whether a line is one of npm that says nothing of what went wrong.
func isAside(line Text) bool {
	return strings.HasPrefix(line.clean, "npm notice") || line.clean == "npm error" ||
		strings.HasPrefix(line.clean, "npm error A complete log of this run")
}

// Format prints the lines as String gives them, or with %q their quotation.
func (w Words) Format(f fmt.State, verb rune) { format(f, verb, w.String()) }

// Error is an error whose wording somebody else has a part in, such as one that quotes what could not be read. Its text
// is clean and bounded, and names no types of this program: package json does of values that are of a wrong one.
type Error struct {
	err  error
	read reflect.Type // what package json was to fill, if that is known
}

// NewError makes an Error of one that is not nil.
func NewError(err error) *Error { return &Error{err: err} }

// Misread makes an Error of one of package json that was to fill what read points to, of which other types may be parts:
// package json names those among the members of an object, where they are not.
func Misread(err error, read any) *Error { return &Error{err, reflect.TypeOf(read)} }

func (e *Error) Error() string {
	text := e.err.Error()
	wrong := new(json.UnmarshalTypeError)
	if errors.As(e.err, &wrong) && wrong.Type != nil {
		text = strings.Replace(text, wrong.Error(), mistyped(wrong, e.read), 1)
	}
	return NewText(text).clean
}

// mistyped says which value is of a wrong type, and of which.
func mistyped(wrong *json.UnmarshalTypeError, read reflect.Type) string {
	want, of := "an object", wrong.Type
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch of.Kind() {
	case reflect.String:
		want = "a string"
	case reflect.Slice, reflect.Array:
		want = "an array"
	case reflect.Bool:
		want = "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		want = "a whole number"
	case reflect.Float32, reflect.Float64:
		want = "a number"
	}
	at := ""
	if wrong.Field != "" {
		at = members(wrong.Field, read) + ": "
	}
	return fmt.Sprintf("%swant %s, got JSON of the type %s", at, want, wrong.Value)
}

// members are those on the way to a value, by the path that package json gives, without the embedded types on the way.
func members(path string, of reflect.Type) string {
	var names []string
	for name := range strings.SplitSeq(path, ".") {
		for of != nil && slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map}, of.Kind()) {
			of = of.Elem()
		}
		field := fieldOf(of, name)
		if !field.Anonymous || field.Tag.Get("json") != "" {
			names = append(names, name)
		}
		of = field.Type
	}
	return strings.Join(names, ".")
}

// fieldOf is the field of a struct by its name in JSON, or by that of the type that is embedded there; zero if there is
// none.
func fieldOf(of reflect.Type, name string) reflect.StructField {
	for i := 0; of != nil && of.Kind() == reflect.Struct && i < of.NumField(); i++ {
		field := of.Field(i)
		if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); cmp.Or(tag, field.Name) == name {
			return field
		}
	}
	return reflect.StructField{}
}

// Unwrap gives the error that it was made of, for asking which it is.
func (e *Error) Unwrap() error { return e.err }

// format prints clean text.
func format(f fmt.State, verb rune, text string) {
	if verb == 'q' {
		text = `"` + strings.ReplaceAll(text, `"`, `'`) + `"`
	}
	fmt.Fprintf(f, fmt.FormatString(f, 's'), text)
}

// Block is a text of any length that a terminal shows and does not obey. It keeps its lines.
func Block(raw string) string { return clean(raw, math.MaxInt-1, true) }

// CleanAll makes [Lines] of all strings that can be reached from a pointer to what was read from elsewhere.
func CleanAll(read any) { cleanAll(reflect.ValueOf(read)) }

func cleanAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			cleanAll(v.Elem())
		}
	case reflect.String:
		v.SetString(NewLines(v.String()).String())
	case reflect.Slice:
		for i := range v.Len() {
			cleanAll(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				cleanAll(v.Field(i))
			}
		}
	}
}

// JSON gives JSON text with all characters that a terminal would obey or not show in the form \uXXXX: the value stays
// what it is.
func JSON(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		switch {
		case r < utf8.RuneSelf && r != 0x7f || !Hidden(r):
			out = append(out, raw[:n]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		raw = raw[n:]
	}
	return out
}

// Quoted gives each name as a name in quotes.
func Quoted(names []string) []string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = fmt.Sprintf("%q", NewName(n))
	}
	return q
}
