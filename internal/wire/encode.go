package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Encode gives a value as JSON without the escapes that only HTML wants: texts are read by people and by models.
func Encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
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
