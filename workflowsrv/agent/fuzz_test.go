package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/model"
	"github.com/mcp-workbench/workbench/workflowsrv/agent"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/command/example"
	"github.com/mcp-workbench/workbench/workflowsrv/commandsrv"
)

// A madman is a model that replies whatever its bytes say.
type madman struct {
	bytes []byte
	asked int
}

func (m *madman) next() byte {
	if len(m.bytes) == 0 {
		return 0
	}
	b := m.bytes[0]
	m.bytes = m.bytes[1:]
	return b
}

// Complete implements agent.Model.
func (m *madman) Complete(_ context.Context, r model.Request) (*model.Reply, error) {
	if r.Role == model.Planner {
		return &model.Reply{Text: strings.Repeat("x", int(m.next()))}, nil
	}
	m.asked++
	open := map[string]bool{}
	for _, message := range r.Messages {
		for _, call := range message.Calls {
			open[call.ID] = true
		}
		if message.From == model.FromTool && !open[message.CallID] {
			return nil, fmt.Errorf("the dialogue has a result of the call %q, which nobody made", message.CallID)
		}
	}
	reply := new(model.Reply)
	for i := range m.next() % 8 {
		name := string([]byte{m.next(), m.next()})
		if n := int(m.next()); n < 2*len(r.Tools) {
			name = r.Tools[n/2].Name
		}
		arguments := []string{`{}`, `{"order_id":"44821"}`, `{"reason":"late"}`, `{"words":"x"}`, `{"question":"?"}`, `{"note":"x","line":2}`, `[`, `{"customer":"A","book":"Emma"}`}
		reply.Calls = append(reply.Calls, model.Call{ID: fmt.Sprint(i), Name: name, Arguments: arguments[m.next()%8]})
	}
	if len(reply.Calls) == 0 && m.next() > 200 {
		reply.Text = "done"
	}
	return reply, nil
}

// watched counts the calls of a shop that change it.
type watched struct {
	*example.Shop
	changes int
}

func (w *watched) CallTool(ctx context.Context, toolbox, server, tool string, arguments json.RawMessage) (json.RawMessage, error) {
	if strings.HasPrefix(tool, "cancel") || strings.HasPrefix(tool, "place") || strings.HasPrefix(tool, "add") || strings.HasPrefix(tool, "change") || strings.HasPrefix(tool, "send") {
		w.changes++
	}
	return w.Shop.CallTool(ctx, toolbox, server, tool, arguments)
}

// FuzzRun checks that whatever a model replies, the work ends within its rounds, changes nothing without a yes, and
// leaves what it can go on from.
func FuzzRun(f *testing.F) {
	f.Add([]byte("\x02ab\x04\x01cd\x08\x00"), true)
	f.Add([]byte("\x01ab\x00\x04"), true)
	f.Add([]byte(strings.Repeat("\x01ab\x06\x01\x01ab\x0c\x02", 10)), false)
	shop := example.New()
	w, err := command.Load(example.Files(), command.LoadOptions{Tools: shop.Tools()})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, replies []byte, agrees bool) {
		m, shop := &madman{bytes: replies}, &watched{Shop: example.New()}
		agreed, says := 0, "no, the one of Ines"
		if agrees {
			says = "yes"
		}
		r := commandsrv.AgentRequest{Engine: command.New(w, command.Options{Caller: shop}), Query: "do something", Trace: func(command.TraceEvent) {}, Text: func(int, string) {}}
		for asked := 0; ; asked++ {
			got, err := agent.New(m, agent.Options{}).Run(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if shop.changes > agreed {
				t.Fatalf("the shop was changed %d times, and the user has agreed to %d", shop.changes, agreed)
			}
			if got.Status != command.AwaitingUser {
				break
			}
			if asked > 25 || m.asked > 25 {
				t.Fatalf("the model was asked %d times and the user %d times", m.asked, asked)
			}
			if agrees && strings.HasPrefix(got.Question, "Run ") {
				agreed++
			}
			r.State, r.Query, r.Path = got.State, says, got.Path
		}
	})
}
