package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"
)

// A jsonReader makes nodes of a JSON document. encoding/json knows offsets
// only; lines and columns are counted along as the offsets grow.
type jsonReader struct {
	data   []byte
	dec    *json.Decoder
	faults *Faults
	nodes  int

	counted      int // data[:counted] is counted in line and column
	line, column int
}

// readJSON parses data. Broken JSON is one fault, and then there is no node.
func readJSON(data []byte, fs *Faults) *Node {
	r := &jsonReader{data: data, faults: fs, line: 1, column: 1}
	if !utf8.Valid(data) {
		at := 0
		for c, n := utf8.DecodeRune(data); c != utf8.RuneError || n > 1; c, n = utf8.DecodeRune(data[at:]) {
			at += n
		}
		r.advance(at)
		fs.Add(&Node{Line: r.line, Column: r.column}, "", "not valid JSON: this is not UTF-8")
		return nil
	}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		r.syntax(err)
		return nil
	}
	r.dec = json.NewDecoder(bytes.NewReader(data))
	r.dec.UseNumber()
	n, err := r.value(0)
	if err != nil {
		fs.Add(n, "", "%v", err)
		return nil
	}
	return n
}

// syntax adds the fault of a document that is no JSON.
func (r *jsonReader) syntax(err error) {
	if len(bytes.TrimSpace(r.data)) == 0 {
		r.faults.Add(&Node{Line: 1, Column: 1}, "", "the file is empty")
		return
	}
	offset := len(r.data)
	var bad *json.SyntaxError
	if errors.As(err, &bad) {
		// Offset counts the bytes read, the offending one included.
		offset = max(0, int(bad.Offset)-1)
	}
	r.advance(offset)
	r.faults.Add(&Node{Line: r.line, Column: r.column}, "", "not valid JSON: %v", err)
}

// advance counts lines and columns up to offset, which never decreases.
func (r *jsonReader) advance(offset int) {
	offset = min(offset, len(r.data))
	for r.counted < offset {
		c := r.data[r.counted]
		switch {
		case c == '\n':
			r.line, r.column = r.line+1, 1
		case c < utf8.RuneSelf || utf8.RuneStart(c):
			r.column++
		}
		r.counted++
	}
}

var (
	errDeep = errors.New("nested deeper than " + strconv.Itoa(maxDepth) + " levels")
	errMany = errors.New("more than " + strconv.Itoa(maxNodes) + " values")
)

// next reads a token and returns it with a Node that stands at its place.
func (r *jsonReader) next() (json.Token, *Node, error) {
	// Between two tokens stand only white space, commas and colons.
	at := int(r.dec.InputOffset())
	for at < len(r.data) && bytes.IndexByte([]byte(" \t\r\n,:"), r.data[at]) >= 0 {
		at++
	}
	r.advance(at)
	n := &Node{Line: r.line, Column: r.column}
	token, err := r.dec.Token()
	return token, n, err
}

// value reads one value. On an error the Node only says where.
func (r *jsonReader) value(depth int) (*Node, error) {
	token, n, err := r.next()
	if err != nil {
		return n, err
	}
	if depth > maxDepth {
		return n, errDeep
	}
	if r.nodes++; r.nodes > maxNodes {
		return n, errMany
	}
	switch t := token.(type) {
	case bool:
		n.Kind, n.Value = Boolean, strconv.FormatBool(t)
	case json.Number:
		n.Kind, n.Value = Number, t.String()
	case string:
		n.Kind, n.Value = Text, t
	case json.Delim:
		if t == '[' {
			return r.array(n, depth)
		}
		return r.object(n, depth)
	}
	return n, nil
}

func (r *jsonReader) array(n *Node, depth int) (*Node, error) {
	n.Kind = Array
	for r.dec.More() {
		item, err := r.value(depth + 1)
		if err != nil {
			return item, err
		}
		n.Items = append(n.Items, item)
	}
	_, _, err := r.next() // the bracket
	return n, err
}

func (r *jsonReader) object(n *Node, depth int) (*Node, error) {
	n.Kind = Object
	seen := map[string]bool{}
	for r.dec.More() {
		token, at, err := r.next()
		if err != nil {
			return at, err
		}
		key, ok := token.(string)
		if !ok {
			return at, io.ErrUnexpectedEOF
		}
		value, err := r.value(depth + 1)
		if err != nil {
			return value, err
		}
		if seen[key] {
			r.faults.Add(at, "", "key %q occurs twice in the same object", key)
		}
		seen[key] = true
		n.Members = append(n.Members, Member{Key: key, Line: at.Line, Column: at.Column, Value: value})
	}
	_, _, err := r.next() // the brace
	return n, err
}
