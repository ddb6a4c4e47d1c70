package config

import (
	"strconv"
	"strings"
)

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
