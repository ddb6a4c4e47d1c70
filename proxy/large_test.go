package proxy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/results"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy"
)

const largeConfig = `{"toolboxes": {"dev": {"mcpServers": {
	"a": {"command": "inside", "args": ["tools=result,echo", "tool={\"outputSchema\":{\"type\":\"object\"},\"name\":\"typed\",\"inputSchema\":{\"type\":\"object\"}}"],
		"largeResults": {"over": 2000, "do": "preview", "images": "link"}},
	"b": {"command": "inside", "args": ["tools=result"]}}}}}`

// toolResult is a result as clients see it.
type toolResult struct {
	Content []struct {
		Type, Text, URI, Data, MIMEType string
		Size                            int
	}
	StructuredContent json.RawMessage
	IsError           bool
	Meta              map[string]any `json:"_meta"`
}

// bigText is a JSON text that is large.
func bigText() string {
	rows := make([]map[string]any, 500)
	for i := range rows {
		rows[i] = map[string]any{"id": i, "name": fmt.Sprintf("row \"%d\"", i)}
	}
	text, _ := json.MarshalIndent(map[string]any{"rows": rows}, "", " ")
	return string(text)
}

// callTool makes a tools/call and returns the raw result.
func (l *line) callTool(id, name, arguments string) []byte {
	l.t.Helper()
	l.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, name, arguments))
	return resultOf(l.t, l.reply(id))
}

func resultOf(t *testing.T, reply string) []byte {
	t.Helper()
	var m wire.Message
	if err := wire.Scan([]byte(reply), &m); err != nil || m.Kind != wire.Result {
		t.Fatalf("got %.500s, want a result", reply)
	}
	return m.Bytes(m.Result)
}

func readTool(t *testing.T, raw []byte) (r toolResult) {
	t.Helper()
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// A large result of a server that is configured so is kept, and read on by the tool and as a resource; others are
// passed on byte for byte.
func TestLargeResults(t *testing.T) {
	dir := t.TempDir()
	front := newFrontWith(t, readConfig(t, largeConfig), proxy.Options{Results: results.New([]string{dir})})
	defer front.Close()
	l := connect(t, front)
	l.initialize("2025-11-25", "{}")
	text := bigText()
	big := `{"content":[{"type":"text","text":` + string(wire.AppendQuote(nil, text)) + `},{"type":"image","mimeType":"image/png","data":"aGVsbG8="}],"structuredContent":` +
		strings.Join(strings.Fields(text), "") + `,"isError":true,"_meta":{"x":1}}`
	inner := func(server, result string) string {
		return fmt.Sprintf(`{"toolbox_name":"dev","tool_name":"%s/result","arguments":{"result":%s}}`, server, result)
	}

	if got := l.callTool("1", "workbench_use_tool", inner("b", big)); string(got) != big {
		t.Errorf("of a server without the key: got %.200s, want it as it was", got)
	}
	small := `{"content":[{"type":"text","text":"` + strings.Repeat("x", 7000) + `"}],  "structuredContent":{"a":1.0}}`
	if got := l.callTool("2", "workbench_use_tool", inner("a", small)); string(got) != small {
		t.Errorf("a result that is not large: got %.200s, want it as it was", got)
	}

	raw := l.callTool("3", "workbench_use_tool", inner("a", big))
	got := readTool(t, raw)
	if len(raw) > 8000 || len(got.Content) != 4 || got.StructuredContent != nil || !got.IsError || got.Meta["x"] != 1.0 {
		t.Fatalf("got %s, want a preview with two texts and two links", raw)
	}
	for _, want := range []string{"{rows: array of 500 × {id: number, name: string}", "dev/a/result", "1 × image", "(of 2004)"} {
		if !strings.Contains(got.Content[0].Text, want) {
			t.Errorf("the preview lacks %q: %s", want, got.Content[0].Text)
		}
	}
	if head := got.Content[1].Text; !strings.HasPrefix(text, head) || len(head) < 1000 {
		t.Errorf("got the head %.100q of %d bytes", head, len(head))
	}
	uri := got.Content[2].URI
	id := strings.TrimPrefix(uri, results.Prefix)
	if got.Content[2].Size != len(big) || got.Content[3].URI != uri+".2" {
		t.Errorf("got the links %+v", got.Content[2:])
	}

	for i, tt := range []struct{ arguments, told, page string }{
		{`"lines":"3-4"`, "lines 3 to 4 of 2004, page 1 of 1", "  {\n   \"id\": 0,\n"},
		{`"lines":2004`, "lines 2004 to 2004", "}"},
		{`"path":"$.rows[?@.id>=498].name"`, "values 1 to 2 of 2", "\"row \\\"498\\\"\"\n\"row \\\"499\\\"\"\n"},
		{`"grep":"\"id\": 77,"`, "matches 1 to 1 of 1", "312:    \"id\": 77,\n"},
		{`"page":2`, "page 2 of ", ""},
	} {
		raw := l.callTool(fmt.Sprint(10+i), "workbench_read_result", `{"id":"`+id+`",`+tt.arguments+`}`)
		got := readTool(t, raw)
		if got.IsError || len(got.Content) != 2 || !strings.Contains(got.Content[0].Text, tt.told) || tt.page != "" && got.Content[1].Text != tt.page {
			t.Errorf("%s: got %s, want %q and %q", tt.arguments, raw, tt.told, tt.page)
		}
	}
	for i, arguments := range []string{`{}`, `{"id":"x"}`, `{"id":1}`, `{"id":"` + id + `","lines":"1","grep":"x"}`, `{"id":"` + id + `","page":0}`, `{"id":"` + id + `","page":1e9}`,
		`{"id":"` + id + `","lines":"4-1"}`, `{"id":"` + id + `","grep":"("}`, `{"id":"` + id + `","path":"$["}`, `{"id":"` + id + `","page":99}`} {
		if got := readTool(t, l.callTool(fmt.Sprint(30+i), "workbench_read_result", arguments)); !got.IsError || got.Content[0].Text == "" {
			t.Errorf("%s: got %+v, want an error", arguments, got)
		}
	}

	l.send(`{"jsonrpc":"2.0","id":50,"method":"resources/read","params":{"uri":"` + uri + `"}}`)
	var read struct {
		Contents []struct{ URI, MIMEType, Text, Blob string }
	}
	if err := json.Unmarshal(resultOf(t, l.reply("50")), &read); err != nil || len(read.Contents) != 3 {
		t.Fatalf("got %+v, %v, want the text, the image and the structured content", read, err)
	}
	if c := read.Contents; c[0].Text != text || c[1].Blob != "aGVsbG8=" || c[1].URI != uri+".2" || c[2].Text != strings.Join(strings.Fields(text), "") {
		t.Errorf("got other contents than the server's")
	}

	other := connect(t, front)
	other.initialize("2025-11-25", "{}")
	if got := readTool(t, other.callTool("1", "workbench_read_result", `{"id":"`+id+`"}`)); !got.IsError {
		t.Errorf("another session got %+v", got)
	}
	other.send(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"` + uri + `"}}`)
	if got := other.reply("2"); !strings.Contains(got, "Resource not found") {
		t.Errorf("another session got %.200s", got)
	}

	l.send(`{"jsonrpc":"2.0","id":60,"method":"tools/list"}`)
	list := string(resultOf(t, l.reply("60")))
	if strings.Contains(list, "outputSchema") || !strings.Contains(list, `{"name":"dev__a__typed","inputSchema":{"type":"object"}}`) || !strings.Contains(list, `"workbench_read_result"`) {
		t.Errorf("got the list %s", list)
	}
	raw = l.callTool("61", "dev__a__result", `{"result":`+big+`}`)
	if got := readTool(t, raw); len(got.Content) != 4 {
		t.Errorf("by its own name: got %.300s, want a preview", raw)
	}

	old := connect(t, front)
	old.initialize("2024-11-05", "{}")
	if got := old.callTool("1", "workbench_use_tool", inner("a", big)); strings.Contains(string(got), "resource_link") || len(got) > 8000 {
		t.Errorf("a client of 2024-11-05 got %s, want a preview without links", got)
	}
	for _, c := range []*line{l, other, old} {
		c.close()
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("got %v, %v left, want nothing", left, err)
	}
}

// Where nothing is configured so, nothing is listed and nothing is answered.
func TestLargeResultsOff(t *testing.T) {
	front := newFrontWith(t, readConfig(t, `{"toolboxes": {"dev": {"mcpServers": {"b": {"command": "inside", "args": ["tools=result"], "largeResults": {"do": "pass"}}}}}}`),
		proxy.Options{Results: results.New([]string{t.TempDir()})})
	defer front.Close()
	l := connect(t, front)
	l.initialize("2025-11-25", "{}")
	l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if got := l.reply("1"); strings.Contains(got, "read_result") {
		t.Errorf("got %s", got)
	}
	l.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workbench_read_result","arguments":{"id":"x"}}}`)
	if got := l.reply("2"); !strings.Contains(got, "tool not found") {
		t.Errorf("got %s", got)
	}
}

// A client of revision 2026-07-28 gets previews and reads on too, and one that is served a toolbox directly.
func TestLargeResultsModernAndDirect(t *testing.T) {
	big := `{"content":[{"type":"text","text":"` + strings.Repeat("y", 20000) + `"}]}`
	front := newFrontWith(t, readConfig(t, largeConfig), proxy.Options{Direct: "dev", Results: results.New([]string{t.TempDir()})})
	defer front.Close()
	l := connect(t, front)
	l.send(strings.ReplaceAll(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"x":"`+strings.Repeat("y", 20000)+`"},$META}}`, "$META", modernMembers))
	raw := resultOf(t, l.reply("1"))
	got := readTool(t, raw)
	if len(got.Content) != 3 || !strings.HasPrefix(string(raw), `{"resultType":"complete",`) {
		t.Fatalf("got %.300s, want a preview of the modern era", raw)
	}
	l.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"workbench_read_result","arguments":{"id":"` + got.Content[2].URI + `"},` + modernMembers + `}}`)
	if got := readTool(t, resultOf(t, l.reply("2"))); got.IsError || !strings.Contains(got.Content[0].Text, "page 1 of 4") {
		t.Errorf("got %+v, want a page", got)
	}
	l.send(`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"` + got.Content[2].URI + `",` + modernMembers + `}}`)
	if raw := string(resultOf(t, l.reply("3"))); !strings.Contains(raw, `"resultType":"complete"`) || !strings.Contains(raw, `"ttlMs"`) || len(raw) < len(big) {
		t.Errorf("got %.300s, want the whole, of the modern era", raw)
	}
}

// gate is where a log is written to, which holds up the line with some words until it is opened.
type gate struct {
	words         string
	reached, open chan struct{}
}

func (g *gate) Write(line []byte) (int, error) {
	if strings.Contains(string(line), g.words) {
		close(g.reached)
		<-g.open
	}
	return len(line), nil
}

// What is made of a large result holds up no other reply of its server, however long it takes: here until the log takes
// the line that says that the result could not be kept.
func TestLargeResultsHoldUpNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "no folder")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	g := &gate{"a large result was passed on whole", make(chan struct{}), make(chan struct{})}
	const config = `{"toolboxes": {"dev": {"mcpServers": {"a": {"command": "child", "args": ["tools=result"], "largeResults": {"over": 2000, "do": "preview"}}}}}}`
	front := newFrontWith(t, readConfig(t, config), proxy.Options{Results: results.New([]string{file}), Logger: zerolog.New(g)})
	defer front.Close()
	l := connect(t, front)
	l.initialize("2025-11-25", "{}")
	big := `{"content":[{"type":"text","text":"` + strings.Repeat("y", 20000) + `"}]}`
	l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workbench_use_tool","arguments":{"toolbox_name":"dev","tool_name":"a/result","arguments":{"result":` + big + `}}}}`)
	select {
	case <-g.reached:
	case <-time.After(peerWait):
		t.Fatal("nothing was said of the large result")
	}
	if got := string(l.callTool("2", "workbench_use_tool", `{"toolbox_name":"dev","tool_name":"a/result","arguments":{"result":{"content":[]}}}`)); got != `{"content":[]}` {
		t.Errorf("got %s beside the large result", got)
	}
	close(g.open)
	if got := string(resultOf(t, l.reply("1"))); got != big {
		t.Errorf("got %.200s of what could not be kept, want it whole", got)
	}
	l.close()
}
