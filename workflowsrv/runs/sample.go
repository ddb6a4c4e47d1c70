package runs

import (
	"encoding/json"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// sampleFor makes an output that criteria may accept: the caller asks them. It is "" where nothing can be made.
func sampleFor(text json.RawMessage) string {
	var s sampler
	var v any
	if json.Unmarshal(text, &v) != nil || !s.criteria(v) {
		return ""
	}
	if s.schema != nil {
		out, err := json.Marshal(s.schema)
		if err != nil {
			return ""
		}
		return string(out)
	}
	out := strings.Join(s.lines, "\n")
	for len([]rune(out)) < s.least {
		out = strings.TrimSpace(out + " what you found")
	}
	return out
}

// A sampler gathers what an output has to have.
type sampler struct {
	lines  []string
	least  int // characters
	schema any
}

// criteria reports whether it knows what would satisfy them.
func (s *sampler) criteria(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			if !s.criteria(one) {
				return false
			}
		}
		return true
	case string:
		return s.pattern(v, "")
	case map[string]any:
		if v["type"] != nil {
			return s.rule(v)
		}
		if all, ok := v["and"].([]any); ok {
			return s.criteria(all)
		}
		if some, ok := v["or"].([]any); ok && len(some) > 0 {
			return s.criteria(some[0])
		}
		return v["not"] != nil // What is not there is not forbidden.
	}
	return false
}

func (s *sampler) rule(m map[string]any) bool {
	switch m["type"] {
	case "contains":
		value, _ := m["value"].(string)
		s.lines = append(s.lines, value)
	case "regex":
		pattern, _ := m["pattern"].(string)
		flags, _ := m["flags"].(string)
		return s.pattern(pattern, flags)
	case "length":
		if least, ok := m["min"].(float64); ok && least < 10_000 {
			s.least = max(s.least, int(least))
		}
	case "schema":
		schema, ok := m["schema"].(map[string]any)
		if s.schema = instance(schema, 0); !ok || s.schema == nil {
			return false
		}
	}
	return true
}

func (s *sampler) pattern(pattern, flags string) bool {
	mode := syntax.Perl
	if strings.Contains(flags, "i") {
		mode |= syntax.FoldCase
	}
	if strings.Contains(flags, "m") {
		mode &^= syntax.OneLine
	}
	re, err := syntax.Parse(withoutLooks(pattern), mode)
	if err != nil {
		return true // It may forbid something; whether the sample does is for the caller to see.
	}
	var b strings.Builder
	if !match(&b, re, 0) {
		return false
	}
	s.lines = append(s.lines, b.String())
	return true
}

// withoutLooks leaves out what a pattern wants before and behind a match: who uses a sample has it checked.
func withoutLooks(pattern string) string {
	var b strings.Builder
	for left := pattern; left != ""; {
		n := 1
		switch {
		case left[0] == '\\':
			n = min(2, len(left))
		case left[0] == '[':
			n = past(left, ']', 1)
		case look.MatchString(left):
			left = left[past(left, ')', 1):]
			continue
		}
		b.WriteString(left[:n])
		left = left[n:]
	}
	return b.String()
}

var look = regexp.MustCompile(`^\(\?<?[=!]`)

// past is behind the end of the class or group that a pattern begins with, whose first byte is passed already.
func past(pattern string, end byte, i int) int {
	for i < len(pattern) {
		switch c := pattern[i]; {
		case c == end:
			return i + 1
		case c == '\\':
			i += 2
		case c == '[' && end == ')', c == '(' && end == ')':
			inner := map[byte]byte{'[': ']', '(': ')'}[c]
			i += past(pattern[i:], inner, 1)
		default:
			i++
		}
	}
	return len(pattern)
}

// match writes a text that a pattern may match, in the fewest characters.
func match(b *strings.Builder, re *syntax.Regexp, depth int) bool {
	const deepest, longest = 50, 2000
	if depth > deepest || b.Len() > longest {
		return false
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		if len(re.Rune) == 0 {
			return false
		}
		b.WriteRune(friendly(re.Rune))
	case syntax.OpBeginLine:
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
	case syntax.OpStar:
		if r := re.Sub[0].Rune; re.Sub[0].Op == syntax.OpAnyChar || len(r) == 2 && r[0] == 0 && r[1] == unicode.MaxRune { // It stands between others, which may want to begin a line or a word.
			b.WriteByte('\n')
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpCapture, syntax.OpPlus:
		return match(b, re.Sub[0], depth+1)
	case syntax.OpRepeat:
		for range re.Min {
			if !match(b, re.Sub[0], depth+1) {
				return false
			}
		}
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !match(b, sub, depth+1) })
	case syntax.OpAlternate:
		return match(b, re.Sub[0], depth+1)
	case syntax.OpNoMatch:
		return false
	}
	return true
}

// friendly picks a character of a class: a letter or a digit if it has one.
func friendly(ranges []rune) rune {
	for _, r := range "ax1-_ " {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= r && r <= ranges[i+1] {
				return r
			}
		}
	}
	return ranges[0]
}

// instance makes a value that a JSON Schema may accept, nil if it does not say enough.
func instance(schema map[string]any, depth int) any {
	const deepest = 8
	if depth > deepest {
		return nil
	}
	for _, key := range []string{"const", "default"} {
		if v, ok := schema[key]; ok {
			return v
		}
	}
	if values, ok := schema["enum"].([]any); ok && len(values) > 0 {
		return values[0]
	}
	switch schema["type"] {
	case "object", nil:
		return object(schema, depth)
	case "array":
		list := []any{}
		items, _ := schema["items"].(map[string]any)
		least, _ := schema["minItems"].(float64)
		wanted := contained(schema)
		for i := range min(max(int(least), len(wanted)), 100) {
			one := instance(items, depth+1)
			if has, ok := one.(map[string]any); ok && i < len(wanted) {
				maps.Copy(has, wanted[i])
			}
			list = append(list, one)
		}
		return list
	case "string":
		if pattern, ok := schema["pattern"].(string); ok {
			var s sampler
			if s.pattern(pattern, "") {
				return s.lines[0]
			}
		}
		least, _ := schema["minLength"].(float64)
		return strings.Repeat("…", max(1, min(int(least), 1000)))
	case "integer", "number":
		if above, ok := schema["exclusiveMinimum"].(float64); ok {
			return above + 1
		}
		least, _ := schema["minimum"].(float64)
		return least
	case "boolean":
		return true
	}
	return nil
}

// contained are what the objects of a list have to have that "contains" wants in it, also below allOf.
func contained(schema map[string]any) (wanted []map[string]any) {
	if one, ok := schema["contains"].(map[string]any); ok {
		properties, _ := one["properties"].(map[string]any)
		has := map[string]any{}
		for name, property := range properties {
			property, _ := property.(map[string]any)
			has[name] = instance(property, 0)
		}
		wanted = append(wanted, has)
	}
	all, _ := schema["allOf"].([]any)
	for _, part := range all {
		if part, ok := part.(map[string]any); ok {
			wanted = append(wanted, contained(part)...)
		}
	}
	return wanted
}

func object(schema map[string]any, depth int) any {
	o := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	if otherwise, ok := schema["else"].(map[string]any); ok { // An object with little in it is seldom what "if" is about.
		more, _ := otherwise["required"].([]any)
		required = slices.Concat(required, more)
	}
	for _, name := range required {
		key, _ := name.(string)
		property, _ := properties[key].(map[string]any)
		o[key] = instance(property, depth+1)
	}
	return o
}
