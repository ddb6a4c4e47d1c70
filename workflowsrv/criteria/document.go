package criteria

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// What the JSON of an output may hold, and the JSON of a schema may nest.
const (
	maxJSONDepth  = 200
	maxJSONValues = 50_000
)

// errDeep says that a value nests too deep to be judged.
var errDeep = fmt.Errorf("it nests deeper than %d", maxJSONDepth)

// decoded is an output read as JSON.
type decoded struct {
	value any
	fault string // why it is not JSON, with the place; "" if it is
	err   error  // why it is too much to be judged, whether it is JSON or not; nil if it is not
}

// decode reads text as one JSON value. White space, a byte order mark and a code fence around the whole are not part of
// it.
func decode(text string) decoded {
	body, offset := unfence(text)
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil && strings.Contains(err.Error(), "exceeded max depth") { // of encoding/json
		return decoded{err: errDeep}
	} else if err != nil {
		return decoded{fault: syntaxFault(text, body, offset, err)}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return decoded{fault: "more text follows the JSON value at " + place(text, min(len(text), offset+int(d.InputOffset())))}
	}
	if err := checkSize(v, maxJSONValues); err != nil {
		return decoded{err: err}
	}
	return decoded{value: v}
}

// unfence gives the part of text that is to be JSON, and where it starts.
func unfence(text string) (body string, offset int) {
	start := len(text) - len(strings.TrimLeft(text, "\ufeff \t\r\n"))
	body = strings.TrimRight(text[start:], " \t\r\n")
	fence, _, _ := strings.Cut(body, "\n")
	ticks := len(fence) - len(strings.TrimLeft(fence, "`"))
	if ticks < 3 || strings.Contains(fence[ticks:], "`") || !strings.HasSuffix(body, "\n"+body[:ticks]) {
		return body, start
	}
	return body[len(fence)+1 : max(len(fence)+1, len(body)-ticks)], start + len(fence) + 1
}

func syntaxFault(text, body string, offset int, err error) string {
	var syntax *json.SyntaxError
	switch {
	case strings.TrimSpace(body) == "":
		return "it is empty"
	case errors.As(err, &syntax) && syntax.Offset > 0:
		return fmt.Sprintf("%s at %s", syntax, place(text, min(len(text), offset+int(syntax.Offset)-1)))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends before the JSON value does"
	}
	return err.Error()
}

// embedded finds where JSON starts in text that is not JSON as a whole: a fence, or a line that opens a value.
func embedded(text string) (at int, found bool) {
	for _, mark := range []string{"```json\n", "```\n{", "```\n[", "\n{", "\n["} {
		if at := strings.Index(text, mark); at >= 0 {
			return at + strings.IndexByte(mark, '\n') + 1, true
		}
	}
	return 0, false
}

// checkSize reports a value that nests too deep, holds more than limit values, or holds a number that is too much
// for a computation with exact fractions, which is what the JSON Schema library does.
func checkSize(v any, limit int) error {
	count := 0
	var walk func(v any, path string, depth int) error
	walk = func(v any, path string, depth int) error {
		if count++; count > limit {
			return fmt.Errorf("it holds more than %d values", limit)
		}
		if depth > maxJSONDepth {
			return errDeep
		}
		switch v := v.(type) {
		case json.Number:
			if !computable(string(v)) {
				return fmt.Errorf("the number at %s is too large or too long", spot(path))
			}
		case []any:
			for i, item := range v {
				if err := walk(item, pointer(path, strconv.Itoa(i)), depth+1); err != nil {
					return err
				}
			}
		case map[string]any:
			for _, k := range sortedKeys(v) {
				if err := walk(v[k], pointer(path, k), depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return walk(v, "", 0)
}

// computable reports whether a number is within what a float64 can hold and not absurdly long.
func computable(s string) bool {
	if len(s) > 1000 {
		return false
	}
	_, exponent, ok := strings.Cut(strings.ToLower(s), "e")
	if !ok {
		return true
	}
	n, err := strconv.Atoi(exponent)
	return err == nil && n > -400 && n < 400
}

// spot names a JSON pointer for a reader.
func spot(path string) string {
	if path == "" {
		return "the top level"
	}
	return path
}
