package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/test/wiretest"
)

// TestTrustInClient: a client's user is shown what the project of the folder would start, agrees, and its toolbox can
// be opened in the same session.
func TestTrustInClient(t *testing.T) {
	b := newBed(t)
	project := t.TempDir()
	if err := os.WriteFile(filepath.Join(project, "workbench-config.json"), []byte(b.config("auto")), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := make(chan string, 1)
	cmd := exec.Command(wiretest.Program("workbench"), "serve")
	cmd.Dir, cmd.Env = project, b.workbenchEnv()
	c := wiretest.Start(t, cmd, wiretest.Options{Answer: func(m wiretest.Message) (string, *wiretest.Error) {
		if m.Method == "elicitation/create" {
			asked <- string(m.Params)
			return `{"action":"accept","content":{"decision":"trust"}}`, nil
		}
		return `{"roots":[]}`, nil
	}})
	c.Initialize(wiretest.Legacy, allCapabilities)
	select {
	case got := <-asked:
		if !strings.Contains(got, "server-everything") {
			t.Errorf("got the question %s, want the commands in it", got)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("nobody was asked")
	}
	for late := time.Now().Add(2 * time.Minute); ; {
		if got := string(c.Result("tools/call", `{"name":"workbench_status","arguments":{}}`)); strings.Contains(got, "dev: not open") {
			break
		} else if time.Now().After(late) {
			t.Fatalf("got %s, want the toolbox of the project", got)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if got := open(t, c.Client, "spare"); got.Connected != 1 {
		t.Errorf("got %+v, want the server ready", got.Servers)
	}
}
