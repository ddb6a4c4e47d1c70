package servers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// list is one of the lists of the protocol.
type list struct {
	method, member, key string
	capability          string
}

func lists() []list {
	return []list{
		{"tools/list", "tools", "name", "tools"},
		{"resources/list", "resources", "uri", "resources"},
		{"resources/templates/list", "resourceTemplates", "uriTemplate", "resources"},
		{"prompts/list", "prompts", "name", "prompts"},
	}
}

// observation is what a server says directly.
type observation struct {
	server   server
	items    map[string][]json.RawMessage // by the member of the list
	answers  []answer
	ms       int64 // from the start of the process to its list of tools
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
	version, hello, probe := d.hello(tb, modern, allCapabilities)
	o := observation{server: s, items: make(map[string][]json.RawMessage)}
	o.read(tb, d, hello)
	o.ms = o.ms - begin.UnixMilli()
	for _, q := range o.questions(tb) {
		o.answers = append(o.answers, answer{q, outcome(d.call(tb, q.method, q.params(q.name)))})
	}
	unknown := d.call(tb, "tools/call", `{"name":"no-such-tool","arguments":{}}`)
	from := d.Transcript(0)
	d.leave()
	o.noteTalk(version, probe, unknown, from)
	if s.name == "everything" {
		o.noteCapabilities(tb, b)
	}
	if n := len(d.out.noise); n > 0 {
		o.note("noise on stdout")
	}
	if n := d.stderr.Len(); n > 1000 {
		o.note("%d KB of stderr", n/1000)
	}
	switch {
	case d.took >= noExit:
		o.note("no exit at EOF")
	case d.took > time.Second:
		o.note("slow to exit")
	}
	return o
}

func (o *observation) note(format string, args ...any) {
	o.oddities = append(o.oddities, fmt.Sprintf(format, args...))
}

// read reads the lists.
func (o *observation) read(tb testing.TB, d *direct, hello json.RawMessage) {
	tb.Helper()
	capabilities := decode[struct{ Capabilities map[string]json.RawMessage }](tb, "hello", hello).Capabilities
	for _, l := range lists() {
		reply := d.call(tb, l.method, "{}")
		if l.member == "tools" {
			o.ms = time.Now().UnixMilli()
			if n := len(reply.Raw); n > 30_000 {
				o.note("%d KB of tools", n/1000)
			}
			if bytes.Contains(reply.Raw, []byte(`"$ref"`)) {
				o.note("$ref in its schemas")
			}
		}
		if reply.Error != nil {
			if capabilities[l.capability] != nil {
				o.note("%s %d despite its capabilities", l.method, reply.Error.Code)
			}
			continue
		}
		if capabilities[l.capability] == nil {
			continue // a list that it does not advertise; empty, as far as is known
		}
		result := decode[map[string]json.RawMessage](tb, l.method, reply.Result)
		if result["nextCursor"] != nil {
			tb.Errorf("%s of %s: has another page, which this test does not read", l.method, o.server.name)
		}
		o.items[l.member] = decode[[]json.RawMessage](tb, l.method, result[l.member])
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

// noteTalk notes what is odd in a conversation.
func (o *observation) noteTalk(version string, probe *wiretest.Error, unknown wiretest.Message, talk []wiretest.Entry) {
	switch version {
	case wiretest.Legacy:
	case wiretest.ModernOnly:
		o.note("speaks 2026-07-28 too")
	default:
		o.note("speaks %s", version)
	}
	if probe != nil && probe.Code != -32601 {
		o.note("unknown method %d", probe.Code)
	}
	if unknown.Error != nil {
		o.note("unknown tool %d", unknown.Error.Code)
	}
	seen := make(map[string]int)
	for _, entry := range talk {
		m := entry.Message
		if entry.Sent || m.Method == "" {
			continue
		}
		if seen[m.Method]++; seen[m.Method] > 1 {
			continue
		}
		if m.IsRequest() {
			o.note("asks %s", m.Method)
		} else {
			o.note("says %s", strings.TrimPrefix(m.Method, "notifications/"))
		}
	}
}

// noteCapabilities notes how many tools there are for a client that can do nothing.
func (o *observation) noteCapabilities(tb testing.TB, b *bed) {
	tb.Helper()
	d := b.start(tb, o.server)
	d.hello(tb, false, noCapabilities)
	result := decode[struct{ Tools []json.RawMessage }](tb, "tools/list", d.Client.In(tb).Result("tools/list", ""))
	d.leave()
	o.note("%d tools for this client, %d for one that can nothing", len(o.items["tools"]), len(result.Tools))
}
