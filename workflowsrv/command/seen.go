package command

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of what is remembered of earlier results.
const (
	maxSeenRows  = 1000
	maxSeenDepth = 6
	minMention   = 3 // letters of a value that is recognised in words
)

// A listing is an array that an earlier result had, or one object: in each row the texts and numbers by their names.
type listing []map[string]string

// A memory is what earlier results of the conversation had.
type memory struct {
	seen   func() []json.RawMessage // CallOptions.Seen
	tables []listing                // what seen had, once it was asked for
}

// listings are what earlier results of the conversation had, the latest first.
func (m *memory) listings() []listing {
	if m.tables == nil && m.seen != nil {
		m.tables = []listing{}
		rows := 0
		for _, result := range m.seen() {
			if v, err := decode(result); err == nil {
				m.tables = gather(m.tables, v, 0, &rows)
			}
		}
	}
	return m.tables
}

// gather adds the listings in a value.
func gather(list []listing, v any, depth int, rows *int) []listing {
	if depth > maxSeenDepth {
		return list
	}
	var within []any
	switch v := v.(type) {
	case []any:
		var table listing
		for _, item := range v {
			if object, ok := item.(map[string]any); ok && *rows < maxSeenRows {
				*rows++
				table = append(table, scalars(object))
			}
			within = append(within, members(item)...)
		}
		if len(table) > 0 {
			list = append(list, table)
		}
	case map[string]any:
		if row := scalars(v); len(row) > 0 && *rows < maxSeenRows {
			*rows++
			list = append(list, listing{row})
		}
		within = members(v)
	}
	for _, inner := range within {
		list = gather(list, inner, depth+1, rows)
	}
	return list
}

// scalars are the texts and numbers of an object.
func scalars(object map[string]any) map[string]string {
	row := map[string]string{}
	for name, v := range object {
		switch v := v.(type) {
		case string:
			row[name] = v
		case json.Number:
			row[name] = v.String()
		}
	}
	return row
}

// members are the arrays and objects of an object, in the order of their names.
func members(v any) []any {
	object, _ := v.(map[string]any)
	var list []any
	for _, name := range sortedKeys(object) {
		switch object[name].(type) {
		case []any, map[string]any:
			list = append(list, object[name])
		}
	}
	return list
}

// recall finds a value of a parameter among what was seen: one that a text mentions, or, borrowed, that of the row
// which the text means by another of its values or by its number.
func (m *memory) recall(c *Command, p *Param, text string) (v json.RawMessage, borrowed, ok bool) {
	if len(enumTexts(p.schema)) > 0 {
		return nil, false, false
	}
	vocabulary := c.vocabulary()
	value, ok := mentioned(m.valuesSeen(p), text, vocabulary)
	if !ok {
		borrowed = true
		value, ok = m.row(p, text, vocabulary)
	}
	if !ok {
		return nil, false, false
	}
	v, err := p.read(c.schema, []string{value})
	return v, borrowed, err == nil && c.takes(p.Name, v)
}

// valuesSeen are the values that results had under the name of a parameter.
func (m *memory) valuesSeen(p *Param) []string {
	var values []string
	for _, table := range m.listings() {
		for _, row := range table {
			if v := row[p.Name]; v != "" && !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
	}
	return values
}

// row finds the value of the row that a text means.
func (m *memory) row(p *Param, text string, vocabulary map[string]bool) (string, bool) {
	var found []string
	for _, table := range m.listings() {
		for _, row := range table {
			value := row[p.Name]
			if value == "" || slices.Contains(found, value) {
				continue
			}
			for name, other := range row {
				if name != p.Name && mentions(text, other, vocabulary) {
					found = append(found, value)
					break
				}
			}
		}
	}
	if len(found) > 0 {
		return found[0], len(found) == 1
	}
	return m.numbered(p, text)
}

// numbered finds the value of the row whose number in the latest list a text says, as in "the second one".
func (m *memory) numbered(p *Param, text string) (string, bool) {
	words := strings.Fields(normal(text))
	for _, table := range m.listings() {
		if len(table) < 2 || table[0][p.Name] == "" {
			continue
		}
		row, ok := ordinal(words, len(table))
		if !ok {
			return "", false
		}
		v := table[row][p.Name]
		return v, v != ""
	}
	return "", false
}

// ordinal finds which of n things words say, as in "the second one", counted from 0.
func ordinal(words []string, n int) (int, bool) {
	for i, word := range []string{"first", "second", "third", "fourth", "fifth"} {
		if i < n && slices.Contains(words, word) {
			return i, true
		}
	}
	return n - 1, slices.Contains(words, "last")
}

// mentioned finds the one value that a text mentions: of two of which one is part of the other it is the longer.
func mentioned(values []string, text string, vocabulary map[string]bool) (string, bool) {
	var found []string
	for _, v := range values {
		if mentions(text, v, vocabulary) {
			found = append(found, v)
		}
	}
	slices.SortStableFunc(found, func(a, b string) int { return len(b) - len(a) })
	if len(found) == 0 {
		return "", false
	}
	best := normal(found[0])
	return found[0], !slices.ContainsFunc(found[1:], func(v string) bool { return !within(best, normal(v)) })
}

// mentions reports whether a text has all the words of a value, one behind the other. Words that say which command is
// meant are no value.
func mentions(text, value string, vocabulary map[string]bool) bool {
	said := normal(value)
	if utf8.RuneCountInString(said) < minMention || !within(normal(text), said) {
		return false
	}
	return slices.ContainsFunc(wordsOf(value), func(word string) bool { return !vocabulary[word] && !empty(word) })
}

// within reports whether words are part of others, as whole words.
func within(text, words string) bool { return strings.Contains(" "+text+" ", " "+words+" ") }

// fitting are some values for a parameter that were seen and that it can have. For a text of any kind there are none:
// it would be somebody else's words.
func (m *memory) fitting(c *Command, p *Param) []string {
	var values []string
	if p.takesText() && len(p.AvailableFrom) == 0 {
		return nil
	}
	for _, value := range m.valuesSeen(p) {
		if utf8.RuneCountInString(value) > maxInline || strings.ContainsFunc(value, unseen) {
			continue
		}
		if v, err := p.read(c.schema, []string{value}); err == nil && len(values) < maxSuggestions && c.takes(p.Name, v) {
			values = append(values, value)
		}
	}
	return values
}
