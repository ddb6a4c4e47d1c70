package proxy

import (
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/results"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/meta"
)

// readResult answers workbench_read_result.
func readResult(d *desk, c *call) {
	f := d.own(c)
	if f == nil {
		return
	}
	id, q, err := readQuery(c)
	if err != nil {
		f.fail(err)
		return
	}
	f.serve(func() { // it reads files
		told, page, err := f.by.shelf.Page(f.ctx, id, q)
		if err != nil {
			f.fail(fmt.Errorf("%s: %w", meta.ReadTool, err))
			return
		}
		// What is said of the page stands apart from it, which is a server's.
		texts := []string{told}
		if page != nil {
			texts = append(texts, string(page))
		}
		f.reply(textResult(f.terms.Era, texts...).End())
	})
}

// readQuery reads the arguments of workbench_read_result.
func readQuery(c *call) (id string, q results.Query, err error) {
	var out [5]wire.Span
	if c.findArgs(c.Args, []string{"id", "lines", "path", "grep", "page"}, out[:]) != nil {
		return "", q, fmt.Errorf("%s needs arguments with id; the preview of the result shows it", meta.ReadTool)
	}
	id, ok := wire.Unquote(c.Bytes(out[0]))
	if !ok || id == "" {
		return "", q, fmt.Errorf("%s needs id, a string; the preview of the result shows it", meta.ReadTool)
	}
	given := 0
	for i, to := range []*string{&q.Lines, &q.Path, &q.Grep} {
		token := c.Bytes(out[1+i])
		if token == nil || string(token) == "null" || string(token) == `""` {
			continue
		}
		given++
		if *to, ok = wire.Unquote(token); !ok {
			*to = string(token) // lines may be a number
		}
	}
	if given > 1 {
		return "", q, fmt.Errorf("%s takes one of lines, path and grep", meta.ReadTool)
	}
	if out[4].Present() {
		if q.Page, ok = wholeNumber(c.Bytes(out[4])); !ok {
			return "", q, fmt.Errorf("%s: page is a whole number from 1", meta.ReadTool)
		}
	}
	return id, q, nil
}

// isKept reports whether a uri is that of a kept result.
func isKept(uri string) bool {
	id, ok := strings.CutPrefix(uri, results.Prefix)
	return ok && !strings.Contains(id, "/") // servers of a toolbox of that name have more behind it
}

// readKept answers resources/read for a kept result.
func readKept(d *desk, c *call, uri string) {
	d.serve(c, func(f *flight, _ *call) { // it reads files
		result, err := f.by.shelf.Read(uri)
		if err != nil {
			f.fail(noResource(uri, err, f.terms.Era))
			return
		}
		f.reply(append(f.terms.Result(true), result[1:]...))
	})
}
