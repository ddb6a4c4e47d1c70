//go:build linux

package adversary

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// draw is a source of what can be said. Each actor has one of its own, so that what it draws does not depend on others.
type draw struct{ *rand.Rand }

func newDraw(seed uint64, actor string) *draw {
	h := fnv.New64a()
	_, _ = h.Write([]byte(actor))
	return &draw{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// maxLine is the longest message that the program is configured to take.
const maxLine = 2 << 20

func one[T any](d *draw, of ...T) T { return of[d.IntN(len(of))] }

func (d *draw) chance(percent int) bool { return d.IntN(100) < percent }

// size is mostly small, and now and then at a limit.
func (d *draw) size() int {
	switch {
	case d.chance(2):
		return one(d, maxLine-1000, maxLine, maxLine+1, 2*maxLine)
	case d.chance(10):
		return d.IntN(256 << 10)
	default:
		return d.IntN(200)
	}
}

// quote gives the JSON of a text.
func quote(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// text is that of names and of prose.
func (d *draw) text() string {
	return one(d, "", "a", "good", "box", "echo", "box__good__echo", "good__echo", "good/echo", "good/echo", "box/good/echo", "far/echo", "box__far__echo", "workbench_open_toolbox",
		"workbench_use_tool", "open_toolbox", "use_tool", "box__good__echo_"+fmt.Sprintf("%08x", d.Uint32()), "bad0", "evil", "Echo", "есho",
		"echo\u200b", "\u202eohce", "\x1b[31mred", "a\x00b", "\ufeffecho", "..", "../../etc/passwd", "%s%d", "$(id)", "x:good", "workbench://box/good/x:good",
		"file:///etc/passwd", strings.Repeat("n", 64), strings.Repeat("w", 65), strings.Repeat("é", 70), strings.Repeat("long", d.size()/4),
		fmt.Sprintf("t-%d", d.IntN(40)))
}

// id is the token of an id, of all types.
func (d *draw) id() string {
	if d.chance(60) {
		return fmt.Sprint(d.IntN(60))
	}
	return one(d, `"1"`, "1.0", "1e0", "10e-1", "-1", "-0", "9007199254740993", "18446744073709551616", "1e400", "null", "true", "[]", "{}", `""`,
		`"wb-1"`, `"wb-2"`, `"wb-3"`, `"h-1"`, `"h-2"`, `"\u0031"`, "[1]", `{"id":1}`, quote(d.text()))
}

// value is any JSON.
func (d *draw) value(depth int) string {
	switch {
	case depth == 0 || d.chance(30):
		return one(d, "null", "true", "0", "-1", "1e400", "18446744073709551615", `""`, quote(d.text()), d.id())
	case d.chance(3):
		n := one(d, 10, 60, 100, 600, 5000)
		return strings.Repeat("[", n) + strings.Repeat("]", n)
	case d.chance(50):
		var items []string
		for range d.IntN(4) {
			items = append(items, d.value(depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return d.object(depth, d.IntN(5))
}

// object has members that mean something somewhere, twice at times.
func (d *draw) object(depth, members int) string {
	var items []string
	for range members {
		name := one(d, "name", "uri", "cursor", "arguments", "_meta", "progressToken", "progress", "requestId", "taskId", "task", "ttl", "status",
			"content", "text", "type", "isError", "structuredContent", "tools", "resources", "prompts", "resourceTemplates", "nextCursor", "level", "data",
			"message", "code", "requestState", "inputRequests", "inputResponses", "resultType", "ttlMs", "cacheScope", "method", "params", "id", "ref",
			"protocolVersion", "capabilities", "notifications", "io.modelcontextprotocol/protocolVersion", "Name", "NAME", "\u006eame", d.text())
		items = append(items, quote(name)+":"+d.value(depth-1))
	}
	return "{" + strings.Join(items, ",") + "}"
}

// method is one of either era and direction, or none.
func (d *draw) method() string {
	return one(d, "initialize", "server/discover", "ping", "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read",
		"resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get", "completion/complete", "logging/setLevel", "subscriptions/listen",
		"tasks/get", "tasks/cancel", "tasks/update", "tasks/result", "tasks/list", "skills/list", "skills/get", "resources/directory/read", "sampling/createMessage", "elicitation/create", "roots/list", "none/such", "")
}

func (d *draw) notification() string {
	return "notifications/" + one(d, "initialized", "cancelled", "progress", "message", "tools/list_changed", "resources/list_changed",
		"prompts/list_changed", "resources/updated", "roots/list_changed", "tasks/status", "tasks", "elicitation/complete", "subscriptions/acknowledged", "none")
}

const modernMembers = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"sampling":{},"roots":{}}`

// taskMembers are those of a client that has tasks.
var taskMembers = strings.Replace(modernMembers, `"roots":{}`, `"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}`, 1)

// params are mostly what the method has.
func (d *draw) params() string {
	if d.chance(20) {
		return d.value(4)
	}
	meta := one(d, "", `,"_meta":{`+modernMembers+`}`, `,"_meta":{`+taskMembers+`}`, `,"_meta":{"progressToken":`+d.id()+`}`, `,"_meta":`+d.value(2))
	return fmt.Sprintf(`{"name":%s,"uri":%s,"requestId":%s,"progressToken":%s,"progress":%d,"taskId":%s,"arguments":%s,"level":"info","data":%s,"ref":{"type":"ref/prompt","name":%s},"notifications":%s,"cursor":%s,"inputResponses":%s,"task":{"ttl":%s}%s}`,
		quote(d.text()), quote(d.text()), d.id(), d.id(), d.IntN(9), quote(d.text()), d.arguments(), d.value(2), quote(d.text()), d.filter(), quote(d.text()), d.object(2, 1), d.id(), meta)
}

// filter is what a subscription asks for.
func (d *draw) filter() string {
	return one(d, d.value(2), `{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}`,
		`{"resourceSubscriptions":["x:good",`+quote(d.text())+`]}`, `{"taskIds":[`+quote(d.text())+`,"t-1"]}`)
}

func (d *draw) arguments() string {
	return one(d, "{}", d.value(3), `{"toolbox_name":"box","tool_name":`+quote(d.text())+`}`, `{"toolbox_name":`+quote(d.text())+`}`,
		`{"toolbox_name":"box","tool_name":"echo","arguments":{"evil":true}}`)
}

// result is mostly what some request has.
func (d *draw) result() string {
	content := `"content":[{"type":"text","text":` + quote("EVIL "+d.text()) + `}]`
	return one(d, `{`+content+`}`, `{`+content+`,"isError":true}`, `{`+content+`,"structuredContent":`+d.value(4)+`}`,
		`{"resultType":"complete",`+content+`}`, d.value(4),
		`{"resultType":"input_required","requestState":`+d.value(1)+`,"inputRequests":{`+quote(d.text())+`:`+one(d, `{"method":"roots/list"}`, `{"method":"elicitation/create","params":{"message":"EVIL"}}`, d.value(2))+`}}`,
		`{"resultType":`+quote(d.text())+`,`+content+`}`,
		`{"task":{"taskId":`+quote(d.text())+`,"status":"working","ttl":`+d.id()+`}}`,
		`{"resultType":"task",`+d.state()+`}`, `{"resultType":"complete",`+d.state()+`}`, `{`+d.state()+`}`, `{"tasks":[{`+d.state()+`},{`+d.state()+`}]}`,
		`{"completion":{"values":[`+quote(d.text())+`],"total":`+d.id()+`,"hasMore":true}}`,
		`{"supportedVersions":`+one(d, `["2026-07-28"]`, `["2025-11-25"]`, `[]`, d.value(1))+`,"capabilities":`+d.object(2, 2)+`,"ttlMs":`+d.id()+`,"cacheScope":"public"}`,
		`{"contents":[{"uri":`+quote(d.text())+`,"text":"EVIL"}]}`,
		`{`+content+`,"x":"`+strings.Repeat("r", d.size())+`"}`)
}

// state are the members of a task, of both eras.
func (d *draw) state() string {
	status := one(d, "working", "working", "input_required", "completed", "failed", "cancelled", "none")
	return fmt.Sprintf(`"taskId":%s,"status":%q,"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":%s,"ttl":%s,"ttlMs":%s,"pollInterval":%s,"pollIntervalMs":1,"result":{"content":[{"type":"text","text":"EVIL"}]},"inputRequests":{"q":{"method":"elicitation/create","params":{"message":"EVIL"}}}`,
		quote(fmt.Sprintf("t-%d", d.IntN(40))), status, quote(d.text()), d.id(), d.id(), one(d, "0", "1", "-1", "1e9"))
}

func (d *draw) failure() string {
	return one(d, `{"code":-32603,"message":`+quote("EVIL "+d.text())+`}`, `{"code":-32022,"message":"version","data":{"supported":["2026-07-28"]}}`,
		`{"code":-32002,"message":"EVIL"}`, `{"code":`+d.id()+`,"message":`+d.value(1)+`}`, `{}`, d.value(2))
}

// line is a message, or what is none; ids are those that may be meant.
func (d *draw) line(ids ...string) string {
	id := d.id()
	if len(ids) > 0 && d.chance(50) {
		id = one(d, ids...)
	}
	switch d.IntN(12) {
	case 0, 1:
		return `{"jsonrpc":"2.0","id":` + id + `,"result":` + d.result() + `}`
	case 2:
		return `{"jsonrpc":"2.0","id":` + id + `,"error":` + d.failure() + `}`
	case 3, 4, 5:
		return `{"jsonrpc":"2.0","method":` + quote(d.notification()) + `,"params":` + d.params() + `}`
	case 6, 7, 8:
		return `{"jsonrpc":"2.0","id":` + id + `,"method":` + quote(d.method()) + `,"params":` + d.params() + `}`
	case 9:
		return d.object(4, 6)
	case 10:
		return d.broken(`{"jsonrpc":"2.0","id":` + id + `,"method":` + quote(d.method()) + `,"params":` + d.params() + `}`)
	default:
		return one(d, "", " ", "\r", "\ufeff{}", "[]", "["+d.value(3)+"]", "null", `"text"`, "{", "}", "\xff\xfe", "\x00", strings.Repeat("x", d.size()),
			`{"jsonrpc":"1.0","id":`+id+`,"result":{}}`, `{"jsonrpc":"2.0","ID":`+id+`,"result":{}}`, `{"jsonrpc":"2.0","id":`+id+`}`,
			`{"jsonrpc":"2.0","id":`+id+`,"id":2,"result":{}}`, `{"jsonrpc":"2.0","id":`+id+`,"result":{},"error":{}}`,
			`{"jsonrpc":"2.0","id":`+id+`,"result":{"a":"`+"\xff"+`"}}`, `{"jsonrpc":"2.0","id":`+id+`,"result":{"a":"\ud800"}}`)
	}
}

// broken is a text with something of it gone or other.
func (d *draw) broken(text string) string {
	b := []byte(text)
	for range 1 + d.IntN(3) {
		switch at := d.IntN(len(b)); d.IntN(3) {
		case 0:
			b = b[:at+1]
		case 1:
			b[at] = byte(d.IntN(256))
		default:
			b = append(b[:at], b[min(len(b), at+1+d.IntN(8)):]...)
		}
		if len(b) == 0 {
			return "{"
		}
	}
	return strings.ReplaceAll(string(b), "\n", " ")
}
