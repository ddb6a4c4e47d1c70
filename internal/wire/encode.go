package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// NewEncoder writes values as lines of JSON without the escapes that only HTML wants: texts are read by people and by
// models.
func NewEncoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// Encode gives a value as NewEncoder writes it, without the end of its line.
func Encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := NewEncoder(&b).Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// MustEncode is Encode for a value of our own, of which what is raw was checked when it was read.
func MustEncode(v any) json.RawMessage {
	b, err := Encode(v)
	if err != nil {
		panic(fmt.Sprintf("%T is no JSON: %v", v, err))
	}
	return b
}
