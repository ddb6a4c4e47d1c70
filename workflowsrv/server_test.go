package workflowsrv_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

func TestFirstCut(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.json"), definition.Sample(), 0o644); err != nil {
		t.Fatal(err)
	}
	srv := workflowsrv.New(workflowsrv.Options{Sources: definition.Layers{Dirs: []string{dir}}.Sources()})
	got := make(chan string, 10)
	s := srv.Connect(func(msg []byte) { got <- string(msg) })
	for _, c := range []struct{ send, want string }{
		{`{"jsonrpc":"2.0","id":"é\u00e9","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, `"instructions"`},
		{`{"jsonrpc":"2.0","id":123456789012345678901234,"method":"tools/list"}`, `"workflow_get_schema"`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workflow_list","arguments":{}}}`, `my-first-workflow`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workflow_get","arguments":{"id":"my-first"}}}`, `nearest`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workflow_next","arguments":{"workflowId":"my-first-workflow","completedSteps":["understand","carry-out","check"]}}}`, `"missing":[`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workflow_validate","arguments":{"workflowId":"my-first-workflow","stepId":"check","output":"fail"}}}`, `"valid":false`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workflow_list","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, `"resultType":"complete"`},
	} {
		s.Receive([]byte(c.send))
		select {
		case msg := <-got:
			t.Log(msg)
			if !strings.Contains(msg, c.want) {
				t.Errorf("%s: got %s, want a part %s", c.send, msg, c.want)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("%s: no answer", c.send)
		}
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
