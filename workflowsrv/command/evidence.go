package command

import (
	"slices"
	"strings"
	"unicode"
)

// given counts the values in an instruction by what they look like.
type given struct {
	numbers, files, mails int
}

func readGiven(query string) given {
	var g given
	for _, field := range strings.Fields(query) {
		v := strings.Trim(field, ",.;:!?()\"'#")
		switch kinds := looksLike(field); {
		case v == "":
		case strings.IndexFunc(v, func(r rune) bool { return !unicode.IsDigit(r) }) < 0:
			g.numbers++
		case slices.Contains(kinds, "file"), slices.Contains(kinds, "path"):
			g.files++
		case slices.Contains(kinds, "mail"):
			g.mails++
		}
	}
	return g
}

// evidence says how well the values of an instruction go with the parameters of a command: from -1 to 1.
func (g given) evidence(c *Command, at Path) float64 {
	numbers, paths, lists := 0, 0, false
	mustNumber, mustPath := 0, 0
	for i := range c.Params {
		p := &c.Params[i]
		if _, known := at.lookup(p.FromContext); p.FromContext != "" && known {
			continue
		}
		part, _ := p.schema.(map[string]any)
		pattern, _ := part["pattern"].(string)
		switch {
		case slices.Contains(p.Types, "integer"), slices.Contains(p.Types, "number"), strings.Contains(pattern, "0-9") || strings.Contains(pattern, `\d`), p.Lookup != nil:
			numbers++
			if p.Required && p.Lookup == nil {
				mustNumber++
			}
		case isPath(p.Name):
			paths++
			lists = lists || slices.Contains(p.Types, "array")
			if p.Required {
				mustPath++
			}
		}
	}
	e := 0.0
	switch {
	case g.numbers > 0 && mustNumber > 0:
		e += 0.5
	case g.numbers > 0 && numbers == 0:
		e -= 0.3
	case g.numbers == 0 && mustNumber > 0:
		e -= 0.4
	}
	switch {
	case g.files > 0 && mustPath > 0:
		e += 0.5
	case g.files > 0 && paths == 0:
		e -= 0.5
	}
	switch {
	case g.files > 1 && lists && mustPath < 2, g.files == 2 && mustPath == 2:
		e += 0.5
	case g.files == 1 && (lists || mustPath == 2):
		e -= 0.2
	case g.files == 0 && mustPath > 0:
		e -= 0.1
	}
	return max(-1, min(1, e))
}

// isPath reports whether a parameter is called as places of files are.
func isPath(name string) bool {
	return slices.ContainsFunc(strings.Fields(strings.ToLower(spaced(name))), func(word string) bool {
		return slices.Contains([]string{"path", "paths", "file", "files", "filename", "filepath", "directory", "folder", "source", "destination"}, word)
	})
}
