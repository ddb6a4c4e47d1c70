package toolcaller_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/host/toolcaller"
	"github.com/mcp-workbench/workbench/host/workflowhost"
	"github.com/mcp-workbench/workbench/internal/approval"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// A caller has the servers of a toolbox but those of commands, says of a call that it was certainly not made, and makes
// none once it is closed.
func TestCaller(t *testing.T) {
	cfg, err := config.Parse("test.json", []byte(`{"toolboxes": {"flows": {"mcpServers": {"workflow": {"builtin": "workflow", "approve": {"workflow_get": "always"}},
		"desk": {"builtin": "commands", "commands": "example"}}}}}`), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	flows := workflowhost.New(workflowhost.Options{Places: &workflowhost.Places{Project: func() (string, error) { return dir, nil }}})
	c := toolcaller.New(cfg, toolcaller.Options{
		Toolbox: func() toolbox.Options {
			return toolbox.Options{Builtins: map[string]toolbox.Builtin{config.BuiltinWorkflow: flows.Builtin}}
		},
		Ask: func(_ context.Context, call approval.Call) error { return errors.New("nobody agrees to " + call.Tool) },
	})
	defer c.Close()
	tools, unlisted, err := c.Tools(t.Context(), "flows")
	if err != nil || len(tools) == 0 || len(unlisted) > 0 {
		t.Errorf("got %d tools, the unlisted %q and %v, want those of the workflow server alone", len(tools), unlisted, err)
	}
	if readOnly, _ := c.Hints(t.Context(), "flows", "workflow", "workflow_list"); !readOnly {
		t.Error("got that workflow_list changes something")
	}
	for _, tt := range []struct{ box, server, tool, want string }{
		{"flows", "workflow", "workflow_list", ""},
		{"flows", "workflow", "workflow_get", "nobody agrees to workflow_get"},
		{"flows", "workflow", "none", "none"},
		{"flows", "desk", "initialize", `toolbox "flows" has no server "desk"`},
		{"none", "workflow", "workflow_list", `there is no toolbox "none"`},
	} {
		result, err := c.CallTool(t.Context(), tt.box, tt.server, tt.tool, []byte(`{}`))
		if tt.want == "" && (err != nil || !strings.Contains(string(result), `"content"`)) {
			t.Errorf("%+v: got %s and %v, want a result", tt, result, err)
		}
		if tt.want != "" && (!errors.As(err, new(*runs.NotMadeError)) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v: got %s and %v, want a call that was not made", tt, result, err)
		}
	}
	c.Close()
	if _, err := c.CallTool(t.Context(), "flows", "workflow", "workflow_list", []byte(`{}`)); !errors.Is(err, toolbox.ErrClosed) {
		t.Errorf("got %v of a closed caller, want %v", err, toolbox.ErrClosed)
	}
}

// What steps and commands call works for nobody in particular, so that it cannot reach the runs of a user: neither of the
// one who works here alone, nor by a server that clients share.
func TestNobodysRuns(t *testing.T) {
	cfg, err := config.Parse("test.json", []byte(`{"toolboxes": {"flows": {"mcpServers": {"own": {"builtin": "workflow"}, "common": {"builtin": "workflow", "shared": true}}}}}`),
		func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	flows := workflowhost.New(workflowhost.Options{Places: &workflowhost.Places{Project: func() (string, error) { return dir, nil }}})
	if _, err := flows.Builtin(principal.Principal{Name: principal.Default}, cfg.Toolboxes[0].Servers[0]); err != nil {
		t.Fatal(err)
	}
	c := toolcaller.New(cfg, toolcaller.Options{Toolbox: func() toolbox.Options {
		return toolbox.Options{Builtins: map[string]toolbox.Builtin{config.BuiltinWorkflow: flows.Builtin}}
	}})
	defer c.Close()
	for _, server := range []string{"own", "common"} {
		for _, call := range []struct{ tool, arguments string }{
			{"workflow_start", `{"workflowId": "find-bug"}`}, {"workflow_resume", `{}`}, {"workflow_next", `{"run": "run-x"}`}, {"workflow_run", `{"run": "run-x", "action": "abandon"}`},
		} {
			result, err := c.CallTool(t.Context(), "flows", server, call.tool, []byte(call.arguments))
			if err != nil || !strings.Contains(string(result), `"isError":true`) || !strings.Contains(string(result), "this call is for none") {
				t.Errorf("%s/%s: got %s and %v, want an error, since nobody has runs", server, call.tool, result, err)
			}
		}
		if result, err := c.CallTool(t.Context(), "flows", server, "workflow_next", []byte(`{"workflowId": "find-bug", "completedSteps": []}`)); err != nil || strings.Contains(string(result), `"isError":true`) {
			t.Errorf("%s: got %s and %v of a call without a run, want a step", server, result, err)
		}
	}
}
