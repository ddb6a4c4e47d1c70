package toolbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-workbench/workbench/internal/mcptest"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

// heard calls the tool that tells what came before.
func heard(t *testing.T, s *toolbox.Server) *handler {
	t.Helper()
	call, h := newCall(t, `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"heard","arguments":{}}}`)
	s.Send(call)
	return h
}

// levels waits for the result of heard and gives the levels and changes of roots in it.
func levels(t *testing.T, h *handler) (got []string) {
	t.Helper()
	if err := <-h.done; err != nil {
		t.Fatal(err)
	}
	for _, word := range strings.FieldsFunc(string(h.reply), func(r rune) bool { return strings.ContainsRune(`"\:{} `, r) }) {
		switch word {
		case "debug", "error", "info", "notifications/roots/list_changed":
			got = append(got, strings.TrimPrefix(word, "notifications/"))
		}
	}
	return got
}

func rootsChanged(t *testing.T) *wire.Message {
	t.Helper()
	m := new(wire.Message)
	if err := wire.Scan([]byte(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`), m); err != nil {
		t.Fatal(err)
	}
	return m
}

// What changes the state of a server reaches it in the order that it was said in, also while the server starts, and
// before what was said later.
func TestFaultH3_OrderWhileItStarts(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	b := toolboxOf(t, &mcptest.Server{Gate: gate})
	s := server(t, b, "in")
	b.SetLevel("info", nil) // it is not started
	if err := b.Open(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	first := heard(t, s)
	b.SetLevel("debug", nil)
	second := heard(t, s)
	s.Notify(rootsChanged(t))
	b.SetLevel("error", nil)
	third := heard(t, s)
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for h, want := range map[*handler]string{first: "[info]", second: "[info debug]", third: "[info debug roots/list_changed error]"} {
		// The server may be at the call when more has come.
		if got := fmt.Sprint(levels(t, h)); !strings.HasPrefix(got, strings.TrimSuffix(want, "]")) {
			t.Errorf("got %s, want %s first", got, want)
		}
	}
}

// Levels set one after the other, and calls between them, never overtake each other.
func TestFaultH3_OrderOfLevels(t *testing.T) {
	b := toolboxOf(t, &mcptest.Server{})
	s := server(t, b, "in")
	if err := b.Open(t.Context(), 10*time.Second); err != nil {
		t.Fatal(err)
	}
	var calls []*handler
	for range 100 {
		b.SetLevel("debug", nil)
		b.SetLevel("error", nil)
		calls = append(calls, heard(t, s))
	}
	for i, h := range calls {
		got := levels(t, h)
		if want := 2 * (i + 1); len(got) < want || got[want-1] != "error" || got[want-2] != "debug" {
			t.Fatalf("call %d: got %q, want debug and error by turns, %d in all", i, got, want)
		}
	}
}

// A server that never answers holds up what follows a level for a bounded time.
func TestFaultH3_LevelIsNotAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := toolboxOf(t, &mcptest.Server{Silent: []string{"logging/setLevel"}})
		s := server(t, b, "in")
		if err := b.Open(t.Context(), 10*time.Second); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if told := b.SetLevel("debug", nil); len(told) != 1 || told[0].Done == nil {
			t.Errorf("got %v, want one server that is there", told)
		}
		levels(t, heard(t, s))
		since(t, "the call", began, toolbox.LevelWait)
	})
}

func toolboxOf(t *testing.T, s *mcptest.Server) *toolbox.Toolbox {
	t.Helper()
	b, _ := within(t, toolbox.Options{}, always(s))
	return b
}

// A server that starts again is told the level that was set last, also if it took long to take an earlier one.
func TestLevelThatIsAnsweredLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var told []string
		r := &reluctant{Server: &mcptest.Server{}, method: "logging/setLevel"}
		r.do = func(n int, m *wire.Message, _ func(), answer func([]byte)) {
			mu.Lock()
			defer mu.Unlock()
			level, _ := m.Text(m.Params, "level")
			told = append(told, level)
			reply := wire.AppendResult(nil, m.Bytes(m.ID), []byte("{}"))
			late := time.Duration(0)
			if n == 1 {
				late = 2 * toolbox.LevelWait
			}
			time.AfterFunc(late, func() { answer(reply) })
		}
		b, s := within(t, toolbox.Options{}, func(int) (wire.Endpoint, error) { return r, nil })
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.SetLevel("debug", nil)
		b.SetLevel("error", nil)
		time.Sleep(time.Minute)
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if got, want := fmt.Sprint(told), "[debug error error]"; got != want {
			t.Errorf("got the levels %s, want %s", got, want)
		}
	})
}
