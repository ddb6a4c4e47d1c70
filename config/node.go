package config

import (
	"fmt"
	"strconv"
	"strings"
)

// node is one value of the file and where it stands. JSON and YAML both become nodes, so that one checker reads both.
type node struct {
	kind    kind
	at      position
	text    string   // a string decoded; anything else that has no parts as it was written
	number  float64  // of a number
	members []member // of an object, in the order of the file, duplicates included
	items   []*node  // of an array
}

type member struct {
	key   string
	at    position
	value *node
}

// position counts lines and characters from 1.
type position struct {
	line, column int
}

type kind string

const (
	kindObject kind = "an object"
	kindArray  kind = "an array"
	kindString kind = "a string"
	kindNumber kind = "a number"
	kindBool   kind = "a boolean"
	kindNull   kind = "null"
)

// maxDepth bounds the nesting of a file. The configuration itself needs six levels; keys that are ignored may hold more.
const maxDepth = 64

// got words n for an error. What a secret holds is not told, only its kind.
func (n *node) got(secret bool) string {
	switch {
	case n.kind == kindString && !secret:
		return "the string " + quote(n.text)
	case n.kind == kindNumber && !secret && len(n.text) <= 64:
		return "the number " + n.text
	case n.kind == kindBool && !secret:
		return n.text
	}
	return string(n.kind)
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
