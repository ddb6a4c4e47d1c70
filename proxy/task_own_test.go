package proxy_test

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/proxy"
)

const tasksMeta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"` + eras.Tasks + `":{}}}}`

// An open that takes long becomes a task for a modern client that knows tasks, and for no other.
func TestOwnTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		front := newFront(t, readConfig(t, `{"openTimeout":"20s","toolboxes":{
			"slow":{"mcpServers":{"mute":{"command":"inside","args":["silent=initialize,server/discover"]},"a":{"command":"inside","args":["tools=x"]}}},
			"never":{"mcpServers":{"mute":{"command":"inside","args":["silent=initialize,server/discover"]}}},
			"fast":{"mcpServers":{"a":{"command":"inside","args":["tools=x"]}}}}}`), "")
		k := &tasker{line: connect(t, front), meta: tasksMeta}
		open := func(toolbox string) string {
			return k.ask("tools/call", `"name":"workbench_open_toolbox","arguments":{"toolbox_name":"`+toolbox+`"}`)
		}
		k.wants(open("fast"), `"result":{"resultType":"complete"`, `"state":"ready"`)

		id := regexp.MustCompile(`"taskId":"(workbench-[A-Z2-7]+)"`)
		begun := time.Now()
		created := open("slow")
		k.wants(created, `"result":{"resultType":"task","taskId":"workbench-`, `"status":"working"`, `"ttlMs":3600000`)
		if took := time.Since(begun); took < 5*time.Second || took > 6*time.Second {
			t.Errorf("it became a task after %v, want 5 s", took)
		}
		task := `"taskId":"` + id.FindStringSubmatch(created)[1] + `"`
		k.wants(k.ask("tasks/get", task), `"result":{"resultType":"complete",`+task, `"status":"working"`)
		k.wants(k.ask("tasks/update", task+`,"inputResponses":{}`), `"result":{"resultType":"complete"}`)
		time.Sleep(30 * time.Second)
		k.wants(k.ask("tasks/get", task), `"status":"completed"`, `"result":{"resultType":"complete","content":[`, "slow", "x")
		k.wants(k.ask("tasks/cancel", task), `"result":{"resultType":"complete"}`)
		k.wants(k.ask("tasks/get", task), `"status":"completed"`)

		// It is cancelled, which ends the call.
		task = `"taskId":"` + id.FindStringSubmatch(open("never"))[1] + `"`
		k.wants(k.ask("tasks/cancel", task), `"result":{"resultType":"complete"}`)
		k.wants(k.ask("tasks/get", task), `"status":"cancelled"`)

		// Others of the session alone have it.
		other := &tasker{line: connect(t, front), meta: tasksMeta}
		other.wants(other.ask("tasks/get", task), `"code":-32602`)
		// It is forgotten in time.
		time.Sleep(2 * time.Hour)
		k.wants(k.ask("tasks/get", task), `"code":-32602`)

		plain := &tasker{line: connect(t, front), meta: strings.Replace(tasksMeta, eras.Tasks, "x/y", 1)}
		plain.wants(plain.ask("tools/call", `"name":"workbench_open_toolbox","arguments":{"toolbox_name":"slow"}`), `"result":{"resultType":"complete","content"`)
		for _, l := range []*tasker{k, other, plain} {
			l.close()
		}
	})
}

// A task that two look for at once is forgotten once: what else is kept is not credited for it.
func TestOwnTasksAreForgottenOnce(t *testing.T) {
	if got := proxy.ForgetTogether(5000); got != 5000 {
		t.Errorf("got %d bytes kept, want 5000", got)
	}
}
