package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/runs"
)

// roleVariable makes this test program walk runs in the file that it names, until it is killed.
const roleVariable = "RUNS_TEST_WALK"

func TestMain(m *testing.M) {
	if path := os.Getenv(roleVariable); path != "" {
		fmt.Fprintln(os.Stderr, walkForEver(path))
		os.Exit(1)
	}
	// The clock of the pattern library runs on for a while.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2.runClock"))
}

// finder finds workflows among these definitions.
func finder(t testing.TB, definitions ...string) func(string) (*definition.Entry, error) {
	t.Helper()
	byID := map[string]*definition.Entry{}
	for _, text := range definitions {
		w, err := new(definition.Parser).Parse("w.json", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		byID[w.ID] = &definition.Entry{Workflow: w}
	}
	return func(id string) (*definition.Entry, error) {
		if e := byID[id]; e != nil {
			return e, nil
		}
		return nil, errors.New("there is no such workflow")
	}
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
	Done       int
	Event      int
	Warnings   []string
}

func read(a runs.Answer) (d told, err error) {
	err = json.Unmarshal(a.Data, &d)
	return d, err
}
