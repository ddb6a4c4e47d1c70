package config

import (
	"fmt"

	"github.com/mcp-workbench/workbench/internal/document"
	"github.com/mcp-workbench/workbench/internal/envfile"
)

// EnvFiles are files of variables, absolute paths; of two that set one variable the later prevails.
type EnvFiles []string

// readEnvFiles reads one path, or several.
func readEnvFiles(o *object) EnvFiles {
	n, path, ok := o.take("envFile")
	if !ok {
		return nil
	}
	var files EnvFiles
	switch n.Kind {
	case document.Text:
		if v, ok := o.c.text(n, path, false); ok {
			files = EnvFiles{o.c.place(v)}
		}
	case document.Array:
		for _, v := range o.c.list(n, path, false) {
			files = append(files, o.c.place(v))
		}
	default:
		o.c.fault(position{n.Line, n.Column}, path, "want a path or an array of paths, got "+got(n, false), "")
	}
	return files
}

// borrow has variables that are not set be looked up in files. One that cannot be read has none, and the hint at a
// variable that is missed then says so.
func (c *checker) borrow(files EnvFiles) {
	if len(files) == 0 {
		return
	}
	values := make(map[string]string)
	for _, file := range files {
		vars, err := envfile.Read(file)
		if err != nil {
			c.unread = fmt.Sprintf("; the envFile cannot be read: %v", err)
			continue
		}
		for _, v := range vars {
			if !v.Inherited {
				values[v.Name] = v.Value
			}
		}
	}
	own := c.lookup
	c.lookup = func(name string) (string, bool) {
		if v, ok := own(name); ok {
			return v, true
		}
		v, ok := values[name]
		return v, ok
	}
}
