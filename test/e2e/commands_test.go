package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// through calls the tools of an open toolbox.
type through struct {
	tb     testing.TB
	client *wiretest.Client
	box    opened
}

func (c through) CallTool(_ context.Context, _, server, tool string, arguments json.RawMessage) (json.RawMessage, error) {
	reply := c.client.Reply(c.client.Request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, c.box.exposed(c.tb, server, tool), arguments)))
	if reply.Error != nil {
		return nil, reply.Error
	}
	return reply.Result, nil
}

// projected is the toolbox of real servers as a command workflow, for which nothing was written.
func (b *bed) projected() *command.Engine {
	b.tb.Helper()
	c := b.workbench(b.config("dynamic"), wiretest.Options{Answer: func(wiretest.Message) (string, *wiretest.Error) {
		return `{"roots":[]}`, nil
	}})
	c.Initialize(wiretest.Legacy, allCapabilities)
	result := decode[toolResult](b.tb, "open", c.Result("tools/call", openParams("dev")))
	box := decode[opened](b.tb, "structuredContent of open", result.Structured)
	definitions := decode[struct{ Tools []json.RawMessage }](b.tb, "structuredContent of open", result.Structured)
	var tools []command.Tool
	for i, t := range box.Tools {
		tools = append(tools, command.Tool{Toolbox: t.Toolbox, Server: t.Server, Raw: definitions.Tools[i]})
	}
	return command.New(command.Project("dev", box.Description, tools), command.Options{Caller: through{b.tb, c.Client, box}})
}

// TestProjectedCommands: the tools of real servers are commands, with parameters and effects from what the servers say;
// exact commands run, and an instruction in words finds the right one or asks.
func TestProjectedCommands(t *testing.T) {
	b := newBed(t)
	notes := filepath.Join(b.files, "notes.txt")
	if err := os.WriteFile(notes, []byte("remember the milk"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := b.projected()

	if got, want := e.Workflow().Info().AvailableContexts, []string{"everything", "filesystem", "memory"}; !slices.Equal(got, want) {
		t.Errorf("got contexts %q, want %q", got, want)
	}
	effects := map[string]command.Effect{"filesystem/read_text_file": command.Read, "filesystem/write_file": command.Write, "everything/echo": command.Read}
	for _, c := range e.Workflow().Describe(nil).Commands {
		if want, ok := effects[c.Name]; ok && c.Effect != want {
			t.Errorf("%s: got the effect %s, want %s", c.Name, c.Effect, want)
		}
		delete(effects, c.Name)
	}
	if len(effects) > 0 {
		t.Errorf("the commands %v are not listed", effects)
	}

	exact := []struct {
		say     string
		success bool
		text    string // a piece of the answer
	}{
		{"everything/get-sum <a>2</a><b>0.5</b>", true, "2.5"},
		{"read_text_file <path>" + notes + "</path>", true, "remember the milk"},
		{"read_multiple_files <paths>" + notes + "</paths><paths>" + notes + "</paths>", true, "remember the milk"},
		{"read_text_file <path>" + notes + "</path><head>one</head>", false, `head must be number, got "one"`},
		{"read_text_file", false, "path is missing"},
		{"read_txt_file", false, "Did you mean filesystem/read_text_file"},
		{"read_text_file <path>" + notes + ".gone</path>", false, "ENOENT"},
	}
	for _, test := range exact {
		o, err := e.Execute(context.Background(), nil, test.say, command.CallOptions{})
		if err != nil || o.Output.Success != test.success || !strings.Contains(o.Text(), test.text) {
			t.Errorf("%s: got %+v, %v, want %v with %q", test.say, o, err, test.success, test.text)
		}
	}

	words := []struct {
		say, ran string // the command that runs, or "" for a question
		asks     string // a piece of it
	}{
		{say: "read the text file " + notes, ran: "filesystem/read_text_file"},
		{say: "list the directory " + b.files, ran: "filesystem/list_directory"},
		{say: "search nodes for milk", ran: "memory/search_nodes"},
		{say: "print the environment variables", ran: "everything/get-env"},
		{say: "which directories am I allowed to use", asks: "Run filesystem/list_allowed_directories"},
		{say: "move " + notes + " to " + notes + ".old", asks: "filesystem/move_file"},
		{say: "write the file " + notes, asks: "For filesystem/write_file, what is the path?"},
	}
	for _, test := range words {
		o, err := e.Assist(context.Background(), nil, test.say, command.CallOptions{})
		if err != nil {
			t.Fatalf("%s: %v", test.say, err)
		}
		ran := ""
		if o.Output.Success {
			ran = *o.Output.CommandName
		}
		if ran != test.ran || !strings.Contains(o.Question, test.asks) || (test.asks == "") != (o.Question == "") {
			t.Errorf("%s: got %q and the question %q, want %q and %q", test.say, ran, o.Question, test.ran, test.asks)
		}
	}
	if kept, err := os.ReadFile(notes); err != nil || string(kept) != "remember the milk" {
		t.Errorf("got the file %q, %v, want that instructions alone change nothing", kept, err)
	}
}
