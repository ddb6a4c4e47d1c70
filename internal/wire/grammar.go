package wire

// fault is what breaks the grammar of a message.
type fault uint8

const (
	faultNone fault = iota
	faultEnd
	faultTrailing
	faultValue
	faultKey
	faultColon
	faultComma
	faultNumber
	faultLiteral
	faultEscape
	faultControl
	faultUTF8
	faultDepth
)

func (f fault) String() string {
	return [...]string{
		faultNone:     "no fault",
		faultEnd:      "message ends too soon",
		faultTrailing: "something comes after the message",
		faultValue:    "expected a value",
		faultKey:      "expected a member name",
		faultColon:    "expected a colon",
		faultComma:    "expected a comma or the end",
		faultNumber:   "malformed number",
		faultLiteral:  "malformed literal",
		faultEscape:   "malformed escape",
		faultControl:  "control character in a string",
		faultUTF8:     "invalid UTF-8",
		faultDepth:    "nested too deep",
	}[f]
}

// space returns the position of the first byte from i on that is not white space.
func space(b []byte, i int) int {
	const white uint64 = 1<<' ' | 1<<'\t' | 1<<'\n' | 1<<'\r'
	for i < len(b) && b[i] <= ' ' && white>>b[i]&1 != 0 {
		i++
	}
	return i
}

// value checks the value that starts at i, depth levels below the top. It returns where the value ends or where its
// fault lies.
func value(b []byte, i, depth int) (int, fault) {
	if i < len(b) && (b[i] == '{' || b[i] == '[') {
		if end, ok := blocks(b, i, depth); ok {
			return end, faultNone
		}
	}
	return walk(b, i, depth)
}

// walk is value, byte by byte, on any processor. It is what decides: what blocks does not take is judged here, and a
// test holds blocks to it.
func walk(b []byte, i, depth int) (int, fault) {
	var objects [MaxDepth / 64]uint64 // a bit per level: whether an object is open there
	var f fault
	base := depth
	object := false
	for {
		// A value is expected at i.
		if i < len(b) && (b[i] == '{' || b[i] == '[') {
			if depth == MaxDepth {
				return i, faultDepth
			}
			closing := b[i] + 2
			object = closing == '}'
			objects[depth/64] &^= 1 << (depth % 64)
			if object {
				objects[depth/64] |= 1 << (depth % 64)
			}
			depth++
			if i = space(b, i+1); i == len(b) || b[i] != closing {
				if object {
					if _, i, f = key(b, i); f != faultNone {
						return i, f
					}
				}
				continue
			}
		} else if i, f = scalar(b, i); f != faultNone {
			return i, f
		}
		// A value has ended at i, or an empty one is about to.
		for {
			if depth == base {
				return i, faultNone
			}
			if i = space(b, i); i == len(b) {
				return i, faultEnd
			}
			if b[i] == ',' {
				break
			}
			if object && b[i] != '}' || !object && b[i] != ']' {
				return i, faultComma
			}
			i++
			if depth--; depth > base {
				object = objects[(depth-1)/64]>>((depth-1)%64)&1 == 1
			}
		}
		i = space(b, i+1)
		if object {
			if _, i, f = key(b, i); f != faultNone {
				return i, f
			}
		}
	}
}

// key checks the member name at i and its colon. It returns where the name ends and where the value starts, or where
// the fault lies.
func key(b []byte, i int) (end, next int, f fault) {
	if i >= len(b) {
		return i, i, faultEnd
	}
	if b[i] != '"' {
		return i, i, faultKey
	}
	if end, f = text(b, i+1); f != faultNone {
		return end, end, f
	}
	if i = space(b, end); i == len(b) {
		return end, i, faultEnd
	}
	if b[i] != ':' {
		return end, i, faultColon
	}
	return end, space(b, i+1), faultNone
}

// scalar checks the value at i, which is no object or array.
func scalar(b []byte, i int) (int, fault) {
	if i >= len(b) {
		return i, faultEnd
	}
	switch c := b[i]; c {
	case '"':
		return text(b, i+1)
	case 't':
		return literal(b, i, "true")
	case 'f':
		return literal(b, i, "false")
	case 'n':
		return literal(b, i, "null")
	default:
		if c == '-' || '0' <= c && c <= '9' {
			return number(b, i)
		}
	}
	return i, faultValue
}

func literal(b []byte, i int, word string) (int, fault) {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return i, faultLiteral
	}
	return i + len(word), faultNone
}

func number(b []byte, i int) (int, fault) {
	if b[i] == '-' {
		i++
	}
	start := i
	i = digits(b, i)
	if i == start || b[start] == '0' && i > start+1 {
		return start, faultNumber
	}
	if i < len(b) && b[i] == '.' {
		start = i + 1
		if i = digits(b, start); i == start {
			return i, faultNumber
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		start = i
		if i = digits(b, start); i == start {
			return i, faultNumber
		}
	}
	return i, faultNone
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}
