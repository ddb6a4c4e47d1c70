package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
)

// position counts lines and characters from 1.
type position struct {
	line, column int
}

// number is that of a node, and no number where it is too large for one.
func number(n *document.Node) float64 {
	f, err := strconv.ParseFloat(n.Value, 64)
	if err != nil {
		return math.NaN()
	}
	return f
}

// got words n for an error. What a secret holds is not told, only its kind.
func got(n *document.Node, secret bool) string {
	switch {
	case n.Kind == document.Text && !secret:
		return "the string " + quote(n.Value)
	case n.Kind == document.Number && !secret && len(n.Value) <= 64:
		return "the number " + n.Value
	case n.Kind == document.Boolean && !secret:
		return n.Value
	}
	return n.Kind.String()
}

// quote returns s in double quotes, cut to a length that an error line can bear, with everything unprintable escaped.
func quote(s string) string {
	const most = 64
	if len(s) > most {
		return strconv.Quote(strings.ToValidUTF8(s[:most], "")) + "…"
	}
	return strconv.Quote(s)
}

// join returns the path of a member.
func join(path, key string) string {
	plain := key != "" && len(key) <= 64
	for _, r := range key {
		plain = plain && (r == '-' || r == '_' || r == '$' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z')
	}
	switch {
	case !plain:
		return path + "[" + quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// index returns the path of an array's item.
func index(path string, i int) string {
	return fmt.Sprintf("%s[%d]", path, i)
}
