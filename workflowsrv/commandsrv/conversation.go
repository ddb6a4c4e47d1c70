package commandsrv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/store"
)

type rotated struct {
	Status            string `json:"status"`
	NewConversationID string `json:"new_conversation_id"`
	Topic             string `json:"topic,omitempty"` // of the one that has ended
	Summary           string `json:"summary,omitempty"`
}

// summarized is how many turns, the last ones, a summary is made of.
const summarized = 200

// runNewConversation ends the conversation with a topic and a summary. Where the model that makes them fails, nothing
// is changed.
func runNewConversation(ctx context.Context, s *service, c *caller, at session, a arguments) (any, *Fault) {
	if f := s.latest.busy(at); f != nil {
		return nil, f // before a model is asked for nothing
	}
	said, err := s.said(ctx, at, summarized)
	if err != nil {
		return nil, faultOf(err).about(at)
	}
	var topic, summary string
	switch {
	case len(said) == 0:
	case s.summarizer == nil:
		topic, summary = extract(said)
	default:
		if topic, summary, err = s.summarizer.Summarize(ctx, said); err != nil {
			return nil, faultf(http.StatusInternalServerError, "the conversation goes on, because the model could not summarize it: %s", err).about(at)
		}
	}
	id, err := s.store.Rotate(ctx, at.owner, at.place.session, topic, summary)
	if err != nil {
		return nil, faultOf(err).about(at)
	}
	if id == at.Conversation {
		return rotated{Status: "ok", NewConversationID: id}, nil
	}
	// Its topic may have got a number.
	kept, err := s.store.Conversation(ctx, at.owner, at.Conversation)
	var damaged *store.CorruptError
	if errors.As(err, &damaged) && damaged.Part {
		kept.Topic = damagedTopic
	} else if err != nil {
		return nil, faultOf(err).about(at)
	}
	return rotated{"ok", id, kept.Topic, kept.Summary}, nil
}

// extract names a conversation by what was asked first, and sums it up by its first and last words.
func extract(said []Exchange) (topic, summary string) {
	tag := regexp.MustCompile(`</?[A-Za-z0-9_.-]+>`) // of a command string
	line := func(text string, most int) string {
		runes := []rune(strings.Join(strings.Fields(tag.ReplaceAllString(text, " ")), " "))
		if len(runes) > most {
			return strings.TrimSpace(string(runes[:most-1])) + "…"
		}
		return string(runes)
	}
	show := func(e Exchange) string { return line(e.Query, 120) + ": " + line(e.Answer, 200) }
	topic, summary = line(said[0].Query, 60), show(said[0])
	if n := len(said); n == 2 {
		summary += "\n" + show(said[1])
	} else if n > 2 {
		summary += fmt.Sprintf("\n(%d more)\n%s", n-2, show(said[n-1]))
	}
	return topic, summary
}

type listed struct {
	ConversationID string `json:"conversation_id"`
	Topic          string `json:"topic"`
	Summary        string `json:"summary"`
	Turns          int    `json:"turns"`
	CreatedAt      int64  `json:"created_at"` // in milliseconds since 1970, like the next
	UpdatedAt      int64  `json:"updated_at"`
	ExpiresAt      int64  `json:"expires_at,omitempty"` // absent where it is kept for good
	Active         bool   `json:"active"`               // the session is in it
}

const (
	defaultListed = 10
	maxListed     = 100
)

func runListConversations(ctx context.Context, s *service, c *caller, at session, a arguments) (any, *Fault) {
	limit := int(a.number("limit", defaultListed))
	found, err := s.store.Conversations(ctx, at.owner, s.workflow, limit)
	if err != nil {
		return nil, faultOf(err).about(at)
	}
	list := []listed{}
	for _, k := range found {
		if k.Damaged {
			k.Topic = damagedTopic
		}
		list = append(list, listed{k.ID, k.Topic, k.Summary, k.Turns, k.Created.UnixMilli(), k.Updated.UnixMilli(), millis(k.Expires), k.ID == at.Conversation})
	}
	return map[string]any{"conversations": list}, nil
}

// damagedTopic stands for the topic of a conversation of which only the id is left.
const damagedTopic = "(damaged)"

func runActivateConversation(ctx context.Context, s *service, c *caller, at session, a arguments) (any, *Fault) {
	id := a.text("conversation_id")
	err := s.store.Activate(ctx, at.owner, at.place.session, id)
	if err != nil {
		f := faultOf(err)
		if errors.Is(err, store.ErrNotFound) {
			f.Message = "there is no such conversation; list_conversations shows them"
			at.Conversation = id
		}
		return nil, f.about(at)
	}
	return map[string]string{"status": "ok"}, nil
}

func runPostFeedback(ctx context.Context, s *service, c *caller, at session, a arguments) (any, *Fault) {
	given := store.Feedback{Given: time.Now()}
	switch raw := a["binary_or_numeric_score"]; string(raw) {
	case "":
	case "true", "false":
		score := 0.0
		if raw[0] == 't' {
			score = 1
		}
		given.Score = &score
	default:
		score := new(float64)
		if err := json.Unmarshal(raw, score); err != nil {
			return nil, invalid("binary_or_numeric_score is too large a number").about(at)
		}
		given.Score = score
	}
	if text := a.text("nl_feedback"); strings.TrimSpace(text) != "" { // An empty field of a form is no text.
		given.Text = &text
	}
	if given.Score == nil && given.Text == nil {
		return nil, invalid("give binary_or_numeric_score or nl_feedback, or both").about(at)
	}
	if err := s.store.SaveFeedback(ctx, at.owner, at.Conversation, given); err != nil {
		return nil, faultOf(err).about(at)
	}
	return map[string]string{"status": "ok"}, nil
}

// conversationOperations are about what was said.
func conversationOperations() []*operation {
	return []*operation{
		{
			name: "new_conversation", title: "Begin a new conversation", method: http.MethodPost, path: "/new_conversation",
			description: "Ends the conversation with a topic and a summary, and begins a new one at the top of the workflow. A conversation without turns just continues.",
			params:      []param{inSession()}, output: newConversationOutput, run: runNewConversation,
		}, {
			name: "list_conversations", title: "List conversations", method: http.MethodGet, path: "/conversations", readOnly: true, idempotent: true,
			description: "Lists the latest conversations with this workflow, the last updated one first.",
			params:      []param{inSession(), {name: "limit", kinds: []string{"integer"}, least: 1, most: maxListed, fallback: "10", about: "How many at most."}},
			output:      listOutput, run: runListConversations,
		}, {
			name: "activate_conversation", title: "Continue a conversation", method: http.MethodPost, path: "/activate_conversation", idempotent: true,
			description: "Continues another conversation, at its place.",
			params:      []param{inSession(), {name: "conversation_id", kinds: []string{"string"}, required: true, about: "As list_conversations returns it."}},
			output:      statusOutput, run: runActivateConversation,
		}, {
			name: "post_feedback", title: "Give feedback", method: http.MethodPost, path: "/post_feedback", idempotent: true,
			description: "Stores the user's opinion of the latest turn of the conversation: a score, a text, or both.",
			params: []param{inSession(), {name: "binary_or_numeric_score", kinds: []string{"boolean", "number", "null"}, about: "true or false, or a number."},
				{name: "nl_feedback", kinds: []string{"string", "null"}, about: "What the user says about it."}},
			output: statusOutput, run: runPostFeedback,
		},
	}
}

// The schemas of results.
const (
	newConversationOutput = `{"type":"object","properties":{"status":{"const":"ok"},"new_conversation_id":{"type":"string"},"topic":{"type":"string"},"summary":{"type":"string"}},` +
		`"required":["status","new_conversation_id"]}`
	listOutput = `{"type":"object","properties":{"conversations":{"type":"array","items":{"type":"object","properties":{` +
		`"conversation_id":{"type":"string"},"topic":{"type":"string"},"summary":{"type":"string"},"turns":{"type":"integer"},` +
		`"created_at":{"type":"integer"},"updated_at":{"type":"integer"},"expires_at":{"type":"integer"},"active":{"type":"boolean"}},` +
		`"required":["conversation_id","topic","summary","turns","created_at","updated_at","active"]}}},"required":["conversations"]}`
	statusOutput = `{"type":"object","properties":{"status":{"const":"ok"}},"required":["status"]}`
)
