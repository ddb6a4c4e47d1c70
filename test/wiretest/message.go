package wiretest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Message is one line, taken apart as far as its envelope. The pieces are the bytes that came.
type Message struct {
	Raw    []byte          // the line without its newline
	ID     json.RawMessage // nil where there is none; `null` where it says so
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *Error
}

// Error is the error object of a reply.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
	Raw     json.RawMessage `json:"-"` // the whole object as it came; ignored in a refusal that a test writes
}

// Error makes a refusal printable and usable as an error.
func (e *Error) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Message) }

// IsRequest reports whether the message asks for a reply.
func (m *Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsNotification reports whether the message is a notification of that method.
func (m *Message) IsNotification(method string) bool { return m.Method == method && m.ID == nil }

// IsReply reports whether the message answers the request with exactly that id token.
func (m *Message) IsReply(id string) bool { return m.Method == "" && string(m.ID) == id }

// Parse takes a line apart. It is stricter than encoding/json, which would overlook what a test must see: keys count in
// their exact case, and an envelope key that comes twice is an error.
func Parse(line []byte) (Message, error) {
	m := Message{Raw: line}
	members, err := envelope(line)
	if err != nil {
		return m, err
	}
	if version := string(members["jsonrpc"]); version != `"2.0"` {
		return m, fmt.Errorf("jsonrpc is %q, want \"2.0\"", version)
	}
	m.ID, m.Params, m.Result = members["id"], members["params"], members["result"]
	if raw, ok := members["method"]; ok {
		if err := json.Unmarshal(raw, &m.Method); err != nil {
			return m, fmt.Errorf("method: %w", err)
		}
	}
	if raw, ok := members["error"]; ok {
		if err := json.Unmarshal(raw, &m.Error); err != nil {
			return m, fmt.Errorf("error: %w", err)
		}
		if m.Error != nil { // an error that is null is none
			m.Error.Raw = raw
		}
	}
	return m, m.check()
}

// check refuses what JSON-RPC 2.0 does not know: a message is a request, a notification, or a reply with one outcome.
func (m *Message) check() error {
	outcomes := 0
	if m.Result != nil {
		outcomes++
	}
	if m.Error != nil {
		outcomes++
	}
	switch {
	case m.Method != "" && outcomes > 0:
		return errors.New("has a method and an outcome")
	case m.Method == "" && outcomes != 1:
		return fmt.Errorf("has no method and %d outcomes, want 1", outcomes)
	case m.Method == "" && m.ID == nil:
		return errors.New("is a reply without an id")
	}
	return nil
}

// envelope returns the members of the object that is the whole line.
func envelope(line []byte) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	if first, err := dec.Token(); err != nil {
		return nil, err
	} else if first != json.Delim('{') {
		return nil, fmt.Errorf("begins with %v, want an object", first)
	}
	members := make(map[string]json.RawMessage)
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name := key.(string) // in an object the decoder gives nothing else here
		if _, twice := members[name]; twice {
			return nil, fmt.Errorf("has the key %q twice", name)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		members[name] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("has more than one value")
	}
	return members, nil
}
