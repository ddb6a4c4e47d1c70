package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// testLists: every list is the server's own, item by item and byte by byte, but for the names that were made distinct.
// The same configuration and servers give the same bytes in another process.
func testLists(t *testing.T, s session) {
	another := s.workbench(s.config("auto"), wiretest.Options{})
	another.Initialize(wiretest.Legacy, noCapabilities)
	open(t, another.Client, "dev")
	tests := []struct {
		method, list string
		prefixed     bool
		own          int // items of workbench's own, at the beginning
	}{
		{"tools/list", "tools", true, len(metaTools())},
		{"prompts/list", "prompts", true, 0},
		{"resources/list", "resources", false, 0},
		{"resources/templates/list", "resourceTemplates", false, 0},
	}
	for _, test := range tests {
		t.Run(test.method, func(t *testing.T) {
			result := s.client.In(t).Result(test.method, "")
			wiretest.SameBytes(t, test.method+" of two runs", another.In(t).Result(test.method, ""), result)
			got := items(t, result, test.list)[test.own:]
			var want []json.RawMessage
			var owners []string
			for _, server := range servers() {
				list, has := s.plainly(server).lists[test.method]
				if !has {
					continue
				}
				for _, item := range items(t, list, test.list) {
					want, owners = append(want, item), append(owners, server)
				}
			}
			if len(got) != len(want) {
				t.Fatalf("got %d items want %d", len(got), len(want))
			}
			for i, item := range got {
				if test.prefixed {
					name := decode[struct{ Name string }](t, "item", want[i]).Name
					item = renamed(item, fmt.Sprintf("dev__%s__%s", owners[i], name), name)
				}
				wiretest.SameBytes(t, fmt.Sprintf("item %d of %s", i, test.list), item, want[i])
			}
		})
	}
}

// read is a request for something of the server everything. %s stands before a prompt's name, the one thing that differs.
type read struct{ name, method, params string }

func reads() []read {
	return []read{
		{"file", "resources/read", `{"uri":"demo://resource/static/document/features.md"}`},
		{"from a template, with a number that is none", "resources/read", `{"uri":"demo://resource/dynamic/text/seven"}`},
		{"prompt", "prompts/get", `{"name":"%ssimple-prompt"}`},
		{"prompt with arguments", "prompts/get", `{"name":"%sargs-prompt","arguments":{"city":"Ädä \"x\"","state":"<b>"}}`},
		{"prompt with a resource", "prompts/get", `{"name":"%sresource-prompt","arguments":{"resourceType":"Blob","resourceId":"0"}}`},
		{"prompt without its arguments", "prompts/get", `{"name":"%sargs-prompt"}`},
		{"completion", "completion/complete",
			`{"ref":{"type":"ref/prompt","name":"%scompletable-prompt"},"argument":{"name":"department","value":"S"}}`},
		{"completion of a template", "completion/complete",
			`{"ref":{"type":"ref/resource","uri":"demo://resource/dynamic/text/{resourceId}"},"argument":{"name":"resourceId","value":"1"}}`},
	}
}

// testReads: resources, prompts and completions are the server's own too.
func testReads(t *testing.T, s session) {
	want := s.plainly("everything").reads
	for i, read := range reads() {
		t.Run(read.name, func(t *testing.T) {
			got := outcome(s.client.In(t).Call(read.method, strings.Replace(read.params, "%s", "dev__everything__", 1)))
			wiretest.SameBytes(t, read.method, got, want[i])
		})
	}
}
