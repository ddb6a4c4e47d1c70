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

func runInitialize(ctx context.Context, s *service, c *caller, _ session, a arguments) (any, *Fault) {
	owner := c.who.Name
	if user := a.text("user_id"); user != "" && user != owner {
		if !c.who.Admin {
			f := faultf(http.StatusForbidden, "you are %q, and only a token with the right of an administrator may act for %q; leave user_id out", owner, user)
			f.Data.UserID = owner
			return nil, f
		}
		owner = user
	}
	begun, err := s.store.Begin(ctx, owner, cmp.Or(a.text("client"), c.client), s.workflow, a.text("conversation_id"))
	if err != nil {
		f := faultOf(err)
		if errors.Is(err, store.ErrNotFound) {
			f.Message = "there is no such conversation; list_conversations shows them"
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
		WorkflowInfo: s.commands().Info()}
	if startup := cmp.Or(s.startup, s.commands().Startup); startup != "" && !r.Restored {
		r.StartupOutput, r.StartupError = s.carryOut(ctx, c, at, request{kind: kindStartup, text: startup}, defaultWait)
		if conversation, err = s.store.Conversation(ctx, owner, begun.Conversation); err != nil {
			return nil, faultOf(err).about(at)
		}
	}
	w := s.commands()
	now := standingOf(conversation, w)
	r.Context, r.Question = w.Title(now.Path), now.Question
	c.session = at.handle
	return r, nil
}

// sessionOperations are about the session and what can be done in it.
func sessionOperations() []*operation {
	return []*operation{
		{
			name: "initialize", title: "Begin a session", method: http.MethodPost, path: "/initialize",
			description: "Begins a session with the workflow and returns its session_id, which every other call takes. " +
				"It continues the given conversation, or else the last one, or begins one.",
			params: []param{
				{name: "user_id", kinds: []string{"string"}, about: "The user of the session. Leave it out for yourself; only an administrator may name somebody else."},
				{name: "conversation_id", kinds: []string{"string", "null"}, about: "The conversation to continue, as list_conversations returns it."},
				{name: "client", kinds: []string{"string"}, about: "The name of the calling program; each program continues its own last conversation."},
			},
			output: initializeOutput, run: runInitialize,
		}, {
			name: "get_workflow_info", title: "About the workflow", method: http.MethodGet, path: "/workflow_info", readOnly: true, idempotent: true,
			description: "Says what the workflow is for, and which contexts it has. Each result has the session's current context.",
			params:      []param{inSession()}, output: infoOutput, run: runWorkflowInfo,
		}, {
			name: "get_commands", title: "List the commands", method: http.MethodGet, path: "/commands", readOnly: true, idempotent: true,
			description: "Lists the commands of the session's current context, with their parameters and an example of each. They change with the context.",
			params:      []param{inSession()}, output: commandsOutput, run: runGetCommands,
		},
	}
}

// The schemas of results, each an object of properties and what is required.
const (
	infoObject = `{"type":"object","properties":{"workflow_name":{"type":"string"},"description":{"type":"string"},"purpose":{"type":"string"},` +
		`"available_contexts":` + stringList + `},"required":["workflow_name","description","purpose","available_contexts"]}`
	initializeOutput = `{"type":"object","properties":{"session_id":{"type":"string"},"user_id":{"type":"string"},"conversation_id":{"type":"string"},` +
		`"restored":{"type":"boolean"},"expires_at":{"type":"integer"},"context":{"type":"string"},"question":{"type":"string"},"workflow_info":` + infoObject + `,"startup_output":{"type":"object"},"startup_error":` + faultObject + `},` +
		`"required":["session_id","user_id","conversation_id","restored","context","workflow_info"]}`
	infoOutput     = infoObject
	commandsOutput = `{"type":"object","properties":{"display_text":{"type":"string"},"commands":{"type":"array","items":{"type":"object","properties":{` +
		`"name":{"type":"string"},"description":{"type":"string"},"effect":{"type":"string"},"parameters":{"type":"array","items":{"type":"object","properties":{` +
		`"name":{"type":"string"},"type":{"type":"string"},"required":{"type":"boolean"},"description":{"type":"string"},"choices":` + stringList + `,"default":{},"examples":{"type":"array"},"available_from":` + stringList + `},` +
		`"required":["name","type","required","description"]}},"input_schema":{"type":"object"},"confirm":{"type":"boolean"},"examples":` + stringList + `,"utterances":` + stringList + `},"required":["name","description","parameters","input_schema","examples"]}}},` +
		`"required":["display_text","commands"]}`
)
