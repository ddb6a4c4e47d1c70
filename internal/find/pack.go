package find

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
)

// packed are entries as bytes, each as its parts with their lengths: nearly none of them is ever told of.
type packed struct {
	text []byte
	at   []uint32 // where each begins
}

// pack makes them with the help of a buffer, which it gives back.
func pack(entries []Entry, buffer []byte) (packed, []byte) {
	at := make([]uint32, len(entries))
	buffer = buffer[:0]
	for i := range entries {
		at[i] = uint32(len(buffer))
		buffer = entries[i].appendTo(buffer)
	}
	return packed{bytes.Clone(buffer), at}, buffer
}

// appendTo appends the parts that are told of.
func (e *Entry) appendTo(dst []byte) []byte {
	dst = appendParts(dst, e.Kind, e.Name, e.Title, e.Description, e.URI)
	return appendParts(dst, e.Schema, e.Output)
}

// appendParts appends texts with their lengths, so that no two lists of texts are written alike.
func appendParts[part string | json.RawMessage](dst []byte, parts ...part) []byte {
	for _, p := range parts {
		dst = append(binary.AppendUvarint(dst, uint64(len(p))), p...)
	}
	return dst
}

// entry gives an entry, but what people say when they want it.
func (p *packed) entry(i int32) Entry {
	rest := p.text[p.at[i]:]
	next := func() []byte {
		n, size := binary.Uvarint(rest)
		part := rest[size : size+int(n) : size+int(n)]
		rest = rest[size+int(n):]
		return part
	}
	return Entry{Kind: string(next()), Name: string(next()), Title: string(next()), Description: string(next()), URI: string(next()),
		Schema: json.RawMessage(next()), Output: json.RawMessage(next())}
}
