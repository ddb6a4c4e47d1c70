package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/nearest"
)

// didYouMean returns a hint at the option that word is most likely a slip of, or "" if it is like none.
func didYouMean(word string, options []string) string {
	if near := nearest.Names(word, options, 1); len(near) > 0 {
		return fmt.Sprintf("did you mean %q?", near[0])
	}
	return ""
}

// oneOf words what there is to choose from: "a", "b" or "c".
func oneOf(options []string) string {
	var b strings.Builder
	for i, option := range options {
		switch {
		case i > 0 && i == len(options)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(option))
	}
	return b.String()
}
