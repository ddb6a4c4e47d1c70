package servers

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// skillsExtension is the extension of skills.
const skillsExtension = "io.modelcontextprotocol/skills"

// list is one of the lists of the protocol.
type list struct {
	method, member, key string
	capability          string // or the extension
}

func lists() []list {
	return []list{
		{"tools/list", "tools", "name", "tools"},
		{"resources/list", "resources", "uri", "resources"},
		{"resources/templates/list", "resourceTemplates", "uriTemplate", "resources"},
		{"prompts/list", "prompts", "name", "prompts"},
		{"skills/list", "skills", "uri", skillsExtension},
	}
}

// observation is what a server says directly.
type observation struct {
	server   server
	items    map[string][]json.RawMessage // by the member of the list
	answers  []answer
	took     time.Duration // from the start of the process to its list of tools
	oddities []string
}

// answer is what a question brought.
type answer struct {
	question question
	outcome  []byte
}

// question is a request that names something of one server.
type question struct {
	method, key, name string
	arguments         string // JSON text, or empty
}

// params of the question under the name that the other side has for what it names.
func (q question) params(name string) string {
	if q.arguments == "" {
		return fmt.Sprintf(`{%q:%s}`, q.key, wiretest.JSON(name))
	}
	return fmt.Sprintf(`{%q:%s,"arguments":%s}`, q.key, wiretest.JSON(name), q.arguments)
}

// observe asks a server directly for everything that it is to say through workbench too.
func (b *bed) observe(tb testing.TB, s server, modern bool) observation {
	tb.Helper()
	begin := time.Now()
	d := b.start(tb, s)
	version, hello, refusal := d.hello(tb, modern, allCapabilities)
	o := observation{server: s, items: make(map[string][]json.RawMessage)}
	o.noteHandshake(version, refusal)
	for _, l := range lists() {
		o.read(tb, d, hello, l)
		if l.member == "tools" {
			o.took = time.Since(begin)
		}
	}
	for _, q := range o.questions(tb) {
		o.answers = append(o.answers, answer{q, outcome(d.call(tb, q.method, q.params(q.name)))})
	}
	unknown := d.call(tb, "tools/call", `{"name":"no-such-tool","arguments":{}}`)
	if unknown.Error != nil {
		o.note("unknown tool %d", unknown.Error.Code)
	}
	if s.name == "everything" {
		o.noteCapabilities(tb, b)
	}
	talk := d.Transcript(0)
	d.leave()
	o.noteTalk(talk)
	o.noteProcess(d)
	return o
}

// read reads a list that the server says it has.
func (o *observation) read(tb testing.TB, d *direct, capabilities map[string]json.RawMessage, l list) {
	tb.Helper()
	extensions := make(map[string]json.RawMessage)
	if raw := capabilities["extensions"]; raw != nil {
		unmarshal(tb, "extensions", raw, &extensions)
	}
	if capabilities[l.capability] == nil && extensions[l.capability] == nil {
		return
	}
	reply := d.call(tb, l.method, "{}")
	if reply.Error != nil {
		o.note("%s %d despite its capabilities", l.method, reply.Error.Code)
		return
	}
	result := decode[map[string]json.RawMessage](tb, l.method, reply.Result)
	if result["nextCursor"] != nil {
		tb.Errorf("%s of %s: has another page, which this test does not read", l.method, o.server.name)
	}
	o.items[l.member] = decode[[]json.RawMessage](tb, l.method, result[l.member])
	if l.member == "tools" {
		o.noteTools(reply.Result)
	}
}

// questions are what the server is asked: the calls of the fleet, its first resource and its first prompt.
func (o *observation) questions(tb testing.TB) []question {
	tb.Helper()
	var all []question
	for _, c := range o.server.calls {
		all = append(all, question{"tools/call", "name", c.tool, c.arguments})
	}
	if list := o.items["resources"]; len(list) > 0 {
		all = append(all, question{"resources/read", "uri", key(tb, list[0], "uri"), ""})
	}
	if list := o.items["prompts"]; len(list) > 0 {
		all = append(all, question{"prompts/get", "name", key(tb, list[0], "name"), "{}"})
	}
	return all
}

// key is the member of a list's item that names it.
func key(tb testing.TB, item json.RawMessage, member string) string {
	tb.Helper()
	var name string
	if err := json.Unmarshal(decode[map[string]json.RawMessage](tb, "item", item)[member], &name); err != nil {
		tb.Fatalf("item %s: %v", wiretest.Clip(string(item)), err)
	}
	return name
}
