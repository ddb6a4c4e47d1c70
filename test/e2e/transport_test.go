package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// listen starts the everything server as a server of HTTP, with an entry in its environment, and returns its address.
func (b *bed) listen(transport, mark string) (url string, stop func()) {
	b.tb.Helper()
	line := b.command("everything")
	cmd := exec.Command(line[0], "--import", filepath.Join(b.npm, "loopback.mjs"), line[1], transport)
	cmd.Env = append(os.Environ(), mark)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.tb.Fatal(err)
	}
	stop = func() {
		_ = cmd.Process.Kill() // it serves until then
		_ = cmd.Wait()
	}
	port := make(chan string, 1)
	go func() {
		defer close(port)
		for lines := bufio.NewScanner(out); lines.Scan(); { // to the end, so that the server is never held up
			if number, ok := strings.CutPrefix(lines.Text(), "loopback port "); ok {
				port <- number
			}
		}
	}()
	select {
	case number, ok := <-port:
		if ok {
			return "http://127.0.0.1:" + number, stop
		}
		stop()
		b.tb.Fatal("the server ended without listening")
	case <-time.After(2 * time.Minute):
		stop()
		b.tb.Fatal("the server did not listen within two minutes")
	}
	return "", nil
}

// far is the everything server over streamable HTTP, which tests share that do not start a server for its own sake: each
// client has a session of its own there.
var far struct {
	sync.Mutex
	url  string
	stop func()
}

// far is the configuration of the shared server, which the first test starts.
func (b *bed) far() string {
	b.tb.Helper()
	far.Lock()
	defer far.Unlock()
	if far.url == "" {
		far.url, far.stop = b.listen("streamableHttp", "")
	}
	return wiretest.JSON(map[string]string{"transport": "http", "url": far.url + "/mcp"})
}

// tests are those of this package, at whose end the shared server ends.
type tests struct{ *testing.M }

func (m tests) Run() int {
	code := m.M.Run()
	if far.stop != nil {
		far.stop()
	}
	return code
}

// TestRemoteServers: a server behind HTTP, streamable or with the older SSE, gives what it gives over stdio.
func TestRemoteServers(t *testing.T) {
	b := newBed(t)
	list := items(t, b.plainly("everything").lists["tools/list"], "tools")
	want := b.outcomes("everything")
	sse := func() string {
		url, stop := b.listen("sse", b.mark)
		t.Cleanup(stop)
		return wiretest.JSON(map[string]string{"transport": "sse", "url": url + "/sse"})
	}
	tests := []struct {
		name  string
		entry func() string
	}{
		{"streamable HTTP", b.far},
		{"SSE", sse},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := b.in(t)
			config := fmt.Sprintf(`{"toolboxes": {"far": {"mcpServers": {"everything": %s}}}}`, test.entry())
			c := b.workbench(config, wiretest.Options{})
			c.Initialize(wiretest.Legacy, noCapabilities)
			opened := open(t, c.Client, "far")
			got := items(t, c.Result("tools/list", ""), "tools")[len(metaTools()):]
			if len(got) != len(list) {
				t.Fatalf("got %d tools want %d", len(got), len(list))
			}
			for i, item := range got {
				name := opened.Tools[i].Name
				wiretest.SameBytes(t, "definition of "+name, renamed(item, opened.Tools[i].Exposed, name), list[i])
			}
			for i, call := range b.calls("everything") {
				params := fmt.Sprintf(`{"name":%q,"arguments":%s}`, opened.exposed(t, "everything", call.tool), call.arguments)
				wiretest.SameBytes(t, call.tool+" "+call.arguments, outcome(c.Call("tools/call", params)), want[i])
			}
			checkProgress(t, c.Client, opened.exposed(t, "everything", "trigger-long-running-operation"))
		})
	}
}

// checkProgress wants the steps of a call in order and before its reply: over HTTP they share a stream.
func checkProgress(t *testing.T, c *wiretest.Client, tool string) {
	t.Helper()
	from := c.Mark()
	id := c.Request("tools/call", slow(tool, "0.1", 5))
	c.Reply(id)
	var got []string
	for _, entry := range c.Transcript(from) {
		switch m := entry.Message; {
		case entry.Sent:
		case m.IsReply(id):
			got = append(got, "reply")
		case m.IsNotification("notifications/progress"):
			got = append(got, decode[struct{ Progress json.Number }](t, "progress", m.Params).Progress.String())
		}
	}
	if got, want := strings.Join(got, " "), "1 2 3 4 5 reply"; got != want {
		t.Errorf("got %s want %s", got, want)
	}
}
