package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
)

// Client is what the servers are told of the client in front of them. Servers
// choose their tools by it, so it is handed on as the client declared it.
type Client struct {
	// Version is the newest protocol revision to ask servers for; empty
	// means the newest legacy one.
	Version string
	// Info and Capabilities are JSON objects; empty means workbench's own
	// name and no capabilities.
	Info, Capabilities json.RawMessage
}

// hello is what a server said of itself.
type hello struct {
	Version      string
	Modern       bool
	Capabilities struct {
		Tools       json.RawMessage `json:"tools"`
		Resources   json.RawMessage `json:"resources"`
		Prompts     json.RawMessage `json:"prompts"`
		Logging     json.RawMessage `json:"logging"`
		Completions json.RawMessage `json:"completions"`
	}
	RawCapabilities json.RawMessage
	Info            json.RawMessage
	Instructions    string
}

func (c Client) info() []byte {
	if len(c.Info) == 0 {
		return []byte(`{"name":"mcp-workbench","version":"1"}`)
	}
	return c.Info
}

func (c Client) capabilities() []byte {
	if len(c.Capabilities) == 0 {
		return []byte(`{}`)
	}
	return c.Capabilities
}

// handshake agrees with the server on a protocol revision. The initialize
// handshake is tried first, because every server but one that speaks only
// 2026-07-28 understands it, and some exit on anything else; a server that
// refuses it is then asked by server/discover.
func (c *conn) handshake(ctx context.Context, client Client) error {
	err := c.initialize(ctx, client)
	var refused *RPCError
	if !errors.As(err, &refused) {
		return err
	}
	if derr := c.discover(ctx, client); derr != nil {
		return err // the first refusal says more
	}
	return nil
}

func (c *conn) initialize(ctx context.Context, client Client) error {
	version := client.Version
	if version == "" || mcp.IsModernProtocol(version) {
		version = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	}
	var p bytes.Buffer
	fmt.Fprintf(&p, `{"protocolVersion":%q,"capabilities":%s,"clientInfo":%s}`, version, client.capabilities(), client.info())
	raw, err := c.call(ctx, "initialize", p.Bytes())
	if err != nil {
		return err
	}
	var r struct {
		ProtocolVersion string          `json:"protocolVersion"`
		Capabilities    json.RawMessage `json:"capabilities"`
		ServerInfo      json.RawMessage `json:"serverInfo"`
		Instructions    string          `json:"instructions"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("initialize: the result cannot be read: %w", err)
	}
	if mcp.IsModernProtocol(r.ProtocolVersion) || !mcp.IsValidProtocolVersion(r.ProtocolVersion) {
		return fmt.Errorf("initialize: the server answered with protocol version %q, which this handshake does not know", r.ProtocolVersion)
	}
	if err := c.greeted(hello{Version: r.ProtocolVersion, Info: r.ServerInfo, Instructions: r.Instructions}, r.Capabilities); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	return c.notify("notifications/initialized", nil)
}

func (c *conn) discover(ctx context.Context, client Client) error {
	raw, err := c.call(ctx, "server/discover", modernParams(client, ""))
	if err != nil {
		return err
	}
	var r struct {
		SupportedVersions []string        `json:"supportedVersions"`
		Capabilities      json.RawMessage `json:"capabilities"`
		Instructions      string          `json:"instructions"`
		Meta              struct {
			ServerInfo json.RawMessage `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("server/discover: the result cannot be read: %w", err)
	}
	version := mcp.NegotiateMutuallySupportedVersion(r.SupportedVersions)
	if !mcp.IsModernProtocol(version) {
		return fmt.Errorf("server/discover: no protocol version in common (the server has %v)", r.SupportedVersions)
	}
	return c.greeted(hello{Version: version, Modern: true, Info: r.Meta.ServerInfo, Instructions: r.Instructions}, r.Capabilities)
}

// greeted keeps what the server said.
func (c *conn) greeted(h hello, capabilities json.RawMessage) error {
	h.RawCapabilities = capabilities
	if len(capabilities) > 0 {
		if err := json.Unmarshal(capabilities, &h.Capabilities); err != nil {
			return fmt.Errorf("the capabilities cannot be read: %w", err)
		}
	}
	c.hello = h
	c.link.Handshaken(h.Version)
	return nil
}

// modernParams gives the params of a request of ours in the modern era, where
// each carries its metadata (specification 2026-07-28, basic, "_meta").
// members is what else belongs into the object, or "".
func modernParams(client Client, members string) []byte {
	var p bytes.Buffer
	fmt.Fprintf(&p, `{"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":%s,"io.modelcontextprotocol/clientCapabilities":%s}`,
		mcp.LATEST_PROTOCOL_VERSION, client.info(), client.capabilities())
	if members != "" {
		p.WriteByte(',')
		p.WriteString(members)
	}
	p.WriteByte('}')
	return p.Bytes()
}
