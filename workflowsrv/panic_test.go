package workflowsrv

import (
	"context"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// A panic is an error of the one call, with its stack in the log.
func TestFaultB15_Panic(t *testing.T) {
	var log strings.Builder
	s := New(Options{Logger: zerolog.New(&log)})
	broken := &tool{name: "broken", run: func(context.Context, *service, arguments) (result, *fault) {
		panic("an invariant that does not hold")
	}}
	_, f := s.service.call(t.Context(), broken, []byte(`{}`), nil)
	if f == nil || f.code != wire.CodeInternal {
		t.Errorf("got %+v, want the code %d", f, wire.CodeInternal)
	}
	for _, want := range []string{"an invariant that does not hold", `"tool":"broken"`, "TestFaultB15_Panic"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("got the log %s, want %q in it", &log, want)
		}
	}
	if _, f := s.service.call(t.Context(), s.tools["workflow_list"], []byte(`{}`), nil); f != nil {
		t.Errorf("the next call: got %+v, want a result", f)
	}
}
