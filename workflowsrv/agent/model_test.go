package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-workbench/workbench/internal/model/modeltest"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
	"github.com/mcp-workbench/workbench/workflowsrv/command/example"
	"github.com/mcp-workbench/workbench/workflowsrv/commandsrv"
)

// assisted is the bookshop with the model as the chooser of instructions.
func assisted(t *testing.T, script ...modeltest.Answer) *desk {
	t.Helper()
	d := newDesk(t, script...)
	shop := example.New()
	d.engine = command.New(d.engine.Workflow(), command.Options{Caller: shop, Chooser: d.agent})
	return d
}

func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer modeltest.Answer
		status command.Status
		want   string // a piece of the answer
	}{
		{"a command that reads", modeltest.Calls("search_books", `{"words":"Woolf"}`), command.Completed, "The Waves"},
		{"a command that writes", modeltest.Calls("place_order", `{"customer":"Tom","book":"Emma"}`), command.AwaitingUser, `Run place_order with customer "Tom", book "Emma", copies 1 at global?`},
		{"parameters missing", modeltest.Calls("search_books", `{}`), command.AwaitingUser, "words is missing"},
		{"parameters malformed", modeltest.Calls("search_books", `{"words"`), command.AwaitingUser, "Do you mean place_order?"},
		{"no parameters at all", modeltest.Calls("list_orders", ""), command.Completed, "44821"},
		{"none", modeltest.Calls("none_of_these", `{}`), command.AwaitingUser, "Do you mean place_order?"},
		{"words", modeltest.Text("I would search."), command.AwaitingUser, "Do you mean place_order?"},
		{"an unknown one", modeltest.Calls("burn_books", `{}`), command.AwaitingUser, "Do you mean place_order?"},
		{"two", modeltest.Calls("search_books", `{"words":"x"}`, "list_orders", `{}`), command.AwaitingUser, "Do you mean place_order?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := assisted(t, tt.answer)
			o, err := d.engine.Assist(t.Context(), nil, "Tom would like a book by Woolf or an order of Emma", command.CallOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if o.Status != tt.status || !strings.Contains(o.Text(), tt.want) {
				t.Errorf("got %s, %q, want %s, %q", o.Status, o.Text(), tt.status, tt.want)
			}
			asked := d.model.Requests()[0]
			if names := asked.Names(); asked.ToolChoice != "required" || names[len(names)-1] != "none_of_these" || strings.Contains(asked.Body, `"required":["`) {
				t.Errorf("got the request %s", asked.Body)
			}
		})
	}
}

func TestChooseFails(t *testing.T) {
	d := assisted(t, modeltest.Body(400, `{"error":{"message":"out of order"}}`))
	_, err := d.engine.Assist(t.Context(), nil, "a book by Woolf would be nice", command.CallOptions{})
	if err == nil || !strings.Contains(err.Error(), `choosing a command: model "worker": HTTP 400 Bad Request: out of order`) {
		t.Errorf("got %v", err)
	}
}

func TestSummarize(t *testing.T) {
	kept := func(topic, summary string) string {
		b, err := json.Marshal(map[string]string{"topic": topic, "summary": summary})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	good := modeltest.Calls("keep_conversation", kept(" Order of\nAda. ", " It was late. "))
	for _, tt := range []struct {
		name           string
		script         []modeltest.Answer
		topic, summary string
		err            string
	}{
		{"a call", []modeltest.Answer{good}, "Order of Ada", "It was late.", ""},
		{"words around JSON", []modeltest.Answer{modeltest.Text("```json\n" + kept("t", "s") + "\n```")}, "t", "s", ""},
		{"words, then a call", []modeltest.Answer{modeltest.Text("They spoke of Ada."), good}, "Order of Ada", "It was late.", ""},
		{"no topic, twice", []modeltest.Answer{modeltest.Calls("keep_conversation", kept(" . ", "s")), modeltest.Calls("keep_conversation", `{"topic":7}`)}, "", "", "the model gave no topic and summary"},
		{"an error", []modeltest.Answer{modeltest.Body(401, "")}, "", "", "summing the conversation up: model \"worker\": HTTP 401"},
		{"too long", []modeltest.Answer{modeltest.Calls("keep_conversation", kept(strings.Repeat("t", 81), strings.Repeat("é", 5000)))},
			strings.Repeat("t", 77) + "…", strings.Repeat("é", 2046) + "…", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, tt.script...)
			topic, summary, err := d.agent.Summarize(t.Context(), []commandsrv.Exchange{{Query: "cancel the order of Ada", Answer: "It is cancelled."}})
			if topic != tt.topic || summary != tt.summary || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %q, %q, %v\nwant %q, %q, %q", topic, summary, err, tt.topic, tt.summary, tt.err)
			}
			d.wantLast(0, "User: cancel the order of Ada\nApplication: It is cancelled.")
		})
	}
}

// Of a long conversation the model sees the beginning and the end.
func TestSummarizeLong(t *testing.T) {
	var said []commandsrv.Exchange
	for i := range 1000 {
		said = append(said, commandsrv.Exchange{Query: fmt.Sprintf("question %d", i), Answer: strings.Repeat("a", 5000)})
	}
	d := newDesk(t, modeltest.Calls("keep_conversation", `{"topic":"t","summary":"s"}`))
	if _, _, err := d.agent.Summarize(t.Context(), said); err != nil {
		t.Fatal(err)
	}
	got := d.last(0)
	for _, piece := range []string{"question 0\n", "(940 exchanges are left out here)", "question 941\n", "question 999\n"} {
		if !strings.Contains(got, piece) {
			t.Errorf("want %q in what the model sees", piece)
		}
	}
	if strings.Contains(got, "question 940\n") || len(got) > 256<<10 {
		t.Errorf("got %d bytes", len(got))
	}
}
