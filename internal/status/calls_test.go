package status_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/calls"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/status"
)

// record records a call that ends with an outcome.
func record(log *calls.Log, tool, outcome string) {
	c := new(calls.Call)
	log.Note(c, func(c *calls.Call) {
		c.Toolbox, c.Server, c.Method, c.Tool, c.User = "dev", "git", "tools/call", tool, "ci"
		c.Arguments, c.Trace, c.Request = json.RawMessage(`{"a":1}`), calls.Trace{15: 1}, `"x"`
	})
	log.End(c, func(c *calls.Call) {
		c.Outcome, c.Out = outcome, 400
		c.Stderr = []calls.Line{{Time: calls.Time{Time: time.Unix(1, 0)}, Text: foreign.NewText("words")}}
	})
}

// Another process reads the record of calls, and follows it, over the socket.
func TestCallsOverTheSocket(t *testing.T) {
	dir := shortDir(t)
	log := calls.New(calls.Full)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	ln := listen(t, dir)
	go func() {
		ended <- status.Serve(ctx, ln, func() status.Workbench { return status.Workbench{} }, status.Answers{Calls: log})
	}()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	for i := range 5 {
		record(log, fmt.Sprint("tool", i), []string{calls.OK, calls.Lost}[i%2])
	}
	running := new(calls.Call)
	log.Note(running, func(c *calls.Call) { c.Tool = "slow" })
	peer := status.Find([]string{dir})[0]

	for name, test := range map[string]struct {
		filter calls.Filter
		want   []string
	}{
		"all":       {calls.Filter{}, []string{"tool0", "tool1", "tool2", "tool3", "tool4", "slow"}},
		"failed":    {calls.Filter{Failed: true}, []string{"tool1", "tool3"}},
		"by a name": {calls.Filter{Tool: "OOL3", Server: "Git"}, []string{"tool3"}},
		"the last":  {calls.Filter{Limit: 2}, []string{"tool4", "slow"}},
		"of nobody": {calls.Filter{User: "me"}, nil},
		"later":     {calls.Filter{Since: time.Now().Add(time.Hour)}, nil},
	} {
		got, err := peer.Calls(t.Context(), test.filter)
		var tools []string
		for _, c := range got {
			tools = append(tools, c.Tool)
		}
		if err != nil || !reflect.DeepEqual(tools, test.want) {
			t.Errorf("%s: got %v, %v, want %v", name, tools, err, test.want)
		}
	}

	all, err := peer.Calls(t.Context(), calls.Filter{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	one, err := peer.Call(t.Context(), all[0].ID)
	if err != nil || !reflect.DeepEqual(one, all[0]) {
		t.Errorf("got %+v, %v, want what is listed: %+v", one, err, all[0])
	}
	if one.Tokens != 100 || one.Trace != (calls.Trace{15: 1}) || string(one.Arguments) != `{"a":1}` || one.Stderr[0].Text.String() != "words" || one.Duration < 0 {
		t.Errorf("got %+v, want all that was recorded", one)
	}
	if slow, err := peer.Call(t.Context(), all[1].ID); err != nil || slow.Outcome != calls.Running {
		t.Errorf("got %+v, %v, want the call that is under way", slow, err)
	}
	if _, err := peer.Call(t.Context(), "4711-4711"); !errors.Is(err, status.ErrNone) {
		t.Errorf("got %v for a call that is not there", err)
	}

	done := errors.New("enough")
	var tools []string
	err = peer.FollowCalls(t.Context(), calls.Filter{Failed: true}, func() {
		record(log, "good", calls.OK)
		record(log, "bad", calls.Error)
		log.End(running, func(c *calls.Call) { c.Outcome = calls.Refused })
	}, func(s calls.Said) error {
		if s.Missed > 0 {
			t.Errorf("%d calls were missed", s.Missed)
		} else if tools = append(tools, s.Call.Tool); len(tools) == 2 {
			return done
		}
		return nil
	})
	if !errors.Is(err, done) || !reflect.DeepEqual(tools, []string{"bad", "slow"}) {
		t.Errorf("got %v, %v, want the two that failed", tools, err)
	}
}
