package wire

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
