package servers

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// The capabilities of the client in front: all that a person at a screen could serve, and none.
const (
	allCapabilities = `{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}},"extensions":{` +
		`"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]},"io.modelcontextprotocol/skills":{}}}`
	noCapabilities = `{}`
)

// peer speaks to a server, or to workbench, as a client of one era.
type peer struct {
	*wiretest.Client
	bed    *bed
	modern bool
}

// call makes a request and returns its reply. A modern peer answers what it is asked on the way.
func (p peer) call(tb testing.TB, method, params string) wiretest.Message {
	tb.Helper()
	c := p.Client.In(tb)
	if !p.modern {
		return c.Call(method, params)
	}
	for more := params; ; {
		reply := c.Call(method, wiretest.Modern(more, allCapabilities))
		if reply.Error != nil {
			return reply
		}
		result := decode[struct {
			ResultType    string
			InputRequests map[string]struct{ Method string }
			RequestState  *string
		}](tb, method, reply.Result)
		if result.ResultType != "input_required" {
			return reply
		}
		responses := map[string]json.RawMessage{}
		for key, asked := range result.InputRequests {
			if asked.Method != "roots/list" {
				tb.Fatalf("%s: was asked for %s", method, asked.Method)
			}
			responses[key] = json.RawMessage(p.bed.roots())
		}
		answers := `{"inputResponses":` + wiretest.JSON(responses)
		if result.RequestState != nil {
			answers += `,"requestState":` + wiretest.JSON(*result.RequestState)
		}
		more = strings.Replace(params, "{", answers+",", 1) // the request again, to the letter
	}
}

// outcome is what a reply brings: its result or its error object.
func outcome(m wiretest.Message) []byte {
	if m.Error != nil {
		return m.Error.Raw
	}
	return m.Result
}

// plain is an outcome without what revision 2026-07-28 says of results as such, so that it can be compared with one of
// an earlier revision.
func plain(tb testing.TB, outcome []byte) []byte {
	tb.Helper()
	members := decode[map[string]json.RawMessage](tb, "outcome", outcome)
	for _, key := range []string{"resultType", "ttlMs", "cacheScope"} {
		delete(members, key)
	}
	if meta := members["_meta"]; meta != nil {
		entries := decode[map[string]json.RawMessage](tb, "_meta", meta)
		delete(entries, "io.modelcontextprotocol/serverInfo")
		members["_meta"] = json.RawMessage(wiretest.JSON(entries))
		if len(entries) == 0 {
			delete(members, "_meta")
		}
	}
	return []byte(wiretest.JSON(members))
}
