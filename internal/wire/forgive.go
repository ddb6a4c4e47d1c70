package wire

import (
	"bytes"
	"errors"
)

// Forgive scans a message again that [Scan] refused with err, without the members that are null where JSON-RPC wants
// them left out: params, method, result or error, or the id of a notification. Serializers of some languages write them,
// and most clients and servers take no notice. m then holds a copy of raw without them. The error is err where that is
// not what was wrong.
func Forgive(raw []byte, m *Message, err error) error {
	if bad, ok := errors.AsType[*Error](err); !ok || bad.Code != CodeInvalidRequest || !bytes.Contains(raw, []byte("null")) {
		return err
	}
	isNull := func(value Span) bool { return string(raw[value.Start:value.End]) == "null" }
	said, in := make(map[string]Span), Span{space(raw, 0), len(raw)}
	for name, value := range Members(raw, in) {
		key := string(raw[name.Start+1 : name.End-1])
		if _, twice := said[key]; twice {
			return err
		}
		said[key] = value
	}
	has := func(key string) bool { return said[key].Present() && !isNull(said[key]) }
	method := said["method"]
	superfluous := map[string]bool{
		"params": true, "method": true, "error": true,
		"result": has("error") || has("method"), // otherwise null is the result
		"id":     bytes.HasPrefix(raw[method.Start:method.End], []byte(`"notifications/`)),
	}
	again := NewObject(nil)
	for name, value := range Members(raw, in) {
		if key := string(raw[name.Start+1 : name.End-1]); !superfluous[key] || !isNull(value) {
			again = again.Raw(key, raw[value.Start:value.End])
		}
	}
	forgiven := new(Message)
	if Scan(again.End(), forgiven) != nil {
		return err
	}
	*m = *forgiven
	return nil
}
