package document

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// A yamlReader makes nodes of a YAML document.
type yamlReader struct {
	faults *Faults
	nodes  int
	open   map[*yaml.Node]bool // aliases being expanded, to refuse cycles
}

// readYAML parses data. YAML that cannot be read is one fault, and then there is no node.
func readYAML(data []byte, fs *Faults) *Node {
	lines := &lineReader{rest: data}
	dec := yaml.NewDecoder(lines)
	var document yaml.Node
	if err := dec.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			fs.Add(&Node{Line: 1, Column: 1}, "", "the file is empty")
			return nil
		}
		addYAMLError(fs, data, lines.read, err)
		return nil
	}
	var second yaml.Node
	switch err := dec.Decode(&second); {
	case err == nil:
		fs.Add(&Node{Line: second.Line, Column: second.Column}, "", "the file holds more than one YAML document")
		return nil
	case !errors.Is(err, io.EOF):
		addYAMLError(fs, data, lines.read, err)
		return nil
	}
	r := &yamlReader{faults: fs, open: map[*yaml.Node]bool{}}
	n, err := r.value(document.Content[0], 0)
	if err != nil {
		fs.Add(n, "", "%v", err)
		return nil
	}
	return n
}

// A lineReader reads one line at a time, so that it is known how far a decoder has come.
type lineReader struct {
	rest []byte
	read int // lines, also in part
	half bool
}

func (r *lineReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	if !r.half {
		r.read++
	}
	n := len(r.rest)
	if end := bytes.IndexByte(r.rest, '\n'); end >= 0 {
		n = end + 1
	}
	n = copy(p, r.rest[:n])
	r.half = r.rest[n-1] != '\n'
	r.rest = r.rest[n:]
	return n, nil
}

// addYAMLError adds the fault of a text that is not YAML. read is how many lines the decoder has read.
func addYAMLError(fs *Faults, data []byte, read int, err error) {
	line, reason := yamlError(err)
	// The library says where the collection begins in which there is a mistake, or nothing.
	if line == 0 || strings.HasPrefix(reason, "did not find expected") {
		line = cmp.Or(firstUnsound(data, read), line, 1)
	}
	for _, a := range yamlAdvice {
		if strings.HasPrefix(reason, a.reason) {
			reason += "; " + a.advice
			break
		}
	}
	fs.Add(&Node{Line: line, Column: 1}, "", "not valid YAML: %s", reason)
}

// maxUnsound is how many bytes are read anew to find a line.
const maxUnsound = 2 << 20

// firstUnsound finds the line, up to the one that was read last, before which data is sound YAML and with which it is
// not; 0 if that costs too much.
func firstUnsound(data []byte, read int) int {
	var ends []int // of the lines before that
	for i, b := range data {
		if len(ends) == read-1 {
			break
		}
		if b == '\n' {
			ends = append(ends, i+1)
		}
	}
	for left := maxUnsound; len(ends) > 0; ends = ends[:len(ends)-1] {
		before := data[:ends[len(ends)-1]]
		if left -= len(before); left < 0 {
			return 0
		}
		dec := yaml.NewDecoder(bytes.NewReader(before))
		err := error(nil)
		for err == nil {
			err = dec.Decode(new(yaml.Node))
		}
		if errors.Is(err, io.EOF) {
			break
		}
	}
	return len(ends) + 1
}

const bracketAdvice = "close the bracket, and put quotes around a text in it that has :, brackets or commas"

// yamlAdvice is what to write instead, by the beginning of what the library says.
var yamlAdvice = []struct{ reason, advice string }{
	{"mapping values are not allowed", `put quotes around a text with ": " in it, and indent the keys of one object alike`},
	{"found character that cannot start any token", "indent with spaces, not tabs, and put quotes around a text that begins with @, ` or %"},
	{"found a tab character", "indent with spaces, not tabs"},
	{"found unknown escape character", `write \\ for a backslash in double quotes, or use single quotes`},
	{"did not find expected alphabetic", "put quotes around a text that begins with * or &"},
	{"unknown anchor", "put quotes around a text that begins with *"},
	{"did not find expected ',' or", bracketAdvice},
	{"did not find expected node content", bracketAdvice},
	{"did not find expected", `put quotes around a text that begins with {, [, " or ', and indent what belongs together alike`},
	{"could not find expected ':'", "a key is followed by a colon and a space; indent the further lines of a text"},
	{"found unexpected end of stream", "a quote is not closed"},
}

// yamlError takes the line out of the text of a YAML error, the only place where the library tells it; 0 if it does not.
func yamlError(err error) (line int, reason string) {
	reason = strings.TrimPrefix(err.Error(), "yaml: ")
	rest, ok := strings.CutPrefix(reason, "line ")
	if !ok {
		return 0, reason
	}
	digits, rest, ok := strings.Cut(rest, ": ")
	line, err = strconv.Atoi(digits)
	if !ok || err != nil {
		return 0, reason
	}
	return line, rest
}

// value converts y. On an error the Node only says where.
func (r *yamlReader) value(y *yaml.Node, depth int) (*Node, error) {
	n := &Node{Line: y.Line, Column: y.Column}
	if depth > maxDepth {
		return n, errDeep
	}
	if r.nodes++; r.nodes > maxNodes {
		return n, errMany
	}
	switch y.Kind {
	case yaml.AliasNode:
		if r.open[y.Alias] {
			return n, errors.New("the alias *" + y.Value + " contains itself")
		}
		r.open[y.Alias] = true
		defer delete(r.open, y.Alias)
		target, err := r.value(y.Alias, depth)
		if err != nil {
			return n, err
		}
		at := *target
		at.Line, at.Column = y.Line, y.Column
		return &at, nil
	case yaml.SequenceNode:
		n.Kind = Array
		for _, item := range y.Content {
			v, err := r.value(item, depth+1)
			if err != nil {
				return v, err
			}
			n.Items = append(n.Items, v)
		}
		return n, nil
	case yaml.MappingNode:
		return r.mapping(n, y, depth)
	}
	return r.scalar(n, y)
}

func (r *yamlReader) mapping(n *Node, y *yaml.Node, depth int) (*Node, error) {
	n.Kind = Object
	seen := map[string]bool{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := y.Content[i]
		at := &Node{Line: key.Line, Column: key.Column}
		switch {
		case key.Kind == yaml.MappingNode:
			return at, errors.New("keys must be plain strings; put quotes around a text that begins with {")
		case key.Kind != yaml.ScalarNode:
			return at, errors.New("keys must be plain strings")
		case key.ShortTag() == "!!merge":
			return at, errors.New("the merge key << is not for this file; use an alias for a whole value, or write the keys out")
		}
		value, err := r.value(y.Content[i+1], depth+1)
		if err != nil {
			return value, err
		}
		if seen[key.Value] {
			r.faults.Add(at, "", "key %q occurs twice in the same object", key.Value)
		}
		seen[key.Value] = true
		n.Members = append(n.Members, Member{Key: key.Value, Line: key.Line, Column: key.Column, Value: value})
	}
	return n, nil
}

var errTag = errors.New("the value does not fit its tag")

// scalar converts a plain or quoted scalar by the tag that YAML gives it. What JSON has no type for, such as a date,
// stays the text that is written.
func (r *yamlReader) scalar(n *Node, y *yaml.Node) (*Node, error) {
	n.Kind, n.Value = Text, y.Value
	switch y.ShortTag() {
	case "!!null":
		n.Kind, n.Value = Null, ""
	case "!!bool":
		var b bool
		if err := y.Decode(&b); err != nil {
			return n, errTag // its own text quotes the value
		}
		n.Kind, n.Value = Boolean, strconv.FormatBool(b)
	case "!!int", "!!float":
		n.Kind = Number
		if json.Valid([]byte(y.Value)) {
			return n, nil
		}
		var f float64
		if err := y.Decode(&f); err != nil {
			return n, errTag
		}
		if math.IsInf(f, 0) || math.IsNaN(f) {
			return n, errors.New("the number " + y.Value + " has no JSON form")
		}
		n.Value = strconv.FormatFloat(f, 'g', -1, 64)
	case "!!str", "!!timestamp", "!!binary":
	default:
		return n, errors.New("the tag " + strconv.Quote(y.Tag) + " has no JSON form; put quotes around a text that begins with !")
	}
	return n, nil
}
