package config

import (
	"fmt"

	"github.com/mcp-workbench/workbench/internal/envfile"
)

// EnvFiles are files of variables, absolute paths; of two that set one variable the later prevails.
type EnvFiles []string

// envFiles reads one path, or several.
func (c *checker) envFiles(o *object) EnvFiles {
	n, path, ok := o.take("envFile")
	if !ok {
		return nil
	}
	var files EnvFiles
	switch n.kind {
	case kindString:
		if v, ok := c.text(n, path, false); ok {
			files = EnvFiles{c.place(v)}
		}
	case kindArray:
		for _, v := range c.list(n, path, false) {
			files = append(files, c.place(v))
		}
	default:
		c.fault(n.at, path, "want a path or an array of paths, got "+n.got(false), "")
	}
	return files
}

// borrow has variables that are not set be looked up in files. One that cannot be read has none, and the hint at a variable that
// is missed then says so.
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
