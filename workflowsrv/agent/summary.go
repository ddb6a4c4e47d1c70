package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/model"
	"github.com/mcp-workbench/workbench/workflowsrv/commandsrv"
)

// Bounds of summaries.
const (
	maxTopic      = 80      // bytes
	maxSummary    = 4 << 10 // bytes
	maxSummed     = 60      // exchanges that the model sees: the first, and the last of them
	summaryTries  = 2
	keepSummary   = "keep_conversation"
	summarySchema = `{"type":"object","properties":{"topic":{"type":"string"},"summary":{"type":"string"}},"required":["topic","summary"]}`
)

// Summarize has the model name a conversation and sum it up. See [commandsrv.Summarizer].
func (a *Agent) Summarize(ctx context.Context, said []commandsrv.Exchange) (topic, summary string, err error) {
	r := model.Request{Role: model.Summary, MustCall: true,
		Messages: []model.Message{{From: model.FromSystem, Text: prompt("summary")}, {From: model.FromUser, Text: transcript(said)}},
		Tools:    []model.Tool{{Name: keepSummary, Description: "Keep the conversation.", Schema: json.RawMessage(summarySchema)}}}
	for range summaryTries {
		reply, err := a.model.Complete(ctx, r)
		if err != nil {
			return "", "", fmt.Errorf("summing the conversation up: %w", err)
		}
		if topic, summary, ok := read(reply); ok {
			return topic, summary, nil
		}
	}
	return "", "", errors.New("summing the conversation up: the model gave no topic and summary; try again, or name another model for the role of summary in the configuration")
}

// transcript writes a conversation down.
func transcript(said []commandsrv.Exchange) string {
	var b strings.Builder
	b.WriteString("The conversation:\n")
	for i, e := range said {
		if left := len(said) - maxSummed; left > 0 && i > 0 && i <= left {
			if i == 1 {
				fmt.Fprintf(&b, "\n(%d exchanges are left out here)\n", left)
			}
			continue
		}
		fmt.Fprintf(&b, "\nUser: %s\nApplication: %s\n", clip(e.Query, maxExchange), clip(e.Answer, maxExchange))
	}
	return b.String()
}

// read takes topic and summary out of a reply: of the call, or of the JSON that models write instead which call
// nothing.
func read(reply *model.Reply) (topic, summary string, ok bool) {
	text := reply.Text
	if len(reply.Calls) > 0 {
		text = reply.Calls[0].Arguments
	} else if from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}'); from >= 0 && to > from {
		text = text[from : to+1]
	}
	var kept struct{ Topic, Summary string }
	if json.Unmarshal([]byte(text), &kept) != nil {
		return "", "", false
	}
	topic = strings.TrimRight(strings.Join(strings.Fields(kept.Topic), " "), ".")
	summary = strings.TrimSpace(kept.Summary)
	return cut.Bytes(topic, maxTopic), cut.Bytes(summary, maxSummary), topic != "" && summary != ""
}
