package wiretest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"testing"
)

// Diff says where two JSON texts first differ as documents, as "$.content[0].text: got … want …", and is empty when
// they are the same. The order of members does not count; the text of a number does, so 1.0 is not 1 and no digit is
// lost.
func Diff(got, want []byte) string {
	g, err := decode(got)
	if err != nil {
		return fmt.Sprintf("got is no JSON: %v: %s", err, Clip(string(got)))
	}
	w, err := decode(want)
	if err != nil {
		return fmt.Sprintf("want is no JSON: %v: %s", err, Clip(string(want)))
	}
	return diff("$", g, w)
}

// Same fails the test when [Diff] finds a difference.
func Same(tb testing.TB, what string, got, want []byte) {
	tb.Helper()
	if d := Diff(got, want); d != "" {
		tb.Errorf("%s: %s", what, d)
	}
}

// SameBytes fails the test when two JSON texts are not the same bytes, and says where they part.
func SameBytes(tb testing.TB, what string, got, want []byte) {
	tb.Helper()
	if bytes.Equal(got, want) {
		return
	}
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	from := max(0, at-40)
	tb.Errorf("%s: differ at byte %d: got …%s want …%s", what, at, Clip(string(got[from:])), Clip(string(want[from:])))
}

func decode(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one value")
	}
	return v, nil
}

func diff(path string, got, want any) string {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			return diffObjects(path, g, w)
		}
	case []any:
		if g, ok := got.([]any); ok {
			return diffArrays(path, g, w)
		}
	default:
		// Scalars: json.Number compares as its text. A container in got is never equal and not comparable.
		switch got.(type) {
		case map[string]any, []any:
		default:
			if got == want {
				return ""
			}
		}
	}
	return fmt.Sprintf("%s: got %s want %s", path, Clip(JSON(got)), Clip(JSON(want)))
}

func diffObjects(path string, got, want map[string]any) string {
	keys := make([]string, 0, len(want))
	for key := range want {
		keys = append(keys, key)
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		g, inGot := got[key]
		w, inWant := want[key]
		at := path + "." + key
		switch {
		case !inGot:
			return fmt.Sprintf("%s: got nothing want %s", at, Clip(JSON(w)))
		case !inWant:
			return fmt.Sprintf("%s: got %s want nothing", at, Clip(JSON(g)))
		}
		if d := diff(at, g, w); d != "" {
			return d
		}
	}
	return ""
}

func diffArrays(path string, got, want []any) string {
	for i := range min(len(got), len(want)) {
		if d := diff(fmt.Sprintf("%s[%d]", path, i), got[i], want[i]); d != "" {
			return d
		}
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%s: got %d elements want %d", path, len(got), len(want))
	}
	return ""
}
