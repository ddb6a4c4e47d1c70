// Package envfile reads files of variables, one NAME=VALUE a line, as Docker and VS Code read them.
//
//	# a comment                  a line that begins with # is none of the file's
//	export TOKEN=abc # comment   export is left out, and what follows a # behind a space
//	PLAIN=a value with spaces    spaces around the value are left out
//	SINGLE='kept as # it is'     nothing stands for anything else
//	DOUBLE="two\nlines"          \n, \r, \t, \" and \\ stand for what they do elsewhere
//	KEY                          the variable of workbench's own environment, if it is set there
//
// A value in quotation marks may go on over several lines. Variables are not put into values: $ is a dollar sign.
package envfile

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/openfile"
)

// MaxSize is the most bytes that a file may have.
const MaxSize = 1 << 20

// Var is a variable of a file.
type Var struct {
	Name, Value string
	Inherited   bool // only its name is in the file: its value is that of workbench's own environment
}

// Read reads the file at path. The error says no value. One that other users can write or replace is refused, as
// [openfile.ReadTrusted] says: a variable may decide which program is run, or what of a program.
func Read(path string) ([]Var, error) {
	data, _, err := openfile.ReadTrusted(path, MaxSize)
	if err != nil {
		return nil, err
	}
	vars, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return vars, nil
}

// Parse reads the content of a file. The error begins with the number of a line, and says no value.
func Parse(data []byte) ([]Var, error) {
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	var vars []Var
	for line := 1; text != ""; {
		v, rest, err := next(text)
		if err != "" {
			return nil, fmt.Errorf("%d: %s", line, err)
		}
		line += strings.Count(text[:len(text)-len(rest)], "\n")
		text = rest
		if v.Name != "" {
			vars = append(vars, v)
		}
	}
	return vars, nil
}

// next reads the first line of a text, and those on which its value goes on, and returns what follows them. A line
// without a variable gives the zero Var.
func next(text string) (v Var, rest, wrong string) {
	line, rest, _ := strings.Cut(text, "\n")
	trimmed := strings.TrimSpace(line)
	if trimmed == "" || trimmed[0] == '#' {
		return Var{}, rest, ""
	}
	name, value, hasValue := strings.Cut(trimmed, "=")
	name = strings.TrimSpace(name)
	if after, ok := strings.CutPrefix(name, "export "); ok {
		name = strings.TrimSpace(after)
	}
	if wrong := wrongName(name); wrong != "" {
		return Var{}, "", wrong
	}
	if !hasValue {
		return Var{Name: name, Inherited: true}, rest, ""
	}
	value = strings.TrimSpace(value)
	if value == "" || value[0] != '"' && value[0] != '\'' {
		if value, wrong = plain(value); wrong != "" {
			return Var{}, "", wrong
		}
		return Var{Name: name, Value: value}, rest, ""
	}
	_, whole, _ := strings.Cut(text, "=") // the value may go on behind the end of the line
	value, after, closed := quoted(strings.TrimLeft(whole, " \t"))
	if !closed {
		return Var{}, "", "want a closing quotation mark for the value of " + name + ", got none"
	}
	trailing, rest, _ := strings.Cut(after, "\n")
	if trailing = strings.TrimSpace(trailing); trailing != "" && trailing[0] != '#' {
		return Var{}, "", "want the end of the line, or a comment, after the value of " + name + ", got something else"
	}
	if strings.ContainsRune(value, 0) || !utf8.ValidString(value) {
		return Var{}, "", badText
	}
	return Var{Name: name, Value: value}, rest, ""
}

// badText says of a value that no program can be given it.
const badText = "want UTF-8 text without zero bytes, got something else"

func wrongName(name string) string {
	switch {
	case name == "":
		return "want a variable's name before =, got none"
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '"' || r == '\'' || r == utf8.RuneError }):
		return "want a line of NAME=VALUE, got one whose name has a space or a quotation mark in it"
	}
	return ""
}

// plain is a value without quotation marks.
func plain(value string) (_, wrong string) {
	if strings.ContainsRune(value, 0) || !utf8.ValidString(value) {
		return "", badText
	}
	if strings.HasPrefix(value, "#") {
		return "", ""
	}
	for _, comment := range []string{" #", "\t#"} {
		if i := strings.Index(value, comment); i >= 0 {
			value = value[:i]
		}
	}
	return strings.TrimSpace(value), ""
}

// quoted reads the value in quotation marks that text begins with, and returns what follows it.
func quoted(text string) (value, rest string, closed bool) {
	mark := text[0]
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == mark:
			return b.String(), text[i+1:], true
		case c == '\\' && mark == '"' && i+1 < len(text):
			i++
			b.WriteString(escape(text[i]))
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// escape is what a character behind a backslash stands for.
func escape(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case 't':
		return "\t"
	case '"', '\\', '$':
		return string(c)
	}
	return `\` + string(c)
}
