package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
)

// Client is what the servers are told of the client in front of them. Servers choose their tools by it, so it is handed
// on as the client declared it.
type Client struct {
	// Version is the newest protocol revision to ask servers for; empty means the newest legacy one.
	Version string
	// Info and Capabilities are JSON objects; empty means workbench's own name and no capabilities.
	Info, Capabilities json.RawMessage
}

// Hello is what a server said of itself.
type Hello struct {
	Version      string
	Era          eras.Era // of Version
	Capabilities struct {
		Tools       json.RawMessage `json:"tools"`
		Resources   json.RawMessage `json:"resources"`
		Prompts     json.RawMessage `json:"prompts"`
		Logging     json.RawMessage `json:"logging"`
		Completions json.RawMessage `json:"completions"`
	}
	RawCapabilities json.RawMessage
	Info            json.RawMessage
	Instructions    json.RawMessage // a JSON string; nil for none
	// Mute says that the server ended on server/discover or left it unanswered.
	Mute bool
}

// instructions are read as they were written: a lock file is compared with them.
type instructions struct{ raw json.RawMessage }

func (i *instructions) UnmarshalJSON(raw []byte) error {
	switch raw[0] {
	case 'n':
	case '"':
		i.raw = bytes.Clone(raw)
	default:
		return errors.New("instructions is not a string")
	}
	return nil
}

// maxHello is the longest that a server may say of itself, in bytes: it is kept.
const maxHello = 256 << 10

// copyHello takes what a server says of itself.
func copyHello(result []byte) ([]byte, error) {
	if len(result) > maxHello {
		return nil, fmt.Errorf("the server's description of itself has %d bytes; at most %d are kept", len(result), maxHello)
	}
	return bytes.Clone(result), nil
}

func (c Client) info() []byte {
	if len(c.Info) == 0 {
		return []byte(`{"name":"mcp-workbench","version":"1"}`)
	}
	return c.Info
}

// CapabilitiesObject is what the client declared, or an empty object.
func (c Client) CapabilitiesObject() []byte {
	if len(c.Capabilities) == 0 {
		return []byte(`{}`)
	}
	return c.Capabilities
}

// Declare takes the capabilities object.
func (h *Hello) Declare(capabilities json.RawMessage) error {
	h.RawCapabilities = capabilities
	if len(capabilities) == 0 {
		return nil
	}
	if err := json.Unmarshal(capabilities, &h.Capabilities); err != nil {
		return fmt.Errorf("the capabilities cannot be read: %w", foreign.NewError(err))
	}
	return nil
}
