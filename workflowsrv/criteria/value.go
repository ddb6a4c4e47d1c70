package criteria

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A number is a JSON number: exact where it is an integer of 64 bits, a float64 otherwise.
type number struct {
	i       int64
	f       float64
	integer bool
}

// toNumber reads a number as encoding/json, a YAML decoder or Go code gives it. Strings are not numbers.
func toNumber(v any) (number, bool) {
	switch v := v.(type) {
	case json.Number:
		return parseNumber(string(v))
	case float64:
		return number{f: v}, true
	case int:
		return number{i: int64(v), f: float64(v), integer: true}, true
	case int64:
		return number{i: v, f: float64(v), integer: true}, true
	case uint64:
		return number{i: int64(v), f: float64(v), integer: v <= math.MaxInt64}, true
	}
	return number{}, false
}

func parseNumber(s string) (number, bool) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return number{i: i, f: float64(i), integer: true}, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) || math.IsNaN(f) {
		return number{}, false
	}
	return number{f: f}, true
}

func (a *number) String() string {
	if a.integer {
		return strconv.FormatInt(a.i, 10)
	}
	return strconv.FormatFloat(a.f, 'g', -1, 64)
}

// compare gives -1, 0 or 1. NaN, which JSON does not have but Go code may pass, is neither: ok is false.
func (a number) compare(b number) (result int, ok bool) {
	switch {
	case a.integer && b.integer && a.i < b.i, a.f < b.f:
		return -1, true
	case a.integer && b.integer && a.i > b.i, a.f > b.f:
		return 1, true
	}
	return 0, a.f == b.f
}

// truth is the truth of a value in JavaScript: null, false, 0, NaN and "" are false.
func truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	}
	if n, ok := toNumber(v); ok {
		return n.f != 0 && !math.IsNaN(n.f)
	}
	return true
}

// equal compares two values; arrays and objects by their content. Strict compares without conversion, Lenient as
// documented there.
func equal(a, b any, mode Mode) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case []any:
		list, ok := b.([]any)
		return ok && slices.EqualFunc(a, list, func(x, y any) bool { return equal(x, y, mode) })
	case map[string]any:
		object, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, object, func(x, y any) bool { return equal(x, y, mode) })
	}
	if mode == Lenient {
		return equalLenient(a, b)
	}
	return equalScalar(a, b)
}

func equalScalar(a, b any) bool {
	switch a.(type) {
	case bool, string:
		return a == b
	}
	x, okX := toNumber(a)
	y, okY := toNumber(b)
	if !okX || !okY {
		return false
	}
	order, ok := x.compare(y)
	return ok && order == 0
}

func equalLenient(a, b any) bool {
	s, aString := a.(string)
	t, bString := b.(string)
	switch {
	case aString && bString:
		return strings.EqualFold(strings.TrimSpace(s), strings.TrimSpace(t))
	case aString:
		return equalText(s, b)
	case bString:
		return equalText(t, a)
	}
	return equalScalar(a, b)
}

// equalText compares a string with a number it may spell, or with a truth value it may name.
func equalText(s string, v any) bool {
	s = strings.ToLower(strings.TrimSpace(s))
	if want, ok := v.(bool); ok {
		if want {
			return s == "true" || s == "1" || s == "yes"
		}
		return s == "false" || s == "0" || s == "no"
	}
	n, ok := parseNumber(s)
	if !ok {
		return false
	}
	return equalScalar(v, n.f) || n.integer && equalScalar(v, n.i)
}

// text is the string form of a value for the string operators: what JavaScript prints, except that null and objects are
// empty.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = text(item)
		}
		return strings.Join(parts, ",")
	}
	if _, ok := toNumber(v); ok {
		return fmt.Sprint(v)
	}
	return ""
}

// clone copies a decoded JSON value, so that a caller who changes the original changes nothing here.
func clone(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = clone(item)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for k, item := range v {
			object[k] = clone(item)
		}
		return object
	}
	return v
}

// KindOf names the kind of a value as a reader of JSON knows it.
func KindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	if _, ok := toNumber(v); ok {
		return "a number"
	}
	return fmt.Sprintf("a %T", v)
}

// pointer extends a JSON pointer (RFC 6901) by one token.
func pointer(path, token string) string {
	return path + "/" + strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// alike reports whether two values differ, but in their writing only.
func alike(value, want any) bool {
	if equalScalar(value, want) {
		return false
	}
	if list, ok := value.([]any); ok && len(list) == 1 {
		_, nested := want.([]any)
		return !nested && (equalScalar(list[0], want) || alike(list[0], want))
	}
	a, aText := value.(string)
	b, bText := want.(string)
	switch {
	case aText && bText:
		return bare(a) == bare(b) || plural(bare(a), bare(b)) || plural(bare(b), bare(a))
	case aText || bText:
		return equalLenient(value, want)
	}
	return false
}

// bare drops case and what stands between words.
func bare(s string) string {
	return strings.Map(func(c rune) rune {
		if c == ' ' || c == '-' || c == '_' || c == '\t' || c == '\n' || c == '\r' {
			return -1
		}
		return c
	}, strings.ToLower(s))
}

// plural reports whether many is the plural of one, as English mostly has it.
func plural(one, many string) bool {
	stem, isY := strings.CutSuffix(one, "y")
	return one != "" && (many == one+"s" || many == one+"es" || isY && many == stem+"ies")
}
