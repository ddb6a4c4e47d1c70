package wire

import "strconv"

// Get gives the value at a path in the object at in, as [FindPath] finds it; nil where there is none, or none for
// certain.
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

// Object is a JSON object that is being written behind what its bytes begin with. The names of its members are
// constants that need no escapes.
type Object []byte

// NewObject begins an object behind dst.
func NewObject(dst []byte) Object { return append(dst, '{') }

// Member begins a member, whose value is to be appended as JSON.
func (o Object) Member(name string) []byte {
	if o[len(o)-1] != ',' {
		o = Comma(o)
	}
	return append(append(append(o, '"'), name...), `":`...)
}

// Raw adds a member whose value is JSON.
func (o Object) Raw(name string, value []byte) Object { return append(o.Member(name), value...) }

// Text adds a member that is a string.
func (o Object) Text(name, value string) Object { return AppendQuote(o.Member(name), value) }

// Int adds a member that is a whole number.
func (o Object) Int(name string, value int64) Object {
	return strconv.AppendInt(o.Member(name), value, 10)
}

// True adds a member that is true.
func (o Object) True(name string) Object { return append(o.Member(name), "true"...) }

// End ends the object.
func (o Object) End() []byte { return append(o, '}') }

// Comma appends a comma to a JSON array or object that is being written, unless nothing is in it yet.
func Comma(dst []byte) []byte {
	if last := dst[len(dst)-1]; last != '[' && last != '{' {
		dst = append(dst, ',')
	}
	return dst
}

// AppendMember appends a member to a JSON object that is being written. The name, a string, and the value are JSON.
func AppendMember(object, name, value []byte) []byte {
	return append(append(append(Comma(object), name...), ':'), value...)
}

// AppendRequest appends a request. The id and the params are JSON; empty params are left out.
func AppendRequest(dst []byte, id, method string, params []byte) []byte {
	return appendCall(NewObject(dst).Text("jsonrpc", "2.0").Raw("id", []byte(id)), method, params)
}

// AppendNotification appends a notification. The params are JSON; empty params are left out.
func AppendNotification(dst []byte, method string, params []byte) []byte {
	return appendCall(NewObject(dst).Text("jsonrpc", "2.0"), method, params)
}

func appendCall(o Object, method string, params []byte) []byte {
	o = o.Text("method", method)
	if len(params) > 0 {
		o = o.Raw("params", params)
	}
	return o.End()
}
