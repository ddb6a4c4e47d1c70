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
	parser unstable.Parser
	at     *cursor
}

// readTOML parses data. TOML that cannot be read is one fault, and then there is no node.
func readTOML(at *cursor, fs *Faults) *Node {
	var whole map[string]any
	if err := toml.Unmarshal(at.data, &whole); err != nil { // also what the parser below does not see, such as a key twice
		n := at.to(0)
		if bad, ok := errors.AsType[*toml.DecodeError](err); ok {
			n.Line, n.Column = bad.Position()
		}
		fs.Add(n, "", "not valid TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
		return nil
	}
	r := &tomlReader{at: at}
	r.parser.Reset(at.data)
	root := r.object()
	table := root
	for r.parser.NextExpression() {
		e := r.parser.Expression()
		switch e.Kind {
		case unstable.Table:
			table = r.reach(root, e.Key())
		case unstable.ArrayTable:
			array := r.reach(root, e.Key())
			array.Kind = Array
			table = r.object()
			array.Items = append(array.Items, table)
		case unstable.KeyValue:
			r.member(table, e)
		}
	}
	if err := r.parser.Error(); err != nil {
		fs.Add(&Node{Line: at.line, Column: 1}, "", "not valid TOML: %v", err)
		return nil
	}
	return root
}

// object returns an object without members that stands where the reader is.
func (r *tomlReader) object() *Node {
	return &Node{Kind: Object, Line: r.at.line, Column: r.at.column}
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
		r.at.to(int(key.Node().Raw.Offset))
		if object.Kind == Array { // of tables, of which the last is meant
			object = object.Items[len(object.Items)-1]
		}
		name := string(key.Node().Data)
		next := object.Get(name)
		if next == nil {
			next = r.object()
			object.Members = append(object.Members, Member{Key: name, Line: next.Line, Column: next.Column, Value: next})
		}
		object = next
	}
	return object
}

func (r *tomlReader) value(v *unstable.Node) *Node {
	if v.Raw.Length > 0 {
		r.at.to(int(v.Raw.Offset))
	}
	n := r.object()
	n.Kind, n.Value = Text, string(v.Data)
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
