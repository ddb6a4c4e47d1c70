package results

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// content is the result of a tool taken apart.
type content struct {
	raw        []byte
	items      []item
	structured wire.Span
	kept       []wire.Span // members that a preview has too, name and value
	size       int         // of what a model would read as text, in bytes
	images     int         // of images, in bytes
}

// item is one piece of the content.
type item struct {
	kind string    // of MCP: text, image, audio, resource, resource_link
	at   wire.Span // the whole
	text wire.Span // the token of a text, or of base64
	blob bool      // it is base64
	mime wire.Span // a token
}

// maxMember is how long a member of a result may be that is no content, to be in a preview too.
const maxMember = 1 << 10

// readContent takes apart the result at in; it reports false if that is none of a tool.
func readContent(raw []byte, in wire.Span) (*content, bool) {
	c := &content{raw: raw}
	isOne := false
	end := in.End
	for name, start := range wire.Children(raw, in.Start, &end) {
		switch string(raw[name.Start:name.End]) {
		case `"content"`:
			isOne = raw[start] == '['
			for _, start := range wire.Children(raw, start, &end) {
				it := readItem(raw, start, &end)
				if it.kind == "image" {
					c.images += end - start
				} else {
					c.size += end - start
				}
				c.items = append(c.items, it)
			}
		case `"structuredContent"`:
			end = wire.ValueEnd(raw, start)
			c.structured = wire.Span{Start: start, End: end}
			c.size += end - start
		default:
			if end = wire.ValueEnd(raw, start); end-start <= maxMember {
				c.kept = append(c.kept, wire.Span{Start: name.Start, End: end})
			}
		}
	}
	return c, isOne
}

// readItem takes apart the piece that begins at start, and finds its end.
func readItem(raw []byte, start int, end *int) (it item) {
	var text, data wire.Span
	for name, start := range wire.Children(raw, start, end) {
		if string(raw[name.Start:name.End]) == `"resource"` {
			for name, start := range wire.Children(raw, start, end) {
				*end = wire.ValueEnd(raw, start)
				switch value := (wire.Span{Start: start, End: *end}); string(raw[name.Start:name.End]) {
				case `"text"`:
					text = value
				case `"blob"`:
					data = value
				case `"mimeType"`:
					it.mime = value
				}
			}
			continue
		}
		*end = wire.ValueEnd(raw, start)
		switch value := (wire.Span{Start: start, End: *end}); string(raw[name.Start:name.End]) {
		case `"type"`:
			it.kind, _ = wire.Unquote(raw[value.Start:value.End])
		case `"text"`:
			text = value
		case `"data"`:
			data = value
		case `"mimeType"`:
			it.mime = value
		}
	}
	if it.at = (wire.Span{Start: start, End: *end}); *end <= start { // it is no object
		*end = wire.ValueEnd(raw, start)
		it.at.End = *end
	}
	switch {
	case it.kind == "text", it.kind == "resource" && text.Present():
		it.text = text
	case it.kind == "image", it.kind == "audio", it.kind == "resource":
		it.text, it.blob = data, true
	}
	if it.text.Present() && raw[it.text.Start] != '"' {
		it.text = wire.Span{}
	}
	return it
}

// isText reports whether a piece is text that a model reads.
func (it *item) isText() bool { return it.text.Present() && !it.blob }

// document gives the text of the result: its texts, a line between two of them, or its structured content where that
// says more. Links and pieces of other kinds are lines of JSON there, unless the texts are JSON by themselves.
func (c *content) document() []byte {
	long, others := 0, false
	for i := range c.items {
		if it := &c.items[i]; it.isText() {
			long += it.text.End - it.text.Start
		} else {
			others = others || !it.blob
		}
	}
	// The texts of most servers are their structured content once more, with a backslash for each quotation mark.
	if c.structured.End-c.structured.Start > long {
		return c.raw[c.structured.Start:c.structured.End]
	}
	doc := c.lines(false)
	if others && !isJSON(doc) {
		return c.lines(true)
	}
	return doc
}

// lines joins the texts, or the texts and all pieces but those of base64.
func (c *content) lines(all bool) (doc []byte) {
	for i := range c.items {
		it := &c.items[i]
		if it.blob || !all && !it.isText() {
			continue
		}
		if len(doc) > 0 && doc[len(doc)-1] != '\n' {
			doc = append(doc, '\n')
		}
		if it.isText() {
			doc, _ = wire.AppendUnquote(doc, c.raw[it.text.Start:it.text.End])
		} else {
			doc = append(doc, bytes.ReplaceAll(c.raw[it.at.Start:it.at.End], []byte{'\n'}, []byte{' '})...)
		}
	}
	return doc
}

// link appends a piece that links to a part of a kept result; part is "" for all of it.
func link(out []byte, id, part, title string, mime []byte, size int64) []byte {
	o := wire.NewObject(out).Text("type", "resource_link").Text("uri", address(id, part)).Text("name", title)
	if mime != nil {
		o = o.Raw("mimeType", mime)
	}
	return o.Int("size", size).End()
}

func address(id, part string) string {
	if part != "" {
		part = "." + part
	}
	return Prefix + id + part
}

// Read gives the result of resources/read for the address of a kept result: each piece of its content as the server
// wrote it, or one of them.
func (s *Shelf) Read(uri string) ([]byte, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	k, part, err := s.find(uri)
	if err != nil {
		return nil, err
	}
	raw, err := k.read(k.text, k.raw)
	if err != nil {
		return nil, err
	}
	c, ok := readContent(raw, wire.Whole(raw))
	if !ok {
		return nil, fmt.Errorf("the kept result %s is damaged", k.id)
	}
	out := []byte(`{"contents":[`)
	some := len(out)
	for i := range c.items {
		if n := strconv.Itoa(i + 1); part == "" || part == n {
			out = c.items[i].resource(wire.Comma(out), raw, address(k.id, n))
		}
	}
	if c.structured.Present() && (part == "" || part == "structured") {
		o := wire.NewObject(wire.Comma(out)).Text("uri", address(k.id, "structured")).Text("mimeType", "application/json")
		out = o.Text("text", string(raw[c.structured.Start:c.structured.End])).End()
	}
	if len(out) == some && part != "" {
		return nil, fmt.Errorf("the kept result %s has no part %q", k.id, foreign.NewName(part))
	}
	return append(out, `]}`...), nil
}

// resource appends a piece as the contents of a resource.
func (it *item) resource(out, raw []byte, uri string) []byte {
	o := wire.NewObject(out).Text("uri", uri)
	switch {
	case it.isText():
		o = o.Raw("text", raw[it.text.Start:it.text.End])
	case it.text.Present():
		o = o.Raw("blob", raw[it.text.Start:it.text.End])
	default:
		return o.Text("mimeType", "application/json").Text("text", string(bytes.TrimSpace(raw[it.at.Start:it.at.End]))).End()
	}
	switch {
	case it.mime.Present():
		o = o.Raw("mimeType", raw[it.mime.Start:it.mime.End])
	case it.isText():
		o = o.Text("mimeType", "text/plain")
	}
	return o.End()
}
