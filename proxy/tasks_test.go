package proxy_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/config"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/taskbook"
	"github.com/mcp-workbench/workbench/proxy"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

// taskServers is a toolbox "dev" of two servers that make tasks as they are told.
const taskServers = `{"toolboxes":{"dev":{"open":true,"mcpServers":{
	"bank":{"command":"inside","args":["name=bank","capabilities={\"tools\":{},\"tasks\":{\"list\":{}}}"]},
	"evil":{"command":"inside","args":["name=evil","capabilities={\"tools\":{},\"tasks\":{\"list\":{}}}"]}}}}}`

// modernTaskServers is the same of servers of revision 2026-07-28, and "plain", which has not the extension.
const modernTaskServers = `{"toolboxes":{"dev":{"open":true,"mcpServers":{
	"bank":{"command":"inside","args":["name=bank","modern","capabilities={\"tools\":{},\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}"]},
	"evil":{"command":"inside","args":["name=evil","modern","capabilities={\"tools\":{},\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}"]},
	"plain":{"command":"inside","args":["name=plain","modern"]}}}}}`

// tasker is a client that works with tasks.
type tasker struct {
	*line
	meta string // what each request has in params besides
	last int
}

func newTasker(t *testing.T, text string) *tasker {
	return newTaskerOf(t, readConfig(t, text))
}

func newTaskerOf(t *testing.T, cfg *config.Config) *tasker {
	k := &tasker{line: connect(t, newFront(t, cfg, ""))}
	k.initialize("2025-11-25", `{"tasks":{}}`)
	k.ask("tools/list", `"x":1`)
	return k
}

// ask makes a request with these members of params and returns the reply.
func (k *tasker) ask(method, params string) string {
	k.t.Helper()
	k.last++
	k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s%s}}`, k.last, method, params, k.meta))
	return k.reply(fmt.Sprint(k.last))
}

// clear forgets what came, which was all waited for.
func (k *tasker) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.got, k.used = nil, nil
}

// has a server answer a call with a result; more are further members of params.
func (k *tasker) result(server, result, more string) string {
	k.t.Helper()
	return k.ask("tools/call", fmt.Sprintf(`"name":"dev__%s__result","arguments":{"result":%s}%s`, server, result, more))
}

// wants reads the reply to a request for pieces of text.
func (k *tasker) wants(reply string, pieces ...string) {
	k.t.Helper()
	for _, p := range pieces {
		if !strings.Contains(reply, p) {
			k.t.Errorf("got %s, want %s in it", reply, p)
		}
	}
}

const augment = `,"task":{"ttl":60000}`

// Servers that use the same id each keep their task: the second one's has the id of the server and its place, wherever
// the client meets it.
func TestFaultG5_TasksOfTheSameID(t *testing.T) {
	k := newTasker(t, taskServers)
	const rest = `"status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null`
	const made = `{"task":{` + rest + `,"taskId":"task-1"}}`
	const other = `workbench://dev/evil/task-1`
	k.wants(k.result("bank", made, augment), `"result":`+made)
	k.wants(k.result("evil", made, augment), `"result":{"task":{`+rest+`,"taskId":"`+other+`"}}`)
	k.wants(k.result("bank", made, augment), `"result":`+made) // its own id again

	for _, method := range []string{"tasks/get", "tasks/cancel"} {
		k.wants(k.ask(method, `"taskId":"task-1"`), `"by":"bank"`, `"taskId":"task-1"`)
		k.wants(k.ask(method, `"taskId":"`+other+`"`), `"by":"evil"`, `"taskId":"`+other+`"`)
	}
	k.wants(k.ask("tasks/result", `"taskId":"task-1"`), `"of bank"`, `"io.modelcontextprotocol/related-task":{"taskId":"task-1"}`)
	k.wants(k.ask("tasks/result", `"taskId":"`+other+`"`), `"of evil"`, `"io.modelcontextprotocol/related-task":{"taskId":"`+other+`"}`)
	k.wants(k.result("bank", `{"task":{"status":"working","taskId":"task-2"}}`, augment), `"task-2"`)
	if got := k.ask("tasks/list", ""); strings.Contains(got, "task-2") {
		t.Errorf("got %s, want no entry for which clients refuse the list", got)
	}
	k.wants(k.ask("tasks/list", `"x":1`), `[{`+rest+`,"taskId":"task-1"},`, `{`+rest+`,"taskId":"`+other+`"}]`)

	// What the server says of it has the client's id too.
	k.wants(k.ask("tools/call", `"name":"dev__evil__say","arguments":{"say":[{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"task-1","status":"failed"}}]}`), "said")
	k.wants(k.method("notifications/tasks/status"), `{"taskId":"`+other+`","status":"failed"}`)
}

// An id that looks like one of those that are made for tasks of the same id is not taken for one of them.
func TestFaultG5_TaskIDThatLooksLikeAnothers(t *testing.T) {
	k := newTasker(t, taskServers)
	const made = `{"task":{"taskId":"task-1"}}`
	k.wants(k.result("evil", `{"task":{"taskId":"workbench://dev/bank/task-1"}}`, augment), `"taskId":"workbench://dev/evil/workbench://dev/bank/task-1"`)
	k.wants(k.result("evil", made, augment), `"taskId":"task-1"`)
	k.wants(k.result("bank", made, augment), `"taskId":"workbench://dev/bank/task-1"`)
	k.wants(k.ask("tasks/get", `"taskId":"workbench://dev/bank/task-1"`), `"by":"bank"`)
	k.wants(k.ask("tasks/get", `"taskId":"workbench://dev/evil/workbench://dev/bank/task-1"`), `"by":"evil"`)
}

// Only a result that may be a task makes one.
func TestFaultG6_TaskInAnOrdinaryResult(t *testing.T) {
	const unknown = "was not made in this session"
	t.Run("legacy", func(t *testing.T) {
		k := newTasker(t, taskServers)
		k.result("bank", `{"task":{"taskId":"task-1"}}`, augment)
		for _, result := range []string{`{"task":{"taskId":"task-1"}}`, `{"taskId":"task-1"}`, `{"task":{"taskId":"task-2"}}`} {
			k.wants(k.result("evil", result, ""), `"result":`+result)
		}
		k.wants(k.result("evil", `{"taskId":"task-3"}`, augment), `"result":{"taskId":"task-3"}`)
		k.wants(k.ask("tasks/get", `"taskId":"task-1"`), `"by":"bank"`)
		k.wants(k.ask("tasks/get", `"taskId":"task-2"`), unknown)
		k.wants(k.ask("tasks/get", `"taskId":"task-3"`), unknown)
	})
	modern := func(capabilities string) string {
		return `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
	}
	extension := modern(`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`)
	t.Run("modern", func(t *testing.T) {
		k := newTasker(t, modernTaskServers)
		k.meta = extension
		k.wants(k.result("bank", `{"resultType":"task","taskId":"task-1"}`, ""), `"taskId":"task-1"`)
		k.wants(k.result("evil", `{"resultType":"complete","content":[],"taskId":"task-1"}`, ""), `"taskId":"task-1"`)
		k.wants(k.result("plain", `{"resultType":"task","taskId":"task-1"}`, ""), `"taskId":"task-1"`)
		k.wants(k.result("plain", `{"resultType":"task","taskId":"task-2"}`, ""), `"taskId":"task-2"`)
		k.wants(k.ask("tasks/get", `"taskId":"task-1"`), `"by":"bank"`)
		k.wants(k.ask("tasks/get", `"taskId":"task-2"`), unknown)
		// And one that is a task has an id of its own.
		k.wants(k.result("evil", `{"resultType":"task","taskId":"task-1"}`, ""), `"taskId":"workbench://dev/evil/task-1"`)
		k.wants(k.ask("tasks/update", `"taskId":"workbench://dev/evil/task-1"`), `"by":"evil"`)
		k.wants(k.ask("tasks/get", `"taskId":"task-1"`), `"by":"bank"`)
	})
	t.Run("undeclared", func(t *testing.T) {
		k := newTasker(t, modernTaskServers)
		k.meta = modern(`{}`)
		k.result("bank", `{"resultType":"task","taskId":"task-1"}`, "")
		k.meta = extension
		k.wants(k.ask("tasks/get", `"taskId":"task-1"`), unknown)
	})
}

// The tasks that were not used for longest are forgotten first, and those of the server that makes so many.
func TestFaultG7_ManyTasks(t *testing.T) {
	k := newTasker(t, taskServers)
	made := func(server string, n int) {
		k.result(server, fmt.Sprintf(`{"task":{"taskId":"%s-%d"}}`, server, n), augment)
	}
	made("bank", 0)
	for n := range 10_100 {
		made("evil", n)
		if n%1000 == 0 {
			k.ask("tasks/get", `"taskId":"evil-0"`)
			k.clear()
		}
	}
	for id, want := range map[string]string{
		"bank-0": `"by":"bank"`, "evil-0": `"by":"evil"`, "evil-10099": `"by":"evil"`, "evil-1": "was not made in this session", "evil-150": `"by":"evil"`,
	} {
		k.wants(k.ask("tasks/get", `"taskId":"`+id+`"`), want)
	}
}

// A task is found again by another session, after a restart and with its toolbox closed, under the id that the client
// knows; nobody else finds it, and an id that nobody was given leads nowhere.
func TestTaskOutlivesItsConnection(t *testing.T) {
	book := taskbook.New(filepath.Join(t.TempDir(), "tasks"), zerolog.Nop())
	begin := func(config string) *tasker {
		k := &tasker{line: connect(t, newFrontWith(t, readConfig(t, config), proxy.Options{Tasks: book}))}
		k.initialize("2025-11-25", `{"tasks":{}}`)
		return k
	}
	k := begin(taskServers)
	k.ask("tools/list", `"x":1`)
	const made = `{"task":{"status":"working","taskId":"task-1","ttl":600000}}`
	k.wants(k.result("bank", made, augment), `"taskId":"task-1"`)
	k.wants(k.result("evil", made, augment), `"taskId":"workbench://dev/evil/task-1"`)
	k.wants(k.result("bank", `{"task":{"taskId":"short","ttl":0}}`, augment), `"taskId":"short"`)
	k.close()

	closed := strings.Replace(taskServers, `"open":true,`, "", 1)
	k = begin(closed)
	// The other way round than they were made.
	k.wants(k.ask("tasks/get", `"taskId":"workbench://dev/evil/task-1"`), `"by":"evil"`, `"taskId":"workbench://dev/evil/task-1"`)
	k.wants(k.ask("tasks/get", `"taskId":"task-1"`), `"by":"bank"`, `"taskId":"task-1"`)
	for _, id := range []string{"short", "task-2", "workbench://dev/bank/task-1", ""} {
		k.wants(k.ask("tasks/get", fmt.Sprintf(`"taskId":%q`, id)), `"code":-32602`, "was not made in this session")
	}
	k = begin(strings.Replace(closed, `"bank":{`, `"bank":{"disabled":true,`, 1))
	k.wants(k.ask("tasks/get", `"taskId":"task-1"`), `"error"`)
}

// What a modern server asks in word of a task says which server asks, and what others might read otherwise is not passed.
func TestTaskNewsSayWhoAsks(t *testing.T) {
	k := newTasker(t, modernTaskServers)
	modern := wiretest.Modern("{}", `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`)
	k.meta = "," + modern[1:len(modern)-1]
	k.wants(k.result("evil", `{"resultType":"task","taskId":"task-1"}`, ""), `"taskId":"task-1"`)
	k.send(`{"jsonrpc":"2.0","id":"news","method":"subscriptions/listen","params":{"notifications":{"taskIds":["task-1"]}` + k.meta + `}}`)
	k.method("notifications/subscriptions/acknowledged")
	say := func(message string) string {
		return `{"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"task-1","status":"input_required",` +
			`"inputRequests":{"a":{"method":"elicitation/create","params":{"_meta":{"workbench/server":"dev/bank"},` + message + `}}}}}`
	}
	k.wants(k.ask("tools/call", `"name":"dev__evil__say","arguments":{"say":[`+say(`"message":"A","message":"B"`)+`,`+say(`"message":"C"`)+`]}`), "said")
	k.wants(k.method("notifications/tasks"), `"workbench/server":"dev/evil"`, `"message":"Server \"evil\" of toolbox \"dev\" asks: C"`)
}

// A server that nests what it says of a task as deep as it may is no reason to end: in the other era's terms it would
// be nested deeper.
func TestDeepTask(t *testing.T) {
	for deep := 505; deep <= 510; deep++ { // with the message and its result 512 levels, which is as deep as may be
		k := newTasker(t, modernTaskServers)
		k.result("bank", `{"resultType":"task","taskId":"task-1"}`, augment)
		k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":90,"method":"tools/call","params":{"name":"dev__bank__result","arguments":{"result":`+
			`{"resultType":"task","taskId":"task-2","statusMessage":"DEEP"},"n":%d}%s}}`, deep, augment))
		k.reply("90")
		k.wants(k.ask("tasks/get", `"taskId":"task-1"`), `"taskId":"task-1"`)
	}
}
