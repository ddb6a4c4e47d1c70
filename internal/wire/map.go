package wire

import "slices"

// MapMembers gives the object at in with what becomes of the values of its members: of is given the token of a name and
// where the value stands, and nil leaves the member out. An object that stays as it is comes back as its own bytes. nil
// says that there is no object at in. raw is as in [Find].
func MapMembers(raw []byte, in Span, of func(name []byte, value Span) []byte) []byte {
	if !isObject(raw, in) {
		return nil
	}
	m := mapping{raw: raw, begin: in.Start, same: in.Start + 1}
	for key, val := range Members(raw, in) {
		name := raw[key.Start:key.End]
		if value := of(name, val); m.changes(value, val) && value != nil {
			m.out = AppendMember(m.out, name, value)
		}
	}
	return m.end(in, '}')
}

// MapElements gives the array at in with what becomes of its elements, as MapMembers does.
func MapElements(raw []byte, in Span, of func(element Span) []byte) []byte {
	if !in.Present() || raw[in.Start] != '[' {
		return nil
	}
	m := mapping{raw: raw, begin: in.Start, same: in.Start + 1}
	for e := range Elements(raw, in) {
		if value := of(e); m.changes(value, e) && value != nil {
			m.out = append(Comma(m.out), value...)
		}
	}
	return m.end(in, ']')
}

// IsSame reports whether a value is what stands at in, and not only like it.
func IsSame(value, raw []byte, in Span) bool {
	return len(value) == in.End-in.Start && len(value) > 0 && &value[0] == &raw[in.Start]
}

// mapping copies an object or array from the first value on that is another.
type mapping struct {
	raw         []byte
	begin, same int    // where it begins, and where the last value ends that is as it was
	out         []byte // nil as long as all are
}

// changes reports whether what becomes of the value at in belongs into out.
func (m *mapping) changes(value []byte, in Span) bool {
	if m.out == nil {
		if IsSame(value, m.raw, in) {
			m.same = in.End
			return false
		}
		m.out = slices.Clone(m.raw[m.begin:m.same])
	}
	return true
}

func (m *mapping) end(in Span, last byte) []byte {
	if m.out == nil {
		return m.raw[in.Start:in.End:in.End]
	}
	return append(m.out, last)
}
