package proxy_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/mcp-workbench/workbench/internal/wire"
	told "github.com/mcp-workbench/workbench/proxy/meta"
)

// What a client calls a thing that is not there is repeated in a few bytes, clean.
func TestFaultG91_LongNames(t *testing.T) {
	l := connect(t, newFront(t, readConfig(t, `{"toolboxes": {"dev": {"mcpServers": {"a": {"command": "inside", "args": ["tools=echo"]}}}}}`), ""))
	l.act("# hello 2025-11-25 {}")
	l.act("# open dev")
	long := string(wire.AppendQuote(nil, "x\u202e\u200b"+strings.Repeat("y", 1<<20)))
	for i, request := range []string{
		`"tools/call","params":{"name":%s}`,
		`"prompts/get","params":{"name":%s}`,
		`"resources/read","params":{"uri":%s}`,
		`"tasks/get","params":{"taskId":%s}`,
		`"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":%s}}`,
		`"tools/call","params":{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"dev","tools":[%s]}}`,
		`"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":%s}}`,
		`"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":%s,"tool_name":"x"}}`,
		`"tools/call","params":{"name":"workbench_use_tool","arguments":{"tool":{"toolbox":"dev","server":%s,"name":"x"}}}`,
		`"completion/complete","params":{"ref":{"type":"ref/prompt","name":%s}}`,
		`"completion/complete","params":{"ref":{"type":%s}}`,
		`"logging/setLevel","params":{"level":%s}`,
		`%s`,
	} {
		id := fmt.Sprint(1000 + i)
		l.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%s}`, id, fmt.Sprintf(request, long)))
		reply := l.reply(id)
		if len(reply) > 8<<10 {
			t.Errorf("%.60s: got a reply of %d bytes, want at most 8 KiB: %.300s…", request, len(reply), reply)
		}
		if i := strings.IndexFunc(reply, func(c rune) bool { return unicode.Is(unicode.Cf, c) }); i >= 0 {
			t.Errorf("%.60s: got %.20q in the reply", request, reply[i:])
		}
	}
}

// The description of a toolbox reaches the model as text, in few enough bytes.
func TestFaultG89_Descriptions(t *testing.T) {
	cfg := readConfig(t, `{"toolboxes": {"dev": {"description": "Tools\u001b[31m of \u202edev\u200b `+strings.Repeat("x", 60<<10)+`", "mcpServers": {}}}}`)
	text := told.Instructions(cfg)
	if !strings.Contains(text, "  Description: Tools of dev xxx") || len(text) > 4<<10 {
		t.Errorf("got %.100q (%d bytes), want the description clean and short", text, len(text))
	}
}
