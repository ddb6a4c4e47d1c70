//go:build unix

package faults

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// Folders may be called anything but "/".
var oddNames = []string{"100% off", "%2e%2e%zz", "a#b?c=d&e", "?mode=memory", "tab\tand\x1b[31m é\u202eb\nline", `it's "$(touch no)` + "`x`", "-rf " + strings.Repeat("long ", 49)}

// Whatever the folder is called that the program runs in and keeps its things in, all is there.
func TestFaultG93_FolderOfAnyName(t *testing.T) {
	t.Parallel()
	for _, name := range oddNames {
		t.Run(name, func(t *testing.T) {
			b := newClosedBed(t, "well", setup{folder: name, top: entry{"toolboxes": entry{"all": entry{"mcpServers": entry{
				"flows": entry{"builtin": "workflow", "workflows": []string{"./flows"}},
				"desk":  entry{"builtin": "commands", "commands": "./desk"},
				"files": entry{"command": wiretest.Program("badchild"), "args": []string{"well"}, "cwd": "."},
			}}}}})
			for file, text := range map[string]string{
				"flows/one.json":         `{"id":"one","name":"One","description":"d","version":"1.0.0","steps":[{"id":"first","title":"First","prompt":"Do it."}]}`,
				"desk/workflow.yaml":     "name: Desk\ndescription: d\n",
				"desk/commands/say.yaml": "description: Says it\neffect: read\nprocess: {argv: [echo, \"${WORKFLOW_DIR}\"]}\n",
			} {
				if err := os.MkdirAll(filepath.Dir(b.path(file)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(b.path(file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, call := range []struct{ tool, arguments, want string }{
				{"flows/workflow_list", `{}`, `"id":"one"`},
				{"flows/workflow_start", `{"workflowId":"one"}`, "Do it."},
				{"desk/initialize", `{}`, `"restored":false`},
				{"desk/run_command", `{"name":"say","arguments":{}}`, `"success":true`},
				{"files/echo", `{"text":"hi"}`, "hi"},
			} {
				got := b.Result("tools/call", `{"name":"workbench_use_tool","arguments":{"toolbox_name":"all","tool_name":"`+call.tool+`","arguments":`+call.arguments+`}}`)
				if !strings.Contains(string(got), call.want) || strings.Contains(string(got), `"isError":true`) {
					t.Errorf("%s: got %s, want %s in it", call.tool, wiretest.Clip(string(got)), call.want)
				}
			}
			b.CloseInput()
			b.ends(0)
		})
	}
}

// What the files of a project are called is text: no command that reads them writes what steers the terminal.
func TestFaultG94_NamesOfFilesAreText(t *testing.T) {
	t.Parallel()
	const odd = "a\x1b[31m\u202eb"
	home, mark := t.TempDir(), wiretest.Mark(t)
	project := filepath.Join(home, odd)
	for file, text := range map[string]string{
		"flows/" + odd + ".json": `{"id":"x"`, "flows/" + odd + "2.yaml": "id: 5", odd + ".json": `{"id":"x"`,
		"flows/" + odd + "3.json": `{"id":"one","name":"One","description":"d","version":"1.0.0","steps":[{"id":"first","title":"First","prompt":"Do it."}]}`,
		"desk/workflow.yaml":      "name: Desk\ndescription: d\n", "desk/commands/" + odd + ".yaml": "description: [x", "desk/contexts/" + odd + ".yaml/x": "",
		"desk/tests/" + odd + ".yaml": "x: 1",
		"broken.json":                 `{"toolboxes": {"x": {"mcpServers": {"y": {"cmd": 1}}}}, "bad": 1}`,
		"workbench-config.json": wiretest.JSON(entry{"toolboxes": entry{"w": entry{"mcpServers": entry{
			"w": entry{"builtin": "workflow", "workflows": []string{"./flows", "./" + odd}}, "c": entry{"command": "./" + odd}, "e": entry{"command": "true", "envFile": odd}}}}}),
	} {
		path := filepath.Join(project, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(arguments ...string) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, wiretest.Program("workbench"), arguments...)
		cmd.Dir = project
		cmd.Env = append(os.Environ(), mark, "WORKBENCH_CONFIG=", "XDG_RUNTIME_DIR=")
		for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"} {
			cmd.Env = append(cmd.Env, name+"="+home)
		}
		out, _ := cmd.CombinedOutput() // many are to fail
		for _, bad := range []string{"\x1b", "\u202e", "panic:"} {
			if strings.Contains(string(out), bad) {
				t.Errorf("workbench %q: got %q, want no %q in it", arguments, wiretest.Clip(string(out)), bad)
			}
		}
		if len(out) == 0 {
			t.Errorf("workbench %q wrote nothing", arguments)
		}
	}
	for _, line := range []string{"check", "check --config broken.json", "doctor --config broken.json", "trust", "workflow list", "workflow validate flows", "workflow validate .", "commands check desk", "commands test desk", "commands chat desk",
		"trust --yes", "check", "tools w", "lock", "doctor", "workflow list", "workflow validate flows", "commands new fresh", "workflow new fresher", "import workbench-config.json", "status", "trust --list"} {
		run(strings.Fields(line)...)
	}
	for _, line := range []string{"workflow validate", "workflow show", "commands check", "commands new", "conversations import", "conversations show", "serve --config", "serve --toolbox",
		"check --config", "runs show", "call", "tools", "disable", "import", "trust", "lock --diff", "calls show", "replay"} {
		run(append(strings.Fields(line), odd)...)
		run(append(strings.Fields(line), filepath.Join(project, odd, odd))...)
	}
}
