package wire

// ID returns the token of the message's top-level id if it can be told from the
// ends of the line, which is so when everything before or behind the id is
// short; otherwise nil.
func (e *TooLongError) ID() []byte {
	id := e.edges("id")
	if len(id) == 0 || id[0] != '"' && id[0] != '-' && (id[0] < '0' || id[0] > '9') {
		return nil
	}
	return id
}

// Method returns the message's method if it can be told likewise, or "".
func (e *TooLongError) Method() string {
	s, _ := Unquote(e.edges("method"))
	return s
}

// Kind returns Request where method and id are known, Result or Failure where
// the message has a member of that name, and Invalid where it cannot be told.
func (e *TooLongError) Kind() Kind {
	switch {
	case e.Method() != "" && e.ID() != nil:
		return Request
	case e.has("result"):
		return Result
	case e.has("error"):
		return Failure
	}
	return Invalid
}

func (e *TooLongError) edges(name string) []byte {
	var found []byte
	e.members(func(key, val []byte) {
		if string(key) == name && val != nil && found == nil {
			found = val
		}
	})
	return found
}

func (e *TooLongError) has(name string) bool {
	found := false
	e.members(func(key, val []byte) {
		found = found || string(key) == name
	})
	return found
}

// members yields the top-level members that Head shows whole; of the last one,
// only the name is known.
func (e *TooLongError) members(yield func(key, val []byte)) {
	b := e.Head
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return
	}
	for i = space(b, i+1); i < len(b) && b[i] == '"'; {
		end, f := text(b, i+1)
		if f != faultNone {
			return
		}
		name := b[i+1 : end-1]
		i = space(b, end)
		if i >= len(b) || b[i] != ':' {
			return
		}
		i = space(b, i+1)
		end, f = value(b, i, 1)
		next := space(b, end)
		if f != faultNone || next >= len(b) || b[next] != ',' {
			yield(name, nil)
			return
		}
		yield(name, b[i:end])
		i = space(b, next+1)
	}
}
