package commandsrv

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/store"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// A caller is who makes a call, and how it hears of what happens.
type caller struct {
	who principal.Principal
	// client is the name of its program.
	client string
	// session is what a call without session_id means, "" for none.
	session string
	// tell takes the events of a turn as they happen; nil has the traces put
	// into the result.
	tell func(event)
	// answer is that to the question of an earlier turn, which the call was
	// made again with; nil if there is none.
	answer *reply
	// ask asks the user; nil where that cannot be done meanwhile.
	ask asker
	// sample asks the model of the client; nil if that lends none.
	sample sampler
}

// An asker asks the user; see AgentRequest.Ask.
type asker func(ctx context.Context, question string, form json.RawMessage) (answer string, ok bool, err error)

// within gives an asker that asks only as long as somebody waits for the turn.
func (a asker) within(waiting context.Context) asker {
	if a == nil {
		return nil
	}
	return func(ctx context.Context, question string, form json.RawMessage) (string, bool, error) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(waiting, func() { cancel(context.Cause(waiting)) })()
		return a(ctx, question, form)
	}
}

// A place is a session of a principal.
type place struct{ owner, session string }

// A session is what a call is made in.
type session struct {
	place
	store.Session
	handle string // by which the caller knows it
}

// about completes a fault.
func (f *Fault) about(s session) *Fault {
	f.Data.SessionID, f.Data.UserID, f.Data.ConversationID = s.handle, s.owner, s.Conversation
	return f
}

// handleOf is what a session is known by outside. An administrator's session
// for somebody else says for whom: it is kept among that user's.
func handleOf(who principal.Principal, owner, id string) string {
	if owner == who.Name {
		return id
	}
	return id + "." + base64.RawURLEncoding.EncodeToString([]byte(owner))
}

// owner finds in a handle whose session it is.
func ownerOf(who principal.Principal, handle string) (owner, id string, ok bool) {
	id, user, other := strings.Cut(handle, ".")
	if !other {
		return who.Name, id, true
	}
	name, err := base64.RawURLEncoding.DecodeString(user)
	return string(name), id, err == nil && who.Admin
}

// find finds the session of a call. One of another principal is as unknown as
// one that never was.
func (s *Server) find(ctx context.Context, c *caller, a arguments) (session, *Fault) {
	handle := a.text("session_id")
	if handle == "" {
		handle = c.session
	}
	if handle == "" {
		f := faultf(http.StatusNotFound, "there is no session yet: call initialize, and give the session_id it returns")
		f.Data.UserID = c.who.Name
		return session{}, f
	}
	unknown := faultf(http.StatusNotFound, "there is no such session, or it was idle for too long: call initialize for a new one, which goes on with the last conversation")
	unknown.Data = FaultData{SessionID: handle, UserID: c.who.Name}
	owner, id, ok := ownerOf(c.who, handle)
	if !ok {
		return session{}, unknown
	}
	found, err := s.store.Session(ctx, owner, id)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && found.Workflow != s.workflow:
		return session{}, unknown
	case err != nil:
		f := faultOf(err)
		f.Data = unknown.Data
		return session{}, f
	}
	return session{place{owner, id}, found, handle}, nil
}

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

func runInitialize(ctx context.Context, s *Server, c *caller, a arguments) (any, *Fault) {
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
	if startup := cmp.Or(s.opts.Startup, s.engine().Workflow().Startup); startup != "" && !r.Restored {
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

// A standing is where a conversation stands: what its next turn goes on from.
type standing struct {
	Path command.Path `json:"path,omitempty"`
	// Question waits for an answer, which is that of Pending by the assistant,
	// or that of Agent.
	Question string           `json:"question,omitempty"`
	Asked    string           `json:"asked,omitempty"` // the turn that asked it
	Pending  *command.Pending `json:"pending,omitempty"`
	Agent    json.RawMessage  `json:"agent,omitempty"`
}

// standing reads it. Of a path that the workflow no longer has it is the part
// that is left, and the question is dropped.
func (s *Server) standing(c store.Conversation) standing {
	var now standing
	if len(c.State) > 0 && json.Unmarshal(c.State, &now) != nil {
		return standing{} // of another workbench: at the top one can go on
	}
	kept, whole := s.engine().Workflow().Resume(now.Path)
	if !whole {
		return standing{Path: kept}
	}
	return now
}
