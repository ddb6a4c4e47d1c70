package commandsrv

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// initialized is the result of initialize.
type initialized struct {
	SessionID      string          `json:"session_id"`
	UserID         string          `json:"user_id"`
	ConversationID string          `json:"conversation_id"`
	Restored       bool            `json:"restored"`             // the conversation has turns already
	ExpiresAt      int64           `json:"expires_at,omitempty"` // when it is deleted unless it is gone on with
	Context        string          `json:"context"`
	Question       string          `json:"question,omitempty"` // that waits for an answer
	WorkflowInfo   command.Info    `json:"workflow_info"`
	StartupOutput  json.RawMessage `json:"startup_output,omitempty"`
	StartupError   *Fault          `json:"startup_error,omitempty"` // in its place; the session is there all the same
}

func runInitialize(ctx context.Context, s *service, c *caller, a arguments) (any, *Fault) {
	owner := c.who.Name
	if user := a.text("user_id"); user != "" && user != owner {
		if !c.who.Admin {
			f := faultf(http.StatusForbidden, "you are %q, and only a token with the right of an administrator may act for %q; leave user_id out", owner, user)
			f.Data.UserID = owner
			return nil, f
		}
		owner = user
	}
	client := a.text("client")
	if client == "" {
		client = c.client
	}
	begun, err := s.store.Begin(ctx, owner, client, s.workflow, a.text("conversation_id"))
	if err != nil {
		f := faultOf(err)
		if errors.Is(err, store.ErrNotFound) {
			f.Message = "there is no such conversation; list_conversations shows which there are"
		}
		f.Data.UserID, f.Data.ConversationID = owner, a.text("conversation_id")
		return nil, f
	}
	at := session{place{owner, begun.ID}, begun, handleOf(c.who, owner, begun.ID)}
	conversation, err := s.store.Conversation(ctx, owner, begun.Conversation)
	if err != nil {
		return nil, faultOf(err).about(at)
	}
	r := initialized{SessionID: at.handle, UserID: owner, ConversationID: begun.Conversation, Restored: conversation.Turns > 0, ExpiresAt: millis(conversation.Expires),
		WorkflowInfo: s.engine().Workflow().Info()}
	if startup := cmp.Or(s.startup, s.engine().Workflow().Startup); startup != "" && !r.Restored {
		r.StartupOutput, r.StartupError = s.carryOut(ctx, c, at, request{kind: kindStartup, text: startup}, defaultWait)
		if conversation, err = s.store.Conversation(ctx, owner, begun.Conversation); err != nil {
			return nil, faultOf(err).about(at)
		}
	}
	now := s.standing(conversation)
	r.Context, r.Question = s.engine().Workflow().Title(now.Path), now.Question
	c.session = at.handle
	return r, nil
}
