package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/mcptest"
)

// behaviour is one thing that a call of a tool does.
type behaviour struct {
	name, tool, arguments string
	meta                  string // members of _meta
	answer                string // of the client to what the server asks: a result or error member
	legacy                bool   // it is so only between peers of the legacy era
	// want is what comes, ID and ASK standing for ids, BY and ASKS for what a front adds to a question.
	want []string
}

func behaviours() []behaviour {
	result := func(text string) string {
		return `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":` + text + `}]}}`
	}
	progress := func(token string, n, of int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":%d,"x":1.0}}`, token, n, of)
	}
	return []behaviour{
		{name: "text", tool: "echo", arguments: `{"x":1}`, want: []string{result(`"{\"x\":1}"`)}},
		{name: "no arguments", tool: "echo", arguments: `{}`, want: []string{result(`"{}"`)}},
		{name: "odd arguments", tool: "echo", arguments: `{ "z":[1e400,-0,1.10,18446744073709551615],"a":"\u0000\ud83d\ude00\/é<&>","":{"a":null,"A":1} }`,
			want: []string{result(`"{ \"z\":[1e400,-0,1.10,18446744073709551615],\"a\":\"\\u0000\\ud83d\\ude00\\/é<&>\",\"\":{\"a\":null,\"A\":1} }"`)}},
		{name: "odd result", tool: "odd", arguments: `{}`, want: []string{`{"jsonrpc":"2.0","id":ID,"result":` + mcptest.Odd + `}`}},
		{name: "big result", tool: "big", arguments: `{"n":1000000}`, want: []string{result(`"` + strings.Repeat("x", 1000000) + `"`)}},
		{name: "big argument", tool: "echo", arguments: `{"x":"` + strings.Repeat("y", 1000000) + `"}`, want: []string{result(`"{\"x\":\"` + strings.Repeat("y", 1000000) + `\"}"`)}},
		{name: "error of the tool", tool: "iserror", arguments: `{}`,
			want: []string{`{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"no such file"}],"isError":true}}`}},
		{name: "error of the server", tool: "fail", arguments: `{}`,
			want: []string{`{"jsonrpc":"2.0","id":ID,"error":{"code":-32001,"message":"it failed","data":{"retry":5,"n":9007199254740993}}}`}},
		{name: "progress", tool: "progress", arguments: `{"n":3}`, meta: `"progressToken":"tok\u0041"`,
			want: []string{progress(`"tok\u0041"`, 1, 3), progress(`"tok\u0041"`, 2, 3), progress(`"tok\u0041"`, 3, 3), result(`"done"`)}},
		{name: "progress under a number", tool: "progress", arguments: `{"n":1}`, meta: `"progressToken":123456789012345678901234`,
			want: []string{progress("123456789012345678901234", 1, 1), result(`"done"`)}},
		{name: "no progress without a token", tool: "progress", arguments: `{"n":3}`, want: []string{result(`"done"`)}},
		{name: "notification", tool: "say", arguments: `{"say":[{"method":"notifications/message","jsonrpc":"2.0","params":{"data":{"n":1e400},"level":"info"}}]}`, legacy: true,
			want: []string{`{"method":"notifications/message","jsonrpc":"2.0","params":{"data":{"n":1e400},"level":"info"}}`, result(`"said"`)}},
		{name: "question", tool: "ask", arguments: `{"ask":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"z":1,"a":1.0}}}}`, legacy: true,
			answer: `"result":{"action":"accept","content":{"n":9007199254740993}}`,
			want: []string{`{"jsonrpc":"2.0","id":ASK,"method":"elicitation/create","params":{BY"message":"ASKS?","requestedSchema":{"z":1,"a":1.0}}}`,
				result(`"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"accept\",\"content\":{\"n\":9007199254740993}}}"`)}},
		{name: "question refused", tool: "ask", arguments: `{"ask":{"method":"roots/list"}}`, legacy: true,
			answer: `"error":{"code":-1,"message":"no","data":[1.0]}`,
			want: []string{`{"jsonrpc":"2.0","id":ASK,"method":"roots/list"}`,
				result(`"{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-1,\"message\":\"no\",\"data\":[1.0]}}"`)}},
	}
}

// way is how a call reaches its server.
type way struct {
	name         string
	client       string // "legacy" or "modern"
	server       string // what is behind the front, as a command and specs; "" is no front
	modernServer bool
	use          bool // through workbench_use_tool
}

func ways() []way {
	ways := []way{
		{name: "direct", client: "legacy"},
		{name: "direct modern", client: "modern", modernServer: true},
	}
	for _, use := range []bool{false, true} {
		by := "registered"
		if use {
			by = "use_tool"
		}
		ways = append(ways,
			way{"legacy, " + by + ", inside", "legacy", `"command": "inside"`, false, use},
			way{"legacy, " + by + ", child", "legacy", `"command": "child"`, false, use},
			way{"legacy, " + by + ", modern server", "legacy", `"command": "inside", "args": ["modern"]`, true, use},
			way{"modern, " + by + ", legacy server", "modern", `"command": "inside"`, false, use},
			way{"modern, " + by + ", child", "modern", `"command": "child"`, false, use},
			way{"modern, " + by + ", modern server", "modern", `"command": "inside", "args": ["modern"]`, true, use},
		)
	}
	return ways
}

// Each behaviour of a call is the same whether a client calls the server or calls it through the front, by a registered
// name or by workbench_use_tool, in either era and between the eras.
func TestBehaviours(t *testing.T) {
	t.Parallel()
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			var l *line
			if w.server == "" {
				l = connect(t, &mcptest.Server{Modern: w.modernServer})
			} else {
				l = connect(t, newFront(t, readConfig(t, `{"toolboxes": {"dev": {"open": true, "mcpServers": {"a": {`+w.server+`}}}}}`), ""))
			}
			behave(t, w, l)
		})
	}
}

// behave goes through the behaviours with one client.
func behave(t *testing.T, w way, l *line) {
	if w.client == "legacy" {
		l.initialize("2025-11-25", `{"elicitation":{},"roots":{}}`)
	}
	l.call(w, `"list"`, "tools/list", "", "")
	l.reply(`"list"`)
	for i, b := range behaviours() {
		if b.legacy && (w.client == "modern" || w.modernServer) {
			continue
		}
		id := fmt.Sprintf(`"%s %d"`, w.client, i)
		l.tool(w, id, b)
		var got []string
		for range len(b.want) - 1 {
			got = append(got, l.next(id, b))
		}
		got = append(got, strings.Replace(l.reply(id), `"id":`+id, `"id":ID`, 1))
		compare(t, w, b, got)
	}
	l.close()
}

// tool calls the tool of a behaviour.
func (l *line) tool(w way, id string, b behaviour) {
	l.t.Helper()
	name, arguments := b.tool, b.arguments
	switch {
	case w.use:
		name, arguments = "workbench_use_tool", fmt.Sprintf(`{"arguments":%s,"tool_name":%q,"toolbox_name":"dev"}`, b.arguments, b.tool)
	case w.server != "":
		name = "dev__a__" + b.tool
	}
	l.call(w, id, "tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments), b.meta)
}

// call makes a request as a client of the way's era does.
func (l *line) call(w way, id, method, members, meta string) {
	l.t.Helper()
	var all []string
	if members != "" {
		all = append(all, members)
	}
	switch {
	case w.client == "modern" && meta != "":
		all = append(all, strings.TrimSuffix(modernMembers, "}")+","+meta+"}")
	case w.client == "modern":
		all = append(all, modernMembers)
	case meta != "":
		all = append(all, `"_meta":{`+meta+`}`)
	}
	l.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, strings.Join(all, ",")))
}

// next takes what comes before the reply, and answers it if it is a question.
func (l *line) next(id string, b behaviour) string {
	l.t.Helper()
	text := l.wait("what comes before the reply to "+id, func(text string) bool {
		return !strings.Contains(text, "list_changed") && !strings.Contains(text, `"id":`+id)
	})
	if b.answer == "" {
		return text
	}
	_, rest, _ := strings.Cut(text, `"id":`)
	ask, _, _ := strings.Cut(rest, ",")
	l.send(`{"jsonrpc":"2.0","id":` + ask + `,` + b.answer + `}`)
	return strings.Replace(text, `"id":`+ask, `"id":ASK`, 1)
}

// compare checks what came against what is wanted. The type of a result belongs to the modern era: it is demanded there
// and overlooked otherwise.
func compare(t *testing.T, w way, b behaviour, got []string) {
	t.Helper()
	const typed = `"result":{"resultType":"complete",`
	if last := got[len(got)-1]; w.client == "modern" && strings.Contains(last, `"result":`) && !strings.Contains(last, typed) {
		t.Errorf("%s: got %.300s, want a result that says its type", b.name, last)
	}
	by := strings.NewReplacer(`BY"`, `"`, "ASKS?", "?")
	if w.server != "" {
		by = strings.NewReplacer(`BY"`, `"_meta":{"workbench/server":"dev/a"},"`, "ASKS", `Server \"a\" of toolbox \"dev\" asks: `)
	}
	for i, want := range b.want {
		want = by.Replace(want)
		if plain := strings.Replace(got[i], typed, `"result":{`, 1); plain != want {
			t.Errorf("%s, message %d: got\n%.2000s\nwant\n%.2000s", b.name, i, plain, want)
		}
	}
}
