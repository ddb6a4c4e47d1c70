// Package cut shortens texts, and shows by "…" where one was cut.
package cut

import "unicode/utf8"

const more = "…"

// Short cuts a text that a caller chose, so that what is said of it stays small.
func Short(s string) string { return After(s, 80) }

// After keeps the first most characters of a text, and puts "…" behind them where there were more.
func After(s string, most int) string {
	for i := range s {
		if most == 0 {
			return s[:i] + more
		}
		most--
	}
	return s
}

// Within keeps a text within a number of characters, of which "…" is one.
func Within(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return After(s, most-1)
}

// Bytes keeps a text within a number of bytes, where that is more than the three of "…".
func Bytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := most - len(more)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:max(end, 0)] + more
}

// At keeps the first bytes of a text, at most so many, and puts "…" behind them where there were more.
func At(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + more
}
