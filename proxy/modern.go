package proxy

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// Members of _meta that requests of revision 2026-07-28 carry.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaInfo         = "io.modelcontextprotocol/clientInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaLogLevel     = "io.modelcontextprotocol/logLevel"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// modern is what a request of revision 2026-07-28 says of its client.
type modern struct {
	capabilities []byte
	level        string // of the log lines it wants, "" for none
	cacheable    bool   // its result must say how long it may be kept
}

// codeUnsupportedVersion is UnsupportedProtocolVersion of revision 2026-07-28.
const codeUnsupportedVersion = -32022

func unsupportedVersion(version string) error {
	data := []byte(`{"supported":[`)
	for i, v := range mcp.ValidProtocolVersions {
		if i > 0 {
			data = append(data, ',')
		}
		data = wire.AppendQuote(data, v)
	}
	data = append(data, `],"requested":`...)
	data = append(wire.AppendQuote(data, version), '}')
	return &wire.Error{Code: codeUnsupportedVersion, Message: "Unsupported protocol version", Data: data}
}

// modern reads the metadata of a request; nil if it has none of revision
// 2026-07-28.
func (s *session) modern(c *call) (*modern, error) {
	var in [5]wire.Span
	if err := wire.Find(c.Raw, c.meta, []string{"progressToken", metaVersion, metaInfo, metaCapabilities, metaLogLevel}, in[:]); err != nil {
		return nil, err
	}
	c.token = in[0]
	version, ok := wire.Unquote(c.Bytes(in[1]))
	if !ok || !mcp.IsModernProtocol(version) {
		return nil, nil
	}
	if !mcp.IsValidProtocolVersion(version) {
		return nil, unsupportedVersion(version)
	}
	if !in[3].Present() || c.Raw[in[3].Start] != '{' {
		return nil, &wire.Error{Code: wire.CodeInvalidParams, Message: "params._meta lacks " + metaCapabilities + ", an object"}
	}
	d := &modern{capabilities: bytes.Clone(c.Bytes(in[3]))}
	if in[4].Present() {
		d.level, _ = wire.Unquote(c.Bytes(in[4]))
		if !slices.Contains(levels(), d.level) {
			return nil, &wire.Error{Code: wire.CodeInvalidParams, Message: fmt.Sprintf("params._meta[%q]: got %s, want one of %v", metaLogLevel, c.Bytes(in[4]), levels())}
		}
	}
	switch c.method {
	case "resources/read", "tools/list", "prompts/list", "resources/list", "resources/templates/list":
		d.cacheable = true
	}
	s.introduce(toolbox.Client{Version: version, Info: bytes.Clone(c.Bytes(in[2])), Capabilities: d.capabilities}, false)
	return d, nil
}

// can reports whether the client declared what a request of the server needs.
func (d *modern) can(method string) bool {
	capability := ""
	switch method {
	case "elicitation/create":
		capability = "elicitation"
	case "sampling/createMessage":
		capability = "sampling"
	case "roots/list":
		capability = "roots"
	default:
		return false
	}
	span, err := wire.FindPath(d.capabilities, wire.Span{Start: 0, End: len(d.capabilities)}, capability)
	return err == nil && span.Present()
}

// splice makes the result of a legacy server one of revision 2026-07-28: it
// says its type, and, where that is asked, how long it may be kept.
func (d *modern) splice(dst []byte, m *wire.Message, id wire.Edit) []byte {
	if m.Raw[m.Result.Start] != '{' {
		return wire.Splice(dst, m.Raw, id)
	}
	var have [3]wire.Span
	if wire.Find(m.Raw, m.Result, []string{"resultType", "ttlMs", "cacheScope"}, have[:]) != nil {
		return wire.Splice(dst, m.Raw, id)
	}
	var text []byte
	add := func(present bool, member string) {
		if !present {
			text = append(append(text, member...), ',')
		}
	}
	add(have[0].Present(), `"resultType":"complete"`)
	if d.cacheable {
		add(have[1].Present(), `"ttlMs":0`)
		add(have[2].Present(), `"cacheScope":"private"`)
	}
	if len(bytes.TrimSpace(m.Raw[m.Result.Start+1:m.Result.End-1])) == 0 {
		text = bytes.TrimSuffix(text, []byte(","))
	}
	insert := wire.Edit{Span: wire.At(m.Result.Start + 1), New: text}
	if id.Span.Start < m.Result.Start {
		return wire.Splice(dst, m.Raw, id, insert)
	}
	return wire.Splice(dst, m.Raw, insert, id)
}
