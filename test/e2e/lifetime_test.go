package e2e

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// slow is a call of the long running operation, with a progress token so that one can see it has begun.
func slow(name, duration string, steps int) string {
	return fmt.Sprintf(`{"name":%q,"arguments":{"duration":%s,"steps":%d},"_meta":{"progressToken":"p"}}`, name, duration, steps)
}

// TestEndOfInput: at the end of its input the program answers what it was asked, stops its servers and exits with 0. It
// gives up what takes longer than its end may, as on a busy machine: one of five ends is to be a good one.
func TestEndOfInput(t *testing.T) {
	b := newBed(t)
	const operation = "trigger-long-running-operation"
	for _, tt := range []struct {
		name string
		open string
		ask  func(c *wiretest.Process, opened opened) (answered []string)
	}{
		{name: "nothing open"},
		{"calls in flight", "dev", func(c *wiretest.Process, opened opened) []string {
			return []string{
				c.Request("tools/call", slow(opened.exposed(t, "everything", operation), "0.5", 2)),
				c.Request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, opened.exposed(t, "memory", "read_graph"))),
				c.Request("tools/list", ""),
			}
		}},
		{"a call that takes too long", "spare", func(c *wiretest.Process, opened opened) []string {
			c.Request("tools/call", slow(opened.exposed(t, "everything", operation), "600", 60000))
			c.Notification(0, "notifications/progress")
			return nil
		}},
		{"while servers start", "", func(c *wiretest.Process, _ opened) []string {
			c.Request("tools/call", openParams("dev"))
			return nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 5 {
				c := b.in(t).workbench(b.config("auto"), wiretest.Options{})
				c.Initialize(wiretest.Legacy, noCapabilities)
				var box opened
				if tt.open != "" {
					box = open(t, c.Client, tt.open)
				}
				from := c.Mark()
				var ids []string
				if tt.ask != nil {
					ids = tt.ask(c, box)
				}
				c.CloseInput()
				if c.Exit().ExitCode() != 0 {
					continue
				}
				for _, id := range ids {
					reply, _ := c.Next(from, "a reply to "+id, func(m wiretest.Message) bool { return m.IsReply(id) })
					if reply.Error != nil {
						t.Errorf("got error %v want a result", reply.Error)
					}
				}
				return
			}
			t.Error("none of five ends was one with exit status 0")
		})
	}
}

// exited waits for the program's end and wants it to be a good one.
func exited(t *testing.T, c *wiretest.Process) {
	t.Helper()
	if got := c.Exit(); got.ExitCode() != 0 {
		t.Errorf("got %v want exit status 0", got)
	}
}

// TestSignals: asked to stop or killed outright, the program leaves nothing running, which the mark of each bed checks.
func TestSignals(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			b := newBed(t)
			c := b.workbench(b.config("auto"), wiretest.Options{})
			c.Initialize(wiretest.Legacy, noCapabilities)
			open(t, c.Client, "spare")
			process, err := os.FindProcess(c.PID())
			if err == nil {
				err = process.Signal(signal)
			}
			if err != nil {
				t.Fatal(err)
			}
			c.Exit()
		})
	}
}

// testSecondProgram: clients start a second one beside the first to probe it; it works, and starts no server by itself.
func testSecondProgram(t *testing.T, s session) {
	before := len(wiretest.Marked(s.mark))
	second := s.workbench(s.config("auto"), wiretest.Options{})
	second.Result("server/discover", wiretest.Modern("", noCapabilities))
	if runtime.GOOS == "linux" {
		if got, want := len(wiretest.Marked(s.mark)), before+1; got != want {
			t.Errorf("got %d processes want %d: %v", got, want, wiretest.Marked(s.mark))
		}
	}
	second.CloseInput()
	exited(t, second)
	s.client.Result("tools/call", `{"name":"use_tool","arguments":{"toolbox_name":"dev","tool_name":"echo","arguments":{"message":"hi"}}}`)
}

// testServerDies: the call it dies in fails with the reason, and the next call finds it restarted. Its neighbours
// notice nothing.
func testServerDies(t *testing.T, s session) {
	if runtime.GOOS != "linux" {
		t.Skip("the server's process is found by its environment, which only Linux shows")
	}
	echo := func(t *testing.T) {
		t.Helper()
		call := fmt.Sprintf(`{"name":%q,"arguments":{"message":"hi"}}`, s.opened.exposed(t, "everything", "echo"))
		if got, want := decode[toolResult](t, "echo", s.client.In(t).Result("tools/call", call)).text(), "Echo: hi"; got != want {
			t.Errorf("got %q want %q", got, want)
		}
	}
	t.Run("in a call", func(t *testing.T) {
		c := s.client.In(t)
		from := c.Mark()
		id := c.Request("tools/call", slow(s.opened.exposed(t, "everything", "trigger-long-running-operation"), "600", 60000))
		c.Notification(from, "notifications/progress")
		neighbour := fmt.Sprintf(`{"name":%q,"arguments":{}}`, s.opened.exposed(t, "memory", "read_graph"))
		before := c.Result("tools/call", neighbour)
		wiretest.Kill(t, s.mark, "server-everything")
		reply := c.Reply(id)
		text := wiretest.JSON(reply.Error)
		if reply.Error == nil {
			result := decode[toolResult](t, "call", reply.Result)
			text = result.text()
			if !result.IsError {
				t.Errorf("got result %s of a server that was killed", reply.Result)
			}
		}
		for _, want := range []string{"everything", "SIGKILL"} {
			if !strings.Contains(text, want) {
				t.Errorf("got %q, want it to name %s", text, want)
			}
		}
		echo(t)
		wiretest.SameBytes(t, "the neighbour's answer", c.Result("tools/call", neighbour), before)
	})
	t.Run("at rest", func(t *testing.T) {
		wiretest.Kill(t, s.mark, "server-everything")
		echo(t)
	})
}
