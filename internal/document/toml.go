package document

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// A tomlReader makes nodes of a TOML document. A value stands where its key does, or the first value of its array.
type tomlReader struct {
	parser       unstable.Parser
	data         []byte
	counted      int
	line, column int
}

// readTOML parses data. TOML that cannot be read is one fault, and then there is no node.
func readTOML(data []byte, fs *Faults) *Node {
	var whole map[string]any
	if err := toml.Unmarshal(data, &whole); err != nil { // also what the parser below does not see, such as a key twice
		at := &Node{Line: 1, Column: 1}
		var bad *toml.DecodeError
		if errors.As(err, &bad) {
			at.Line, at.Column = bad.Position()
		}
		fs.Add(at, "", "not valid TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
		return nil
	}
	r := &tomlReader{data: data, line: 1, column: 1}
	r.parser.Reset(data)
	root := &Node{Kind: Object, Line: 1, Column: 1}
	table := root
	for r.parser.NextExpression() {
		e := r.parser.Expression()
		switch e.Kind {
		case unstable.Table:
			table = r.reach(root, e.Key())
		case unstable.ArrayTable:
			array := r.reach(root, e.Key())
			array.Kind = Array
			table = &Node{Kind: Object, Line: r.line, Column: r.column}
			array.Items = append(array.Items, table)
		case unstable.KeyValue:
			r.member(table, e)
		}
	}
	if err := r.parser.Error(); err != nil {
		fs.Add(&Node{Line: r.line, Column: 1}, "", "not valid TOML: %v", err)
		return nil
	}
	return root
}

// member puts a pair into an object.
func (r *tomlReader) member(object *Node, pair *unstable.Node) {
	at := r.reach(object, pair.Key())
	value := r.value(pair.Value())
	at.Kind, at.Value, at.Items, at.Members = value.Kind, value.Value, value.Items, value.Members
}

// reach returns the value that a key with dots leads to, made as an object where it is missing.
func (r *tomlReader) reach(object *Node, key unstable.Iterator) *Node {
	for key.Next() {
		r.advance(int(key.Node().Raw.Offset))
		if object.Kind == Array { // of tables, of which the last is meant
			object = object.Items[len(object.Items)-1]
		}
		name := string(key.Node().Data)
		next := object.Get(name)
		if next == nil {
			next = &Node{Kind: Object, Line: r.line, Column: r.column}
			object.Members = append(object.Members, Member{Key: name, Line: r.line, Column: r.column, Value: next})
		}
		object = next
	}
	return object
}

func (r *tomlReader) value(v *unstable.Node) *Node {
	if v.Raw.Length > 0 {
		r.advance(int(v.Raw.Offset))
	}
	n := &Node{Kind: Text, Value: string(v.Data), Line: r.line, Column: r.column}
	switch v.Kind {
	case unstable.Bool:
		n.Kind = Boolean
	case unstable.Integer, unstable.Float:
		n.Kind, n.Value = tomlNumber(n.Value)
	case unstable.Array:
		n.Kind, n.Value = Array, ""
		for it := v.Children(); it.Next(); {
			if it.Node().Kind != unstable.Comment {
				n.Items = append(n.Items, r.value(it.Node()))
			}
		}
	case unstable.InlineTable:
		n.Kind, n.Value = Object, ""
		for it := v.Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue {
				r.member(n, it.Node())
			}
		}
	}
	return n
}

// tomlNumber gives a number as JSON writes it; infinity and the like stay text.
func tomlNumber(literal string) (Kind, string) {
	var number struct{ N any }
	if err := toml.Unmarshal([]byte("N = "+literal), &number); err != nil {
		return Text, literal
	}
	text := fmt.Sprint(number.N)
	if strings.ContainsAny(text, "nN") { // Inf, NaN
		return Text, literal
	}
	return Number, text
}

// advance counts lines and columns up to offset; what is before the last place keeps that.
func (r *tomlReader) advance(offset int) {
	count := jsonReader{data: r.data, counted: r.counted, line: r.line, column: r.column}
	count.advance(offset)
	r.counted, r.line, r.column = count.counted, count.line, count.column
}
