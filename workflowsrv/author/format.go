package author

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/mcp-workbench/workbench/internal/document"
)

// Format writes a file anew with one layout: two spaces for each level, a line at the end. Keys keep their order, and
// comments of YAML their places. A file that would lose its meaning or a comment is refused.
func Format(isYAML bool, data []byte) ([]byte, error) {
	text, err := format(isYAML, data)
	if err != nil {
		return nil, err
	}
	name := map[bool]string{false: "f.json", true: "f.yaml"}[isYAML]
	before, after := document.Read(name, data, new(document.Faults)), document.Read(name, text, new(document.Faults))
	if before == nil || after == nil || !bytes.Equal(before.AppendJSON(nil), after.AppendJSON(nil)) {
		return nil, errors.New("the file cannot be formatted without changing its meaning")
	}
	if !isYAML {
		return text, nil
	}
	// yaml.v3 drops one of two comments that claim the same place, as after the last line of a list.
	for _, at := range commentText.FindAllSubmatchIndex(data, -1) {
		comment := bytes.TrimSpace(data[at[2]:at[3]])
		if bytes.Count(text, comment) >= bytes.Count(data, comment) {
			continue
		}
		without := document.Read(name, slices.Concat(data[:at[2]], data[at[3]:]), new(document.Faults))
		if without != nil && bytes.Equal(without.AppendJSON(nil), before.AppendJSON(nil)) { // otherwise it is part of a text
			return nil, fmt.Errorf("line %d: the comment %q would be lost; move it, or indent it like the lines around it",
				1+bytes.Count(data[:at[2]], []byte("\n")), comment)
		}
	}
	return text, nil
}

// A commentText is what follows a # in a line; in a quoted or longer text it may be no comment.
var commentText = regexp.MustCompile(`(?:^|\s)(#.*)`)

func format(isYAML bool, data []byte) ([]byte, error) {
	if data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")); !isYAML {
		var b bytes.Buffer
		if err := json.Indent(&b, bytes.TrimSpace(data), "", "  "); err != nil {
			return nil, err
		}
		return append(b.Bytes(), '\n'), nil
	}
	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("the file has more than one document")
	}
	return encodeYAML(&doc)
}

func encodeYAML(doc *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(doc), enc.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// ToYAML writes JSON as YAML in blocks, keys in their order.
func ToYAML(data []byte) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	unfold(&doc)
	return encodeYAML(&doc)
}

// unfold takes the braces and quotes of JSON from a node; what needs quotes gets them back when it is written.
func unfold(n *yaml.Node) {
	n.Style = 0
	for _, child := range n.Content {
		unfold(child)
	}
}
