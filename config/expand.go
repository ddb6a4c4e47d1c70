package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxExpanded is the most bytes a string may have, both as it is written and once its variables are put in.
const maxExpanded = 64 << 10

var errTooLong = fmt.Errorf("want at most %d bytes, got more", maxExpanded)

// expansion is a string with its variables put in.
type expansion struct {
	text    string
	varied  bool     // a variable had a part in it
	missing []string // the variables that are not set and have no default, each once
	secrets []string // the secrets that it wants; in text a mark stands for each
}

// expand puts variables into s in one pass: ${NAME}, ${NAME:-default when unset or empty}, and $${ for a literal ${.
// What a variable holds is not looked at again. For a secret, ${secret:NAME}, a mark is put in. The error is a
// reference that cannot be read, or errTooLong.
func expand(s string, lookup func(string) (string, bool)) (expansion, error) {
	var e expansion
	if len(s) > maxExpanded {
		return e, errTooLong
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(s, "${")
		literal := found && strings.HasSuffix(before, "$")
		if literal {
			before += "{" // The first $ of $${ is there already.
		}
		out.WriteString(before)
		s = after
		if found && !literal {
			text, rest, err := e.reference(s, lookup)
			if err != nil {
				return expansion{}, err
			}
			out.WriteString(text)
			s = rest
		}
		switch {
		case out.Len() > maxExpanded:
			return e, errTooLong
		case !found:
			e.text = out.String()
			return e, nil
		}
	}
}

// reference resolves the reference that s goes on with, behind its opening, and returns what follows it.
func (e *expansion) reference(s string, lookup func(string) (string, bool)) (text, rest string, err error) {
	inside, rest, closed := strings.Cut(s, "}")
	if !closed {
		return "", "", errors.New("want } behind ${, got none")
	}
	if name, ok := strings.CutPrefix(inside, secretKind); ok {
		if wrong := WrongSecretName(name); wrong != "" {
			return "", "", errors.New(wrong)
		}
		e.secrets = append(e.secrets, name)
		return secretMark + name + "}", rest, nil
	}
	name, fallback, hasFallback := strings.Cut(inside, ":-")
	switch {
	case name == "":
		return "", "", errors.New("want a variable's name in ${}, got none")
	case strings.Contains(fallback, "${"):
		return "", "", errors.New("want plain text behind :-, got another ${")
	case !isVariable(name):
		return "", "", referenceError{"want a variable's name (letters, digits and _) in ${}, got something else", elsewhere(inside)}
	}
	e.varied = true
	value, set := lookup(name)
	switch {
	case hasFallback && value == "":
		return fallback, rest, nil
	case !set && !slices.Contains(e.missing, name):
		e.missing = append(e.missing, name)
	}
	return value, rest, nil
}
