package config

import "github.com/mcp-workbench/workbench/internal/document"

// value is a string of the file with its variables put in.
type value struct {
	text   string
	path   string
	node   *document.Node
	varied bool // variables had a part in it
	secret bool // its text is not told
	sealed bool // secrets have a part in it, for which marks stand: what it will be is not known
}

// pair is one member of an object with free keys.
type pair struct {
	key string
	at  position
	value
}

func texts(values []value) []string {
	var all []string
	for _, v := range values {
		all = append(all, v.text)
	}
	return all
}
