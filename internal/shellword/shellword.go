// Package shellword writes commands for a person to paste into a shell.
package shellword

import (
	"runtime"
	"strings"
)

// Word is one argument of a command as the shells of this system read it: those of POSIX, or those of Windows.
func Word(text string) string { return word(text, runtime.GOOS) }

// Line is a command with its arguments.
func Line(words ...string) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = Word(w)
	}
	return strings.Join(all, " ")
}

func word(text, system string) string {
	plain := "-_./:@=,+"
	if system == "windows" {
		plain += `\`
	}
	isPlain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune(plain, r)
	}
	switch {
	case text != "" && strings.IndexFunc(text, func(r rune) bool { return !isPlain(r) }) < 0:
		return text
	case system == "windows":
		return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
