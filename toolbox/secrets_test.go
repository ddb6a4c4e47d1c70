package toolbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/toolbox/link"
)

// secretServer is the entry of a server, read from a file as a user writes it.
func secretServer(t *testing.T, entry map[string]any) config.Server {
	t.Helper()
	data, err := json.Marshal(map[string]any{"toolboxes": map[string]any{"box": map[string]any{"mcpServers": map[string]any{"far": entry}}}})
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Parse("c.json", data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg.Toolboxes[0].Servers[0]
}

// A remote server gets the secrets of its url and headers, looked up at each start; an answer that repeats them is told
// without them.
func TestRemoteSecrets(t *testing.T) {
	t.Parallel()
	for _, transport := range []config.Transport{config.TransportHTTP, config.TransportSSE} {
		t.Run(string(transport), func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			current, lookups := "first-canary", 0
			r := newFarServer(t, &farServer{deaf: true})
			r.before = func(w http.ResponseWriter, req *http.Request, _ *wire.Message) bool {
				if key := req.Header.Get("X-Key"); key != "second-canary" {
					http.Error(w, "the key "+key+" is not known here, "+req.URL.String(), http.StatusForbidden)
					return true
				}
				return false
			}
			base := r.config(transport)
			cfg := secretServer(t, map[string]any{"transport": string(transport), "url": base.URL + "?k=${secret:K}", "headers": map[string]string{"X-Key": "${secret:K}"}})
			var events []string
			b := open(t, toolbox.Options{
				HTTP: r.Client(),
				Event: func(e toolbox.Event) {
					mu.Lock()
					defer mu.Unlock()
					events = append(events, fmt.Sprint(e.Status.Cause))
				},
				Secret: func(_ context.Context, s config.Secret) (string, error) {
					mu.Lock()
					defer mu.Unlock()
					lookups++
					if s.Name != "K" {
						return "", errors.New("another secret was asked for")
					}
					return current, nil
				},
			}, cfg)
			s := server(t, b, "far")
			_, err := callTool(t, s, "echo", "{}")
			if st := s.Status(); !strings.Contains(st.Explain(), "the key ${secret:K} is not known") || strings.Contains(st.Explain()+fmt.Sprint(err), "canary") {
				t.Fatalf("got %v, %v, want the answer without the secret", st.Explain(), err)
			}
			mu.Lock()
			current = "second-canary"
			mu.Unlock()
			_ = b.Open(t.Context(), 10*time.Second) // tries again at once
			if got, err := callTool(t, s, "echo", "{}"); err != nil {
				t.Errorf("with the right secret: got %s, %v, want a result", got, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if lookups < 2 || strings.Contains(strings.Join(events, " "), "canary") {
				t.Errorf("got %d look-ups and events %q, want one a start and no secret", lookups, events)
			}
		})
	}
}

// An error of a server that repeats a secret of its entry is passed on without it, and its members stay what they are.
func TestErrorsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	data := `{"key":"first-canary","more":[1.50,"x"]}`
	var mu sync.Mutex
	r := newFarServer(t, &farServer{deaf: true})
	r.before = func(w http.ResponseWriter, _ *http.Request, m *wire.Message) bool {
		if m == nil || !m.IsMethod("tools/call") {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"the key first-canary is over","data":%s}}`, m.Bytes(m.ID), data)
		return true
	}
	secret := "first-canary"
	cfg := secretServer(t, map[string]any{"url": r.config(config.TransportHTTP).URL, "transport": "http", "headers": map[string]string{"X-Key": "${secret:K}", "X-Number": "${secret:N}"}})
	b := open(t, toolbox.Options{HTTP: r.Client(), Secret: func(_ context.Context, s config.Secret) (string, error) {
		if s.Name == "N" {
			return "12345678", nil
		}
		return secret, nil
	}}, cfg)
	s := server(t, b, "far")
	var refused *link.RPCError
	_, err := callTool(t, s, "echo", "{}")
	if !errors.As(err, &refused) || refused.Code != -32001 || !strings.Contains(err.Error(), "the key ${secret:K} is over") || strings.Contains(fmt.Sprintf("%s %s", err, refused.Data), "canary") {
		t.Errorf("got %v, want the error without the secret", err)
	}
	mu.Lock()
	data = "12345678"
	mu.Unlock()
	if _, err = callTool(t, s, "echo", "{}"); err == nil || !strings.Contains(err.Error(), "repeats a secret") {
		t.Errorf("got %v, want that the error is not shown", err)
	}
}
