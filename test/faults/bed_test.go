package faults

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// bed is a running workbench whose toolbox "box" has the servers "sick" and "well".
type bed struct {
	*wiretest.Process
	t        *testing.T
	mark     string // environment entry of every process of the case
	canary   string // a secret of both servers
	folder   string // the program's home, with its configuration and its log
	runtime  string // the folder of its socket
	baseline held
	kept     int // connections to a remote server that may come to what was held in the beginning
}

// entry is the configuration of a server, or of what stands above it.
type entry map[string]any

// setup is how a bed is made. The zero value will do.
type setup struct {
	sick    entry // what the configuration of the sick server has, or has otherwise
	top     entry // the same of the whole configuration
	opts    wiretest.Options
	modern  bool     // the client is of revision 2026-07-28
	folder  string   // the name of the folder that the program runs in, and has as its home
	env     []string // of the program
	wrap    []string // a command line that the program's is appended to
	flags   []string // of serve
	level   string   // of the log; "" means debug
	more    int      // servers of the toolbox "more"
	as      string   // their fault; "" means well
	unready bool     // the sick server does not become ready
	others  entry    // more servers of the toolbox
	again   bool     // the test has had a bed before
}

// newBed starts the program with a sick server, of that fault with its arguments, and opens the toolbox.
func newBed(t *testing.T, fault string, how setup) *bed {
	t.Helper()
	b := newClosedBed(t, fault, how)
	o := b.open()
	if got := o.state("sick"); (got == "ready") == how.unready {
		t.Fatalf("the sick server is %s: %+v", got, o.Servers)
	}
	return b
}

// newClosedBed is newBed without opening the toolbox.
func newClosedBed(t *testing.T, fault string, how setup) *bed {
	t.Helper()
	if !how.again {
		t.Parallel()
	}
	b := &bed{t: t, mark: wiretest.Mark(t), canary: "canary-" + fmt.Sprintf("%x", t.Name()), folder: t.TempDir(), runtime: shortDir(t)}
	if how.folder != "" {
		b.folder = filepath.Join(b.folder, how.folder)
		if err := os.Mkdir(b.folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sick := b.server(strings.Fields(fault)...)
	if how.sick["url"] != nil {
		// It is remote. A connection to it is kept for the next request, and a second one if two requests were under way at
		// once; which of them there are in the beginning is chance.
		sick, b.kept = entry{}, 1
	}
	maps.Copy(sick, how.sick)
	servers := entry{"sick": sick, "well": b.server("well")}
	maps.Copy(servers, how.others)
	b.kept += len(how.others)
	more := entry{}
	for i := range how.more {
		more[fmt.Sprintf("s%d", i)] = b.server(cmp.Or(how.as, "well"))
	}
	top := entry{"openTimeout": "10s", "toolboxes": entry{
		"box":  entry{"mcpServers": servers},
		"more": entry{"mcpServers": more},
	}}
	maps.Copy(top, how.top)
	b.configure(wiretest.JSON(top))
	if how.level == "" {
		how.level = "debug"
	}
	line := append(how.wrap, wiretest.Program("workbench"), "serve", "--config", b.path("workbench-config.json"),
		"--log-level", how.level, "--log-file", b.path("log"))
	line = append(line, how.flags...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(b.environ(), how.env...)
	if how.folder != "" {
		cmd.Dir = b.folder
	}
	b.Process = wiretest.Start(t, cmd, how.opts)
	t.Cleanup(b.epilogue)
	if !how.modern {
		b.Initialize(wiretest.Legacy, "{}")
	}
	return b
}

// in is the bed for a subtest.
func (b *bed) in(t *testing.T) *bed {
	in, process := *b, *b.Process
	process.Client = b.Client.In(t)
	in.t, in.Process = t, &process
	return &in
}

// unready are servers that do not become ready, each with the pieces of what is said of it.
type unready map[string]struct {
	server entry
	pieces []string
}

// at wants the servers, which are in one toolbox, to say why, and to be tried again. A call of their tools fails.
func (u unready) at(t *testing.T, how setup) {
	t.Helper()
	names := make(map[string]string)
	how.others = entry{}
	for name, one := range u {
		names[name] = fmt.Sprint("unready", len(names))
		how.others[names[name]] = one.server
	}
	b := newBed(t, "well", how)
	o := b.open()
	for name, one := range u {
		t.Run(name, func(t *testing.T) {
			b := b.in(t)
			b.fails(outcome{o.about(names[name]), true}, one.pieces...)
			b.fails(b.call(names[name], "echo", "{}"), "tool")
			b.showsOf(names[name])
		})
	}
}

// shortDir is a folder whose name is short enough for that of a socket in it.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "wb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (b *bed) path(name string) string { return filepath.Join(b.folder, name) }

// configure writes the configuration.
func (b *bed) configure(text string) {
	b.t.Helper()
	if err := os.WriteFile(b.path("workbench-config.json"), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// server is the configuration of a badchild. It has the canary where secrets are.
func (b *bed) server(fault ...string) entry {
	key, value, _ := strings.Cut(b.mark, "=")
	return entry{"command": wiretest.Program("badchild"), "args": append(fault, b.canary), "env": entry{key: value, "SECRET": b.canary}}
}

// environ is the environment of the program, away from what a person has on this machine.
func (b *bed) environ() []string {
	env := append(os.Environ(), b.mark, "OURS="+b.canary, "WORKBENCH_CONFIG=")
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"} {
		env = append(env, name+"="+b.folder)
	}
	return append(env, "XDG_RUNTIME_DIR="+b.runtime)
}

// openMore opens the toolbox "more", and returns the result.
func (b *bed) openMore() []byte {
	b.t.Helper()
	return b.Result("tools/call", `{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"more"}}`)
}

// opened is the result of opening the toolbox.
type opened struct {
	Servers []struct {
		Name, State, Error string
		Tools              int
		Notes              []string
	}
	Tools []struct{ Name, Server string }
}

func (o opened) state(server string) string {
	for _, s := range o.Servers {
		if s.Name == server {
			return s.State
		}
	}
	return "missing"
}

// about is what the result says of what is wrong with a server.
func (o opened) about(server string) string {
	for _, s := range o.Servers {
		if s.Name == server {
			return s.Error + strings.Join(s.Notes, "\n")
		}
	}
	return ""
}

// open opens the toolbox, listing the tools when they are said to have changed, and takes stock of what the program
// holds.
func (b *bed) open() opened {
	b.t.Helper()
	from := b.Mark()
	id := b.Request("tools/call", `{"name":"workbench_open_toolbox","arguments":{"toolbox_name":"box"}}`)
	told, _ := b.Next(from, "list_changed or the result of open", func(m wiretest.Message) bool {
		return m.IsNotification("notifications/tools/list_changed") || m.IsReply(id)
	})
	if !told.IsReply(id) {
		b.Result("tools/list", "")
	}
	reply := b.Reply(id)
	if reply.Error != nil {
		b.t.Fatalf("open: got error %v", reply.Error)
	}
	result := decode[struct{ StructuredContent opened }](b.t, reply.Result)
	// An open that does not wait for the sick server may not have waited for the well one.
	if !eventually(func() bool { return b.call("well", "echo", "{}") == outcome{text: "{}"} }) {
		b.t.Error("the well server does not become ready")
	}
	b.baseline = b.holds()
	return result.StructuredContent
}

// outcome is how a call ended.
type outcome struct {
	text   string
	failed bool
}

func (b *bed) outcome(id string) outcome {
	b.t.Helper()
	reply := b.Reply(id)
	if reply.Error != nil {
		return outcome{reply.Error.Error(), true}
	}
	result := decode[struct {
		IsError bool
		Content []struct{ Text string }
	}](b.t, reply.Result)
	text := ""
	if len(result.Content) > 0 {
		text = result.Content[0].Text
	}
	return outcome{text, result.IsError}
}

// begin calls a tool of a server and returns the id of the call.
func (b *bed) begin(server, tool, arguments string) string {
	b.t.Helper()
	return b.Request("tools/call", callOf(server, tool, arguments))
}

func callOf(server, tool, arguments string) string {
	return fmt.Sprintf(`{"name":"box__%s__%s","arguments":%s,"_meta":{"progressToken":"p"}}`, server, tool, arguments)
}

// call calls a tool of a server.
func (b *bed) call(server, tool, arguments string) outcome {
	b.t.Helper()
	return b.outcome(b.begin(server, tool, arguments))
}

// fault has the sick server do what it does.
func (b *bed) fault() outcome {
	b.t.Helper()
	return b.call("sick", "fault", "{}")
}

// fails wants a call to have failed with an error that has these pieces.
func (b *bed) fails(got outcome, pieces ...string) {
	b.t.Helper()
	for _, piece := range pieces {
		if !got.failed || !strings.Contains(got.text, piece) {
			b.t.Errorf("got %s, want an error with %q", wiretest.Clip(fmt.Sprintf("%+v", got)), piece)
		}
	}
}

// answers wants a call to have succeeded with that text.
func (b *bed) answers(got outcome, want string) {
	b.t.Helper()
	if got != (outcome{text: want}) {
		b.t.Errorf("got %s, want %q", wiretest.Clip(fmt.Sprintf("%+v", got)), want)
	}
}

// works wants the sick server to be well again.
func (b *bed) works() {
	b.t.Helper()
	b.answers(b.call("sick", "echo", `{"n":1}`), `{"n":1}`)
}

// recovers wants the sick server to be well again soon; calls that meet its end are told that it is this server's.
func (b *bed) recovers() {
	b.t.Helper()
	if !eventually(func() bool {
		got := b.call("sick", "echo", `{"n":1}`)
		if got.failed {
			b.fails(got, `"sick"`)
		}
		return !got.failed
	}) {
		b.t.Error("the sick server did not recover")
	}
}

// pid is the process of a server.
func (b *bed) pid(server string) int {
	b.t.Helper()
	got := b.call(server, "pid", "{}")
	pid, err := strconv.Atoi(got.text)
	if err != nil {
		b.t.Fatalf("got %+v, want the number of a process", got)
	}
	return pid
}

func decode[T any](t *testing.T, raw []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %s", err, wiretest.Clip(string(raw)))
	}
	return v
}
