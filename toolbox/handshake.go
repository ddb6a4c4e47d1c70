package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/toolbox/link"
	"github.com/mcp-workbench/workbench/toolbox/offered"
	"github.com/mcp-workbench/workbench/toolbox/remote"
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
	offered.Said
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
		return errors.New("instructions are no string")
	}
	return nil
}

// maxHello is the longest that a server may say of itself, in bytes: it is kept.
const maxHello = 256 << 10

// copyHello takes what a server says of itself.
func copyHello(result []byte) ([]byte, error) {
	if len(result) > maxHello {
		return nil, fmt.Errorf("what the server says of itself has %d bytes; at most %d are kept", len(result), maxHello)
	}
	return bytes.Clone(result), nil
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

// probeWait is how long a server may be silent on server/discover before it is
// taken for one of the legacy era.
const probeWait = 3 * time.Second

// errProbeEnded says that the server ended on a probe it did not understand.
var errProbeEnded = errors.New("the server ended when it was asked by server/discover")

// handshake agrees with the server on a protocol revision, of the client's era
// where the server has it, so that the least has to be translated. A legacy
// client's servers are asked by initialize first, which all but those that
// speak only 2026-07-28 understand; a modern client's by server/discover,
// which some legacy servers leave unanswered and some end on: legacy says that
// this one is known to. One that speaks only 2026-07-28 and was too slow in
// starting to answer is asked again when it has refused initialize.
func (c *conn) handshake(ctx context.Context, client Client, legacy bool) error {
	c.mute = legacy
	if mcp.IsModernProtocol(client.Version) && !legacy {
		pctx, cancel := context.WithTimeout(ctx, probeWait)
		err := c.discover(pctx, client)
		if speaksModern(err) {
			err = c.discover(pctx, client)
		}
		c.mute = pctx.Err() != nil || errors.As(err, new(*StrayError))
		cancel()
		if err == nil || ctx.Err() != nil || saysNothingOfEra(err) {
			return err
		}
		select {
		case <-c.link.Done():
			return errProbeEnded
		default:
		}
	}
	err := c.initialize(ctx, client)
	if errors.As(err, new(*link.RPCError)) && !legacy {
		if derr := c.discover(ctx, client); derr == nil || saysNothingOfEra(derr) {
			return derr
		}
	}
	return err
}

// saysNothingOfEra reports whether a remote server refused a request for who
// asks or how often, and not for what it asks.
func saysNothingOfEra(err error) bool {
	var status *remote.StatusError
	return errors.As(err, &status) &&
		slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests}, status.Status)
}

// speaksModern reports whether a server refused a revision and named the one of
// the modern era among those it speaks: it is to be asked again by that one
// (specification 2026-07-28, basic, versioning), and not to be taken for one of
// the legacy era.
func speaksModern(err error) bool {
	var refusal *link.RPCError
	if !errors.As(err, &refusal) || refusal.Code != eras.UnsupportedVersion {
		return false
	}
	var data struct {
		Supported []string `json:"supported"`
	}
	return json.Unmarshal(refusal.Data, &data) == nil && slices.Contains(data.Supported, mcp.LATEST_PROTOCOL_VERSION)
}

// mayBeOfEra reports whether a request may have been refused because it is of the
// legacy era: with the revision that the server has, or, over HTTP, as a bad
// request without a word that can be relied on.
func mayBeOfEra(err error) bool {
	var status *remote.StatusError
	return speaksModern(err) || errors.As(err, &status) && status.Status == http.StatusBadRequest
}

func (c *conn) initialize(ctx context.Context, client Client) error {
	version := client.Version
	if version == "" || mcp.IsModernProtocol(version) {
		version = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	}
	var p bytes.Buffer
	fmt.Fprintf(&p, `{"protocolVersion":%q,"capabilities":%s,"clientInfo":%s}`, version, client.capabilities(), client.info())
	raw, err := consult(ctx, c, "initialize", p.Bytes(), copyHello)
	if err != nil {
		return err
	}
	var r struct {
		ProtocolVersion string          `json:"protocolVersion"`
		Capabilities    json.RawMessage `json:"capabilities"`
		ServerInfo      json.RawMessage `json:"serverInfo"`
		Instructions    instructions    `json:"instructions"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("initialize: the result cannot be read: %w", foreign.NewError(err))
	}
	if !mcp.IsValidProtocolVersion(r.ProtocolVersion) {
		return fmt.Errorf("initialize: the server answered with protocol version %q, which this handshake does not know", foreign.NewName(r.ProtocolVersion))
	}
	// A server may answer by the revision that it has, and then it is spoken to
	// in that, which has no notification that ends a handshake.
	modern := mcp.IsModernProtocol(r.ProtocolVersion)
	if err := c.greeted(hello{Version: r.ProtocolVersion, Modern: modern, Said: offered.Said{Info: r.ServerInfo, Instructions: r.Instructions.raw}}, r.Capabilities); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	if modern {
		return nil
	}
	return c.notify("notifications/initialized", nil)
}

func (c *conn) discover(ctx context.Context, client Client) error {
	c.hello = hello{} // nothing is agreed on while this is asked
	raw, err := consult(ctx, c, "server/discover", discoverParams(client), copyHello)
	if err != nil {
		return err
	}
	var r struct {
		SupportedVersions []string        `json:"supportedVersions"`
		Capabilities      json.RawMessage `json:"capabilities"`
		Instructions      instructions    `json:"instructions"`
		Meta              struct {
			ServerInfo json.RawMessage `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("server/discover: the result cannot be read: %w", foreign.NewError(err))
	}
	version := mcp.NegotiateMutuallySupportedVersion(r.SupportedVersions)
	if !mcp.IsModernProtocol(version) {
		return fmt.Errorf("server/discover: no protocol version in common (the server has %q)", foreign.NewText(strings.Join(r.SupportedVersions, ", ")))
	}
	return c.greeted(hello{Version: version, Modern: true, Said: offered.Said{Info: r.Meta.ServerInfo, Instructions: r.Instructions.raw}}, r.Capabilities)
}

// greeted keeps what the server said.
func (c *conn) greeted(h hello, capabilities json.RawMessage) error {
	if err := h.declare(capabilities); err != nil {
		return err
	}
	h.Mute = c.mute && !h.Modern
	c.hello = h
	c.link.Handshaken(h.Version)
	return nil
}

// declare takes the capabilities object.
func (h *hello) declare(capabilities json.RawMessage) error {
	h.RawCapabilities = capabilities
	if len(capabilities) == 0 {
		return nil
	}
	if err := json.Unmarshal(capabilities, &h.Capabilities); err != nil {
		return fmt.Errorf("the capabilities cannot be read: %w", foreign.NewError(err))
	}
	return nil
}

func discoverParams(client Client) []byte {
	return append(append([]byte(`{"_meta":{`), eraMembers(client, "")...), "}}"...)
}
