package servers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// alias finds the uris by which workbench tells pages and skills apart that two servers have.
var alias = regexp.MustCompile(`"(ui|skill)://wb-[0-9a-f]+/`)

// checkLists wants every item of every list to be the server's own, byte by byte, but for the names and uris that were
// made distinct.
func (s *session) checkLists(t *testing.T, r *row) {
	t.Helper()
	o := r.observation
	for _, l := range lists() {
		got, want := s.lists[o.server.name][l.member], o.items[l.member]
		if len(got) != len(want) {
			r.fault(t, "%s: got %d items want %d", l.method, len(got), len(want))
			continue
		}
		for i := range got {
			own := key(t, want[i], l.key)
			item := alias.ReplaceAll(got[i], []byte(`"$1://`))
			if l.key == "name" {
				seen := key(t, got[i], l.key)
				if l.member == "tools" && seen != s.exposed[o.server.name+"/"+own] {
					r.fault(t, "%s: got name %q, the open result says %q", own, seen, s.exposed[o.server.name+"/"+own])
				}
				item = bytes.Replace(item, []byte(`"name":`+wiretest.JSON(seen)), []byte(`"name":`+wiretest.JSON(own)), 1)
			}
			if !bytes.Equal(item, want[i]) {
				r.fault(t, "%s of %s: got %s want %s", own, l.method, wiretest.Clip(string(item)), wiretest.Clip(string(want[i])))
			}
		}
	}
}

// checkAnswers wants each answer to be the server's own, whichever way it was asked.
func (s *session) checkAnswers(t *testing.T, r *row) {
	t.Helper()
	o := r.observation
	for _, a := range o.answers {
		q := a.question
		s.checkAnswer(t, r, a, q.params(s.seen(t, o, q)), outcome)
		if q.method == "tools/call" {
			s.checkAnswer(t, r, a, useTool(o.server, q.name, q.arguments), unexplained)
		}
	}
}

// unexplained is an outcome without what workbench adds where a server refuses the arguments of a call by
// workbench_use_tool: how the tool is called.
func unexplained(m wiretest.Message) []byte {
	const text = `workbench: (?:[^"\\]|\\.)*"`
	whole := regexp.MustCompile(`,?\{"type":"text","text":"`+text+`\}`).ReplaceAll(outcome(m), nil)
	return regexp.MustCompile(`\\n`+text).ReplaceAll(whole, []byte(`"`))
}

func (s *session) checkAnswer(t *testing.T, r *row, a answer, params string, read func(wiretest.Message) []byte) {
	t.Helper()
	got, want := read(s.call(t, a.question.method, params)), a.outcome
	switch {
	case s.modern:
		// The server may be of either era; what is compared is what both know.
		if d := wiretest.Diff(plain(t, got), plain(t, want)); d != "" {
			r.fault(t, "%s: %s", params, d)
		}
	case !bytes.Equal(got, want):
		r.fault(t, "%s: got %s want %s", params, wiretest.Clip(string(got)), wiretest.Clip(string(want)))
	}
}

// useTool is a call of a server's tool by workbench_use_tool.
func useTool(s server, tool, arguments string) string {
	return fmt.Sprintf(`{"name":"workbench_use_tool","arguments":{"tool":{"toolbox":%q,"server":%q,"name":%q},"arguments":%s}}`,
		s.toolbox, s.name, tool, arguments)
}

// seen is the name under which workbench offers what a question names.
func (s *session) seen(t *testing.T, o observation, q question) string {
	t.Helper()
	switch q.method {
	case "tools/call":
		return s.exposed[o.server.name+"/"+q.name]
	case "prompts/get":
		return key(t, s.lists[o.server.name]["prompts"][0], "name")
	default:
		return key(t, s.lists[o.server.name]["resources"][0], "uri")
	}
}

// checkUnknown wants a tool that is nowhere to be refused by workbench, in the way of the protocol where a name is
// called and in a way that a model can read where workbench_use_tool is.
func (s *session) checkUnknown(t *testing.T, r *row) {
	t.Helper()
	o := r.observation
	name := wiretest.JSON(o.server.toolbox + "__" + o.server.name + "__no-such-tool")
	reply := s.call(t, "tools/call", `{"name":`+name+`,"arguments":{}}`)
	if reply.Error == nil || reply.Error.Code != -32602 {
		r.fault(t, "unknown tool: got %s want error -32602", wiretest.Clip(string(reply.Raw)))
	}
	reply = s.call(t, "tools/call", useTool(o.server, "no-such-tool", "{}"))
	var result struct {
		IsError bool
		Content []struct{ Text string }
	}
	if reply.Error == nil {
		unmarshal(t, "workbench_use_tool", reply.Result, &result)
	}
	if !result.IsError || len(result.Content) != 1 || !strings.Contains(result.Content[0].Text, "no-such-tool") {
		r.fault(t, "unknown tool by workbench_use_tool: got %s want an error that names it", wiretest.Clip(string(reply.Raw)))
	}
}

// took takes from the log how long each server was in starting.
func took(t *testing.T, log string, rows []*row) {
	t.Helper()
	for line := range strings.Lines(log) {
		var entry struct {
			Message, Server string
			Dur             float64
		}
		if json.Unmarshal([]byte(line), &entry) != nil || entry.Message != "server ready" {
			continue
		}
		for _, r := range rows {
			if r.observation.server.name == entry.Server {
				r.open = entry.Dur
			}
		}
	}
	for _, r := range rows {
		if r.open == 0 {
			r.fault(t, "the log does not say that it became ready")
		}
	}
}
