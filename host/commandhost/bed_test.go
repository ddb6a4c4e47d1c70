package commandhost

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/host/storehost"
	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// noTools are the tools of toolboxes without servers.
type noTools struct{}

func (noTools) Tools(context.Context, string) ([]command.Tool, []string, error) { return nil, nil, nil }

func (noTools) CallTool(context.Context, string, string, string, json.RawMessage) (json.RawMessage, error) {
	return nil, errors.New("there are no tools")
}

// shop is a configuration with the example.
const shop = `{"toolboxes": {"example": {"mcpServers": {"desk": {"builtin": "commands", "commands": "example"}}}}}`

func parse(t *testing.T, text string, lookup func(string) (string, bool)) *config.Config {
	t.Helper()
	cfg, err := config.Parse("test.json", []byte(text), lookup)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// newHost has a host of a configuration, with a store of its own, and this environment.
func newHost(t *testing.T, text string, tools Tools, log zerolog.Logger, environ map[string]string) *Host {
	t.Helper()
	dir := t.TempDir()
	kept := storehost.New(func(ctx context.Context) (*store.Store, error) {
		return store.OpenSQLite(ctx, filepath.Join(dir, "conversations.db"), func(err error) { t.Error(err) }, store.Options{})
	}, log)
	lookup := func(name string) (string, bool) { v, ok := environ[name]; return v, ok }
	cfg := parse(t, text, lookup)
	h := New(cfg, Options{Tools: tools, Store: kept, HTTP: http.DefaultClient, Programs: child.Runner{Start: child.Start, Lookup: lookup}, Logger: log,
		Reveal: func(_ context.Context, _ *config.Config, text string) (string, error) { return text, nil }})
	t.Cleanup(func() {
		h.Close()
		kept.Close()
	})
	return h
}

// A desktop is a client of the commands of a toolbox, over HTTP.
type desktop struct {
	t       *testing.T
	host    *Host
	box     string
	session string
}

func (d *desktop) send(method, path, body string) (int, string) {
	d.t.Helper()
	ctx := principal.With(d.t.Context(), principal.Principal{Name: principal.Default})
	r := httptest.NewRequestWithContext(ctx, method, "/commands/"+d.box+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	if !d.host.Probe(w, r) {
		d.host.ServeHTTP(w, r)
	}
	return w.Code, w.Body.String()
}

// begin begins a session.
func (d *desktop) begin() string {
	d.t.Helper()
	status, answer := d.send("POST", "/initialize", `{}`)
	var begun struct {
		SessionID string `json:"session_id"`
	}
	if err := json.Unmarshal([]byte(answer), &begun); status != http.StatusOK || err != nil {
		d.t.Fatalf("initialize: got %d %s", status, answer)
	}
	d.session = begun.SessionID
	return answer
}

// execute carries out a command and returns the answer.
func (d *desktop) execute(command string) string {
	d.t.Helper()
	body, err := json.Marshal(map[string]string{"session_id": d.session, "command": command})
	if err != nil {
		d.t.Fatal(err)
	}
	_, answer := d.send("POST", "/execute_command", string(body))
	return answer
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
