package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/results"
	"github.com/mcp-workbench/workbench/internal/script"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
)

const scriptConfig = `{"codeMode": true, "toolboxes": {"dev": {"mcpServers": {
	"a": {"command": "inside", "args": ["tools=result,echo,secret,fail,iserror,hang,ask,progress,heard"], "toolFilters": ["!secret"],
		"largeResults": {"over": 2000, "do": "preview"}}}},
	"off": {"mcpServers": {"x": {"command": "inside", "args": ["tools=echo"], "disabled": true}}}}}`

type scriptProcess struct{ *child.Process }

func (p scriptProcess) Read(b []byte) (int, error)  { return p.Stdout().Read(b) }
func (p scriptProcess) Write(b []byte) (int, error) { return p.Stdin().Write(b) }

func (p scriptProcess) End() (int, error) {
	err := p.Stop(context.Background(), child.Grace{EOF: -1, Term: -1})
	return p.Exit().Code, err
}

// scripts runs scripts in processes of this test binary.
func scripts() *script.Host {
	return &script.Host{Start: func() (script.Process, error) {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		p, err := child.Start(child.Spec{Command: self, Env: []string{asScript + "=yes", "GORACE=atexit_sleep_ms=0"}})
		if err != nil {
			return nil, err
		}
		return scriptProcess{p}, nil
	}}
}

func scriptFront(t *testing.T) *proxy.Proxy {
	front := newFrontWith(t, readConfig(t, scriptConfig), proxy.Options{Scripts: scripts(), Results: results.New([]string{t.TempDir()})})
	t.Cleanup(func() { _ = front.Close() })
	return front
}

// run has a script run and returns its result.
func (l *line) run(id, code string) toolResult {
	l.t.Helper()
	return readTool(l.t, l.callTool(id, "workbench_run_script", `{"code":`+string(wire.AppendQuote(nil, code))+`}`))
}

// A script makes calls in the ordinary way: what cannot be called otherwise cannot be called by it.
func TestScripts(t *testing.T) {
	t.Parallel()
	l := connect(t, scriptFront(t))
	l.initialize("2025-11-25", `{"elicitation":{}}`)
	big := strings.Repeat("y", 40000)
	for i, tt := range []struct {
		code, want string
		isError    bool
	}{
		{"return await tools.dev.a.echo({n: 9007199254740993n.toString(), s: 'ä'})", `{"n":"9007199254740993","s":"ä"}`, false},
		{"return (await tools.dev.a.echo({x: '" + big + "'})).x.length", "40000", false}, // it has the whole, no preview
		{`return await tools.dev.a.result({result: {content: [], structuredContent: {a: 1}}})`, `{"a":1}`, false},
		{`return await tools.dev.a.result({result: {content: [{type: "text", text: "one"}, {type: "text", text: "two"}]}})`, "one\ntwo", false},
		{`return await tools.dev.a.result({result: {content: [{type: "text", text: "12"}]}})`, "12", false},
		{`return (await tools.dev.a.result({result: {content: [{type: "image", data: "eA==", mimeType: "image/png"}]}}))[0].mimeType`, "image/png", false},
		{"await tools.dev.a.iserror()", "the script failed: Error: no such file", true},
		{"await tools.dev.a.fail()", "the script failed: Error: it failed", true},
		{"await tools.dev.a.secret()", `tool not found: "secret"`, true},
		{"await tools.off.x.echo()", `"disabled": true`, true},
		{"await tools.none.x.echo()", `toolbox "none" not found`, true},
		{"await tools.dev.b.echo()", `has no server "b"`, true},
		{"await tools.dev.a.workbench_run_script({code: '1'})", "tool not found", true},
		{`await tools.dev.a.result({result: {content: [], isError: true}})`, "the script failed: Error: the tool failed and did not say why", true},
		{`await tools.dev.a.result({result: {content: [], structuredContent: {code: 7}, isError: true}})`, `the script failed: Error: {"code":7}`, true},
		{`await tools.dev.a.result({result: 7})`, "Error: the tool's result cannot be read: ", true},
		{"await tools.dev.a.echo({}); await tools.dev.a.echo({}); await tools.dev.a.fail()", "of the calls of the script 3 were answered (dev/a/echo ×2, dev/a/fail ×1)", true},
		{"for (let i = 0; i < 3; i++) tools.dev.a.hang({note: true}); while (JSON.stringify(await tools.dev.a.heard({})).split('hang').length < 4); return 'done'",
			"doneworkbench: of the calls of the script 3 were cut off by its end, and whether they were carried out is unknown (dev/a/hang ×3); a script that is to end", false},
		{"console.log('seen'); return 1", "console:\nseen", false},
		{"return 'z'.repeat(200000)", "the result of the script is too large to show", false},
		{";", "returned nothing", false},
		{"", "needs arguments with code", true},
		{"```js\nreturn `in a fence`\n```\n", "in a fence", false},
		{"```\nnull.x\n```", "(line 2)", true},
		{"``` return 1```", "the script failed: TypeError", true},
	} {
		got := l.run(fmt.Sprint(i+1), tt.code)
		var all strings.Builder
		for _, c := range got.Content {
			all.WriteString(c.Text)
		}
		if got.IsError != tt.isError || !strings.Contains(all.String(), tt.want) || all.Len() > 8000 {
			t.Errorf("%.80s: got %.300s, error %t, want %q", tt.code, &all, got.IsError, tt.want)
		}
	}
	for i, arguments := range []string{`{}`, `{"code":1}`} {
		if got := readTool(t, l.callTool(fmt.Sprint(100+i), "workbench_run_script", arguments)); !got.IsError {
			t.Errorf("%s: got %+v, want an error", arguments, got)
		}
	}

	// What a server asks meanwhile is the client's to answer.
	l.send(`{"jsonrpc":"2.0","id":200,"method":"tools/call","params":{"name":"workbench_run_script","arguments":{"code":"return await tools.dev.a.ask({ask: {method: 'elicitation/create', params: {message: 'Really?'}}})"}}}`)
	var m wire.Message
	question := l.method("elicitation/create")
	if err := wire.Scan([]byte(question), &m); err != nil {
		t.Fatal(err)
	}
	l.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"yes":true}}}`, m.Bytes(m.ID)))
	if got := readTool(t, resultOf(t, l.reply("200"))); got.IsError || !strings.Contains(got.Content[0].Text, "accept") {
		t.Errorf("got %+v, want what was answered", got)
	}

	// Its client hears how many calls were made, and nothing of theirs.
	l.send(`{"jsonrpc":"2.0","id":201,"method":"tools/call","params":{"name":"workbench_run_script","arguments":{"code":"await tools.dev.a.progress({n: 3}); await tools.dev.a.echo({})"},"_meta":{"progressToken":"p"}}}`)
	l.reply("201")
	var told []string
	for _, text := range l.close() {
		if strings.Contains(text, "notifications/progress") {
			told = append(told, text)
		}
	}
	if len(told) != 2 || !strings.Contains(told[1], `"progressToken":"p","progress":2`) {
		t.Errorf("got the progress %q, want that of two calls", told)
	}
}

// A script that is cancelled ends, and its calls with it.
func TestScriptCancelled(t *testing.T) {
	t.Parallel()
	front := scriptFront(t)
	l := connect(t, front)
	l.initialize("2025-11-25", "{}")
	l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workbench_run_script","arguments":{"code":"await tools.dev.a.echo({}); await tools.dev.a.hang({})"},"_meta":{"progressToken":1}}}`)
	l.method("notifications/progress") // the first call is done
	l.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if got := l.run("2", "return 1"); got.Content[0].Text != "1" {
		t.Errorf("got %+v", got)
	}
	for _, text := range l.close() { // it returns when no request is under way
		if strings.Contains(text, `"id":1,`) {
			t.Errorf("got %s for a request that was cancelled", text)
		}
	}
}

// Where there are scripts, open and find declare tools as the scripts call them, with what they give.
func TestStubs(t *testing.T) {
	t.Parallel()
	for _, scripts := range []bool{true, false} {
		config := fmt.Sprintf(`{"codeMode": %t, "toolboxes": {"dev": {"mcpServers": {"a": {"command": "inside", "args": [%q]}}}}}`, scripts,
			`tool={"name":"list-issues","inputSchema":{"type":"object","properties":{"page":{"type":"integer"}}},"outputSchema":{"type":"object","properties":{"ids":{"type":"array","items":{"type":"integer"}}}}}`)
		l := connect(t, newFront(t, readConfig(t, config), ""))
		l.initialize("2025-11-25", "{}")
		want := "list-issues(page?: integer)"
		if scripts {
			want = `"list-issues"(args?: {page?: number}): Promise<{ids?: number[]}>`
		}
		opened := readTool(t, l.callTool("1", "workbench_open_toolbox", `{"toolbox_name":"dev","detail":"signatures"}`))
		found := readTool(t, l.callTool("2", "workbench_find_tools", `{"query":"list issues"}`))
		for _, got := range []toolResult{opened, found} {
			if text := got.Content[0].Text; !strings.Contains(text, want) || strings.Contains(text, "tools.") != scripts {
				t.Errorf("scripts %t: got %s, want %s", scripts, text, want)
			}
		}
		structured := opened.StructuredContent
		if quoted := wire.AppendQuote(nil, strings.TrimPrefix(strings.TrimPrefix(want, `"list-issues"`), "list-issues")); !strings.Contains(string(structured), `"signature":`+string(quoted)) {
			t.Errorf("scripts %t: got %s, want the signature %s", scripts, structured, quoted)
		}
		l.close()
	}
}

// A client of revision 2026-07-28 runs scripts too.
func TestScriptModern(t *testing.T) {
	t.Parallel()
	l := connect(t, scriptFront(t))
	l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workbench_run_script","arguments":{"code":"return (await tools.dev.a.echo({n: 5})).n"},` + modernMembers + `}}`)
	if got := string(resultOf(t, l.reply("1"))); got != `{"resultType":"complete","content":[{"type":"text","text":"5"}]}` {
		t.Errorf("got %s", got)
	}
}

// A batch of ten calls by a script costs the model a fifth of ten calls or less, with the same answer.
func TestScriptTokens(t *testing.T) {
	t.Parallel()
	l := connect(t, scriptFront(t))
	l.initialize("2025-11-25", "{}")
	page := func(n int) string {
		var rows []map[string]any
		for i := range 40 {
			rows = append(rows, map[string]any{"id": n*40 + i, "title": fmt.Sprintf("Issue %d of page %d", i, n), "open": i%7 == n%7, "author": "somebody"})
		}
		text, _ := json.Marshal(map[string]any{"issues": rows})
		return fmt.Sprintf(`{"result":{"content":[{"type":"text","text":%s}]}}`, wire.AppendQuote(nil, string(text)))
	}
	calls := 0
	var open []int
	for n := range 10 {
		arguments := fmt.Sprintf(`{"toolbox_name":"dev","tool_name":"result","arguments":%s}`, page(n))
		raw := l.callTool(fmt.Sprint(n+1), "workbench_use_tool", arguments)
		// The arguments stand for a number of a page: a server would have the pages itself.
		calls += len(raw) + len(`{"toolbox_name":"dev","tool_name":"list_issues","arguments":{"page":1}}`)
		var answer struct {
			Issues []struct {
				ID   int
				Open bool
			}
		}
		if err := json.Unmarshal([]byte(readTool(t, raw).Content[0].Text), &answer); err != nil {
			t.Fatal(err)
		}
		for _, is := range answer.Issues {
			if is.Open {
				open = append(open, is.ID)
			}
		}
	}
	const code = "const pages = await Promise.all([...Array(10).keys()].map(page => tools.dev.a.list_issues({page})));\n" +
		"return pages.flatMap(p => p.issues).filter(i => i.open).map(i => i.id)"
	pages := make([]string, 10)
	for n := range pages {
		pages[n] = page(n)
	}
	asked := strings.ReplaceAll(code, "tools.dev.a.list_issues({page})", "tools.dev.a.result(["+strings.Join(pages, ",")+"][page])")
	raw := l.callTool("11", "workbench_run_script", `{"code":`+string(wire.AppendQuote(nil, asked))+`}`)
	cost := len(code) + len(raw)
	want, _ := json.Marshal(open)
	if got := readTool(t, raw).Content[0].Text; got != string(want) {
		t.Errorf("got %s, want the answer of ten calls, %s", got, want)
	}
	t.Logf("ten calls %d tokens, a script %d tokens: %.1f %% fewer", calls/4, cost/4, 100-100*float64(cost)/float64(calls))
	if cost*5 > calls {
		t.Errorf("a script costs %d tokens, want a fifth of the %d of ten calls", cost/4, calls/4)
	}
}

// Where the configuration does not allow scripts there are none.
func TestScriptsOff(t *testing.T) {
	front := newFrontWith(t, readConfig(t, `{"toolboxes": {"dev": {"mcpServers": {"b": {"command": "inside", "args": ["tools=echo"]}}}}}`), proxy.Options{Scripts: scripts()})
	defer front.Close()
	l := connect(t, front)
	l.initialize("2025-11-25", "{}")
	l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if got := l.reply("1"); strings.Contains(got, "run_script") {
		t.Errorf("got %s", got)
	}
	l.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workbench_run_script","arguments":{"code":"1"}}}`)
	if got := l.reply("2"); !strings.Contains(got, "tool not found") {
		t.Errorf("got %s", got)
	}
}

// A client that asks for many scripts at once gets a few.
func TestScriptsAtATime(t *testing.T) {
	t.Parallel()
	l := connect(t, scriptFront(t))
	l.initialize("2025-11-25", "{}")
	for id := range 4 {
		l.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"workbench_run_script","arguments":{"code":"await tools.dev.a.hang()"}}}`, id))
	}
	if got := l.run("10", "1"); !got.IsError || !strings.Contains(got.Content[0].Text, "4 scripts already run for this client") {
		t.Errorf("got %+v, want a refusal", got)
	}
	for id := range 4 {
		l.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
	}
	l.close()
}

// paced is a front of whose clients' scripts a number of calls is let through.
type paced struct {
	*proxy.Proxy
	left int
}

func (p *paced) Connect(send func([]byte)) wire.Session {
	return p.NewSession(proxy.Client{Principal: principal.Principal{Name: principal.Default}, Send: send, Pace: func() error {
		if p.left--; p.left < 0 {
			return errors.New("try again in 9 s")
		}
		return nil
	}})
}

// The calls of a script count as those of its client do, and one too many tells the script why.
func TestScriptPaced(t *testing.T) {
	t.Parallel()
	l := connect(t, &paced{scriptFront(t), 2})
	l.initialize("2025-11-25", "{}")
	got := l.run("1", "const all = []; for (const n of [1, 2, 3]) { try { all.push((await tools.dev.a.echo({n})).n) } catch (e) { all.push(e.message) } } return all")
	if want := `[1,2,"try again in 9 s"]`; got.Content[0].Text != want {
		t.Errorf("got %+v, want %s", got, want)
	}
}
