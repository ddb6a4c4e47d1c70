package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// desk is an MCP client of workbench commands serve.
type desk struct {
	tb      testing.TB
	client  *wiretest.Process
	modern  bool
	session string
}

// call calls an operation and returns the text of its result.
func (d *desk) call(operation, arguments string) string {
	d.tb.Helper()
	if d.session != "" {
		arguments = strings.Replace(`{"session_id":"`+d.session+`",`+strings.TrimPrefix(arguments, "{"), ",}", "}", 1)
	}
	params := fmt.Sprintf(`{"name":%q,"arguments":%s}`, operation, arguments)
	if d.modern {
		return decode[toolResult](d.tb, operation, modern(d.tb, d.client.Client, "tools/call", params)).text()
	}
	return decode[toolResult](d.tb, operation, d.client.Result("tools/call", params)).text()
}

// TestServedCommands: real servers are worked by commands through the program, in both eras, with nothing written for
// them. Parameters and effects are what the servers say of their tools; exact commands run, and an instruction in words
// finds the right one or asks.
func TestServedCommands(t *testing.T) {
	world := newBed(t)
	notes := filepath.Join(world.files, "notes.txt")
	if err := os.WriteFile(notes, []byte("remember the milk"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, isModern := range map[string]bool{"legacy": false, "modern": true} {
		t.Run(name, func(t *testing.T) {
			b := world.in(t)
			d := &desk{tb: t, modern: isModern, client: b.workbench(b.config("auto"), wiretest.Options{}, "commands", "serve", "toolbox:dev")}
			if !isModern {
				d.client.Initialize(wiretest.Legacy, noCapabilities)
			}
			begun := decode[struct {
				SessionID string `json:"session_id"`
			}](t, "initialize", []byte(d.call("initialize", `{}`)))
			d.session = begun.SessionID
			for _, test := range []struct{ operation, arguments, want string }{
				{"get_workflow_info", `{}`, `"available_contexts":["everything","filesystem","memory"]`},
				{"execute_command", `{"command":"everything/get-sum <a>2</a><b>0.5</b>"}`, `2.5`},
				{"execute_command", `{"command":"read_text_file <path>` + notes + `</path>"}`, `remember the milk`},
				{"execute_command", `{"command":"read_multiple_files <paths>` + notes + `</paths><paths>` + notes + `</paths>"}`, `remember the milk`},
				{"execute_command", `{"command":"read_text_file <path>` + notes + `</path><head>one</head>"}`, `head must be number, got`},
				{"execute_command", `{"command":"read_text_file"}`, `path is missing`},
				{"execute_command", `{"command":"read_txt_file"}`, `Did you mean filesystem/read_text_file`},
				{"execute_command", `{"command":"read_text_file <path>` + notes + `.gone</path>"}`, `ENOENT`},
				{"invoke_assistant", `{"user_query":"read the text file ` + notes + `"}`, `remember the milk`},
				{"invoke_assistant", `{"user_query":"list the directory ` + b.files + `"}`, `filesystem/list_directory`},
				{"invoke_assistant", `{"user_query":"search nodes for milk"}`, `memory/search_nodes`},
				{"invoke_assistant", `{"user_query":"print the environment variables"}`, `everything/get-env`},
				{"invoke_assistant", `{"user_query":"which directories am I allowed to use"}`, `Run filesystem/list_allowed_directories`},
				{"invoke_assistant", `{"user_query":"abort"}`, `"status":"cancelled"`},
				{"invoke_assistant", `{"user_query":"write the file ` + notes + `"}`, `For filesystem/write_file, what is the path?`},
				{"invoke_assistant", `{"user_query":"abort"}`, `"status":"cancelled"`},
				{"invoke_assistant", `{"user_query":"move ` + notes + ` to ` + notes + `.old"}`, `"status":"awaiting_user"`},
				{"invoke_assistant", `{"user_query":"abort"}`, `"status":"cancelled"`},
				{"new_conversation", `{}`, `"status":"ok"`},
				{"list_conversations", `{}`, `"turns":17`},
				{"list_conversations", `{"limit":2.0}`, `"turns":17`}, // a number without a fraction is an integer
			} {
				if got := d.call(test.operation, test.arguments); !strings.Contains(got, test.want) {
					t.Errorf("%s %s: got %.600s, want %s", test.operation, test.arguments, got, test.want)
				}
			}
			effects := make(map[string]string)
			for _, c := range decode[struct {
				Commands []struct{ Name, Effect string }
			}](t, "get_commands", []byte(d.call("get_commands", `{}`))).Commands {
				effects[c.Name] = c.Effect
			}
			for name, want := range map[string]string{"filesystem/read_text_file": "read", "filesystem/write_file": "write", "everything/echo": "read"} {
				if effects[name] != want {
					t.Errorf("%s: got the effect %q, want %s", name, effects[name], want)
				}
			}
		})
	}
	if kept, err := os.ReadFile(notes); err != nil || string(kept) != "remember the milk" {
		t.Errorf("got the file %q, %v, want that instructions alone change nothing", kept, err)
	}
}
