package results

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// Tool is the name of the tool that reads on.
const Tool = "workbench_read_result"

// Images says what becomes of the images of a large result.
type Images string

// What becomes of images.
const (
	PassImages  Images = "pass"  // they stay as they are, and do not count
	ScaleImages Images = "scale" // they are made smaller, where they are large
	LinkImages  Images = "link"  // a link takes their place
)

// Wish is what is to become of a result.
type Wish struct {
	Over   int    // from how many tokens of four bytes on it is large
	Images Images // "" is PassImages
	Name   string // of the tool whose result it is, for the preview
	Links  bool   // the client knows links to resources
}

// Bounds of a preview, in bytes; together with what stands around them they are less than 2,000 tokens.
const (
	headLength   = 4000
	othersLength = 1000
)

// Preview keeps the result at in if it is larger than is wished, and gives what is to take its place. It gives nil for
// a result that is not, or is none of a tool, and with an error for one that cannot be kept.
func (s *Shelf) Preview(raw []byte, in wire.Span, wish Wish) ([]byte, error) {
	if in.End-in.Start <= 4*wish.Over {
		return nil, nil
	}
	c, ok := readContent(raw, in)
	if !ok {
		return nil, nil
	}
	large := c.size
	if wish.Images == LinkImages {
		large += c.images
	}
	isLarge := large > 4*wish.Over
	if !isLarge && (wish.Images != ScaleImages || c.images == 0) {
		return nil, nil
	}
	doc := c.document()
	k, err := s.put(doc, raw[in.Start:in.End])
	if err != nil {
		return nil, err
	}
	out := []byte(`{"content":[`)
	if isLarge {
		out = AppendText(out, c.told(k, doc, wish))
		if head := head(doc); len(head) > 0 {
			out = AppendText(append(out, ','), string(head))
		}
		if wish.Links {
			out = link(append(out, ','), k.id, "", "result of "+wish.Name, nil, k.raw)
		}
	}
	room, left := othersLength, mostBytes
	for i := range c.items {
		it := &c.items[i]
		piece := raw[it.at.Start:it.at.End]
		switch {
		case it.kind == "image" && wish.Images == ScaleImages:
			piece = scaled(raw, it, &left)
		case it.kind == "image" && wish.Images != LinkImages, !isLarge:
		case it.isText():
			continue
		case it.kind == "image" || it.kind == "audio" || it.kind == "resource":
			if !wish.Links {
				continue
			}
			var mime []byte
			if it.mime.Present() && it.mime.End-it.mime.Start < 100 {
				mime = raw[it.mime.Start:it.mime.End]
			}
			piece = link(nil, k.id, strconv.Itoa(i+1), it.kind+" in the result", mime, int64(max(0, it.text.End-it.text.Start-len(`""`)))*3/4)
			fallthrough
		default:
			if room -= len(piece); room < 0 {
				continue
			}
		}
		out = append(wire.Comma(out), piece...)
	}
	out = append(out, ']')
	if c.structured.Present() && !isLarge {
		out = append(append(out, `,"structuredContent":`...), raw[c.structured.Start:c.structured.End]...)
	}
	for _, member := range c.kept {
		out = append(append(out, ','), raw[member.Start:member.End]...)
	}
	return append(out, '}'), nil
}

// told is what a preview says of the result besides how it begins.
func (c *content) told(k *kept, doc []byte, wish Wish) string {
	const more = ", and \"page\": 2 for more of each.\n"
	var b strings.Builder
	fmt.Fprintf(&b, "workbench: the result of %s is too large to show: %d bytes, about %d tokens. It is kept as %s until the session ends.\n",
		wish.Name, k.raw, k.raw/4, address(k.id, ""))
	switch {
	case len(doc) == 0:
		fmt.Fprintf(&b, "It has no text that %s could show.\n", Tool)
	case k.json:
		fmt.Fprintf(&b, "Shape: %s\n", shape(doc))
		fmt.Fprintf(&b, "Read on with %s: {\"id\": %q, \"path\": \"$.…\"} (JSONPath), or \"grep\": \"…\" (a regular expression), or \"lines\": \"1-50\" (of %d)"+more, Tool, k.id, k.lines)
	default:
		fmt.Fprintf(&b, "Read on with %s: {\"id\": %q, \"lines\": \"1-50\"} (of %d), or \"grep\": \"…\" (a regular expression)"+more, Tool, k.id, k.lines)
	}
	var others []string
	first := 0
	counts := make(map[string]int)
	for i := range c.items {
		if it := &c.items[i]; !it.isText() {
			switch it.kind {
			case "image", "audio", "resource", "resource_link":
				if counts[it.kind]++; first == 0 {
					first = i + 1
				}
			}
		}
	}
	for _, kind := range []string{"image", "audio", "resource", "resource_link"} {
		if n := counts[kind]; n > 0 {
			others = append(others, fmt.Sprintf("%d × %s", n, kind))
		}
	}
	if others != nil {
		fmt.Fprintf(&b, "It has %s; each is a resource, the first of them %s.\n", strings.Join(others, ", "), address(k.id, strconv.Itoa(first)))
	}
	if c.structured.Present() {
		b.WriteString("Its structuredContent is left out here.\n")
	}
	if len(doc) > 0 {
		b.WriteString("It begins:")
	}
	return b.String()
}

// head is how a text begins.
func head(doc []byte) []byte {
	if len(doc) <= headLength {
		return doc
	}
	end := headLength
	// What is escaped in the reply takes more room there.
	for cost, i := 0, 0; i < end; i++ {
		if cost++; doc[i] == '"' || doc[i] == '\\' || doc[i] == '\n' || doc[i] == '\t' {
			cost++
		} else if doc[i] < ' ' {
			cost += 5
		}
		if cost >= headLength {
			end = i
		}
	}
	for end > 0 && !utf8.RuneStart(doc[end]) {
		end--
	}
	if line := bytes.LastIndexByte(doc[:end], '\n'); line > end/2 {
		end = line
	}
	return doc[:end]
}

// AppendText appends an item of content that is a text.
func AppendText(dst []byte, text string) []byte {
	return wire.NewObject(dst).Text("type", "text").Text("text", text).End()
}
