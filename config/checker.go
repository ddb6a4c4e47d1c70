package config

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/nearest"
)

// checker turns the nodes of one file into a Config.
type checker struct {
	report
	folder string // absolute; relative paths start from it
	lookup func(string) (string, bool)

	workedOn []value // what names a toolbox whose tools are to be commands
	unread   string  // what is to be said of files of variables that could not be read

	given []document.Member // what the entry whose arguments are read gives its program as variables
}

// text reads a string and puts its variables in. The result is false if it cannot be used, which is reported.
func (c *checker) text(n *document.Node, path string, secret bool) (value, bool) {
	if n.Kind != document.Text {
		hint := ""
		if n.Kind == document.Number || n.Kind == document.Boolean {
			hint = "put it in double quotes"
		}
		c.fault(position{n.Line, n.Column}, path, "want a string, got "+got(n, secret), hint)
		return value{}, false
	}
	e, err := expand(n.Value, c.lookup)
	v := value{text: e.text, path: path, node: n, varied: e.varied, secret: secret, sealed: len(e.secrets) > 0}
	switch {
	case errors.Is(err, errTooLong) && e.varied:
		c.problem(position{n.Line, n.Column}, path, err.Error()+" from its variables", "")
	case errors.Is(err, errTooLong):
		c.fault(position{n.Line, n.Column}, path, err.Error(), "")
	case err != nil:
		of := referenceError{}
		_ = errors.As(err, &of) // any other error says what is wanted by itself
		c.fault(position{n.Line, n.Column}, path, err.Error(), cmp.Or(of.hint, referenceHint))
	case v.sealed && !secret:
		c.fault(position{n.Line, n.Column}, path, "want a string without a secret, got ${secret:"+e.secrets[0]+"}", "people and models see this text; secrets go into args, env, url, headers, clientSecret and privateKey of oauth, models.apiKey and store.dsn")
	case strings.Count(v.text, "\x00") != len(e.secrets):
		c.reject(v, "want a string without a zero byte", "")
	case len(e.missing) == 0:
		return v, true
	}
	for _, name := range e.missing {
		hint := cmp.Or(elsewhere(name), fmt.Sprintf("set it, or write ${%s:-default}", name))
		if slices.ContainsFunc(c.given, func(m document.Member) bool { return m.Key == name }) {
			hint = fmt.Sprintf("set it, or write $${%s} if the program is to fill it in, which gets it by env", name)
		}
		c.problem(position{n.Line, n.Column}, path, fmt.Sprintf("want a value for variable %s, got none", name), hint+c.unread)
	}
	return v, false
}

// choice reads a string that must be one of the options.
func (c *checker) choice(n *document.Node, path string, options []string) (value, bool) {
	v, ok := c.text(n, path, false)
	if ok && !slices.Contains(options, v.text) {
		c.reject(v, "want "+oneOf(options), nearest.Hint(v.text, options, ""))
		return v, false
	}
	return v, ok
}

// list reads an array of strings, without those that cannot be used.
func (c *checker) list(n *document.Node, path string, secret bool) []value {
	if n.Kind != document.Array {
		c.fault(position{n.Line, n.Column}, path, "want an array of strings, got "+got(n, secret), arrayHint(n))
		return nil
	}
	all := make([]value, 0, len(n.Items))
	for i, item := range n.Items {
		if v, ok := c.text(item, index(path, i), secret); ok {
			all = append(all, v)
		}
	}
	return all
}

// arrayHint is what to do where an array of strings is wanted.
func arrayHint(n *document.Node) string {
	if n.Kind == document.Text {
		return `write each as a string of its own: ["one", "two"]`
	}
	return ""
}

// members returns the members of n, which must be an object, each key once and without those to skip.
func (c *checker) members(n *document.Node, path string, skip func(key string) bool) ([]document.Member, bool) {
	if n.Kind != document.Object {
		c.fault(position{n.Line, n.Column}, path, "want an object, got "+got(n, true), "")
		return nil, false
	}
	first := make(map[string]position, len(n.Members))
	members := make([]document.Member, 0, len(n.Members))
	for _, m := range n.Members {
		at, twice := first[m.Key]
		switch {
		case skip(m.Key):
		case twice:
			c.fault(position{m.Line, m.Column}, join(path, m.Key), fmt.Sprintf("want each key once, got it on line %d and again on line %d", at.line, position{m.Line, m.Column}.line), "")
		default:
			first[m.Key] = position{m.Line, m.Column}
			members = append(members, m)
		}
	}
	return members, true
}

// ignored says which keys are comments.
func ignored(key string) bool {
	return strings.HasPrefix(key, "_") || key == "$schema"
}

// isLine reports whether a command is a line of a shell, "npx -y @x/y", in whose arguments there may be slashes, and no
// path.
func isLine(command string) bool {
	program, _, more := strings.Cut(command, " ")
	return more && !strings.ContainsAny(program, `/\`)
}

// program returns a command: a name to be found in PATH, or the path that one with a slash in it is.
func (c *checker) program(v value) string {
	if isLine(v.text) {
		return v.text // the program is not there, and its error says where arguments belong
	}
	if strings.ContainsRune(v.text, '/') || strings.ContainsRune(v.text, filepath.Separator) {
		return c.place(v)
	}
	return v.text
}

// place returns a path of the file system, which starts from the folder of the file unless it is absolute.
func (c *checker) place(v value) string {
	switch {
	case v.text == "":
		c.reject(v, "want a path", "")
	case v.text == "~" || strings.HasPrefix(v.text, "~/"):
		c.reject(v, "want a path without ~", "write ${HOME} for it")
	case !filepath.IsAbs(v.text):
		return filepath.Join(c.folder, v.text)
	}
	return v.text
}
