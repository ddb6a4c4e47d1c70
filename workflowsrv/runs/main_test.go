package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/workbench/internal/pgtest"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// roleVariable makes this test program another process of a test.
const roleVariable = "RUNS_TEST_WALK"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		if err := play(role); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	server.Stop()
	if code == 0 {
		// The clock of the pattern library runs on for a while.
		if err := goleak.Find(goleak.IgnoreAnyFunction("github.com/dlclark/regexp2.runClock")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// server is the PostgreSQL server that tests share.
var server pgtest.Server

// parser reads the definitions of all tests.

// find finds workflows among these definitions.
func find(definitions ...string) (func(string) (*definition.Entry, error), error) {
	byID := map[string]*definition.Entry{}
	for _, text := range definitions {
		w, err := definition.Parse("w.json", []byte(text))
		if err != nil {
			return nil, err
		}
		byID[w.ID] = &definition.Entry{Workflow: w}
	}
	return func(id string) (*definition.Entry, error) {
		if e := byID[id]; e != nil {
			return e, nil
		}
		return nil, errors.New("there is no such workflow")
	}, nil
}

func finder(t testing.TB, definitions ...string) func(string) (*definition.Entry, error) {
	t.Helper()
	found, err := find(definitions...)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// in keeps runs in a file.
func in(path string) func(context.Context) (runs.Log, error) {
	return func(ctx context.Context) (runs.Log, error) {
		return store.OpenSQLite(ctx, path, func(err error) { fmt.Fprintln(os.Stderr, "warning:", err) }, store.Options{})
	}
}

// told is what an answer says of a run.
type told struct {
	Run        string
	State      string
	IsComplete bool
	Step       *struct{ ID string }
	Loop       *struct{ Iteration int }
	Runs       []struct{ Run string }
	Done       int
	Event      int
	Warnings   []string
}

func read(a runs.Answer) (d told, err error) {
	err = json.Unmarshal(a.Data, &d)
	return d, err
}
