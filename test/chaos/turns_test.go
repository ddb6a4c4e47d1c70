//go:build linux

package chaos

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/test/wiretest"
)

// turns kills the program again and again while a conversation is held with it. Each turn whose result came is kept, in
// one store for all that were killed.
func turns(t *testing.T, tab *table) {
	dir := t.TempDir()
	config, file := filepath.Join(dir, "workbench-config.json"), filepath.Join(dir, "conversations.db")
	text := wiretest.JSON(entry{"toolMode": "proxy", "openTimeout": patience.String(), "store": entry{"path": file},
		"toolboxes": entry{"shop": entry{"mcpServers": entry{"desk": entry{"builtin": "commands", "commands": "example"}}}}})
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	rounds := times(5, 1000)
	acknowledged, lost, warnings := 0, 0, 0
	for range rounds {
		keys := untilKilled(t, config)
		acknowledged += len(keys)
		s, err := store.OpenSQLite(t.Context(), file, func(err error) {
			warnings++
			t.Errorf("got warning %v", err)
		}, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			if r, err := s.Result(t.Context(), principal.Default, key); err != nil || r.Turn.Status != "completed" {
				lost++
				t.Errorf("turn %s: got %q and %v", key, r.Turn.Status, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if acknowledged < rounds {
		t.Errorf("got %d turns in %d rounds, want more", acknowledged, rounds)
	}
	tab.must(t, fmt.Sprintf("turns lost, of %d acknowledged by %d programs that were killed", acknowledged, rounds), lost, 0)
	tab.must(t, "stores found damaged afterwards", warnings, 0)
}

// untilKilled holds a conversation with a program until it is killed, at any moment, and returns the keys of the turns
// whose results came.
func untilKilled(t *testing.T, config string) (keys []string) {
	t.Helper()
	p := start(t, nil, "--config", config)
	p.greet()
	// A client of its own: the turn that a kill cut off holds its conversation for a while.
	text, failed, err := p.call("shop", "desk", "initialize", fmt.Sprintf(`{"client":"%x"}`, rand.Uint64()))
	if failed || err != nil {
		t.Fatalf("initialize: got %q, %v", text, err)
	}
	last := rand.IntN(8)
	for n := 0; ; n++ {
		if n == last {
			// While the next turn is under way, or a little later.
			time.AfterFunc(time.Duration(rand.IntN(8000))*time.Microsecond, func() { _ = p.cmd.Process.Kill() })
		}
		text, failed, err := p.call("shop", "desk", "execute_command", `{"command":"list_orders"}`)
		if err != nil {
			break
		}
		key := regexp.MustCompile(`"turn_key":"([0-9a-f]+)"`).FindStringSubmatch(text)
		if failed || key == nil {
			t.Fatalf("execute_command: got %s", text)
		}
		keys = append(keys, key[1])
	}
	<-p.exited
	return keys
}
