package wiretest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The protocol revisions that tests name: the last with a handshake, and the first without.
const (
	Legacy     = "2025-11-25"
	ModernOnly = "2026-07-28"
)

const clientInfo = `{"name":"wiretest","version":"1.0.0"}`

// Initialize shakes hands as revisions up to 2025-11-25 do: initialize with that version and those capabilities (JSON
// text), then notifications/initialized. It returns the result and fails the test when initialize is refused.
func (c *Client) Initialize(version, capabilities string) json.RawMessage {
	c.tb.Helper()
	result := c.Result("initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"clientInfo":%s}`,
		version, capabilities, clientInfo))
	c.Notify("notifications/initialized", "")
	return result
}

// Modern returns params with the metadata that revision 2026-07-28 wants on every request: version, client and
// capabilities (JSON text). Params is the text of an object without _meta; empty means none.
func Modern(params, capabilities string) string {
	meta := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,`+
		`"io.modelcontextprotocol/clientInfo":%s,"io.modelcontextprotocol/clientCapabilities":%s}`,
		ModernOnly, clientInfo, capabilities)
	rest := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(params), "{"))
	if rest == "" || rest == "}" {
		return "{" + meta + "}"
	}
	return "{" + meta + "," + rest
}

// Request writes a request with that id token, or a notification where id is empty. Params is JSON text; empty means
// none.
func Request(id, method, params string) string {
	line := `{"jsonrpc":"2.0",`
	if id != "" {
		line += `"id":` + id + `,`
	}
	line += `"method":` + JSON(method)
	if params != "" {
		line += `,"params":` + params
	}
	return line + "}"
}

// JSON encodes a value for the text of params. It panics for a value that JSON cannot hold, which is a mistake in the
// test.
func JSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("wiretest: JSON of %T: %v", v, err))
	}
	return string(text)
}
