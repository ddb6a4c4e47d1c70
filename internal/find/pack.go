package find

import (
	"encoding/binary"
	"encoding/json"
)

// packed are entries as bytes, each as its parts with their lengths: nearly none of them is ever told of.
type packed struct {
	text []byte
	at   []uint32 // where each begins
}

func pack(entries []Entry) packed {
	size := 0
	for i := range entries {
		for _, part := range entries[i].parts() {
			size += sizeOf(uint64(len(part))) + len(part)
		}
	}
	p := packed{make([]byte, 0, size), make([]uint32, len(entries))}
	for i := range entries {
		p.at[i] = uint32(len(p.text))
		for _, part := range entries[i].parts() {
			p.text = append(binary.AppendUvarint(p.text, uint64(len(part))), part...)
		}
	}
	return p
}

// parts are those that are told of.
func (e *Entry) parts() [7]string {
	return [...]string{e.Kind, e.Name, e.Title, e.Description, string(e.Schema), string(e.Output), e.URI}
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
	return Entry{Kind: string(next()), Name: string(next()), Title: string(next()), Description: string(next()),
		Schema: json.RawMessage(next()), Output: json.RawMessage(next()), URI: string(next())}
}
