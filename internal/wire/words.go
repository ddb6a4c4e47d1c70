package wire

import "strconv"

// Get gives the value at a path in the object at in, as [FindPath] finds it; nil where there is none, or none for certain.
func Get(raw []byte, in Span, path ...string) []byte {
	at, err := FindPath(raw, in, path...)
	if err != nil || !at.Present() {
		return nil
	}
	return raw[at.Start:at.End:at.End]
}

// Text gives the string at a path in the object at in; ok is false where there is none.
func Text(raw []byte, in Span, path ...string) (text string, ok bool) {
	return Unquote(Get(raw, in, path...))
}

// Get gives the value at a path in a part of the message, as the function of that name does.
func (m *Message) Get(in Span, path ...string) []byte { return Get(m.Raw, in, path...) }

// Text gives the string at a path in a part of the message, as the function of that name does.
func (m *Message) Text(in Span, path ...string) (text string, ok bool) {
	return Text(m.Raw, in, path...)
}

// Object is a JSON object that is being written behind what its bytes begin with. The names of its members are constants
// that need no escapes.
type Object []byte

// NewObject begins an object behind dst.
func NewObject(dst []byte) Object { return append(dst, '{') }

// Raw adds a member whose value is JSON.
func (o Object) Raw(name string, value []byte) Object { return append(o.member(name), value...) }

// Text adds a member that is a string.
func (o Object) Text(name, value string) Object { return AppendQuote(o.member(name), value) }

// Int adds a member that is a whole number.
func (o Object) Int(name string, value int64) Object {
	return strconv.AppendInt(o.member(name), value, 10)
}

// End ends the object.
func (o Object) End() []byte { return append(o, '}') }

func (o Object) member(name string) []byte {
	if o[len(o)-1] != '{' {
		o = append(o, ',')
	}
	return append(append(append(o, '"'), name...), `":`...)
}
