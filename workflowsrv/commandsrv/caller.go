package commandsrv

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/principal"
	"github.com/mcp-workbench/workbench/internal/store"
)

// A caller is who makes a call, and how it hears of what happens.
type caller struct {
	who principal.Principal
	// client is the name of its program.
	client string
	// session is what a call without session_id means, "" for none.
	session string
	// tell takes the events of a turn as they happen; nil has the traces put into the result.
	tell func(event)
	// answer is that to the question of an earlier turn, which the call was made again with; nil if there is none.
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

// A sampler asks the model of the client; see Options.Sampled.
type sampler func(ctx context.Context, params []byte) (result []byte, err error)

// within gives a sampler that asks only as long as somebody waits for the turn.
func (s sampler) within(waiting context.Context) sampler {
	if s == nil {
		return nil
	}
	return func(ctx context.Context, params []byte) ([]byte, error) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(waiting, func() { cancel(context.Cause(waiting)) })()
		return s(ctx, params)
	}
}

// A reply is what the user answered to the question of an earlier turn.
type reply struct{ turn, text string }

// A place is a session of a principal.
type place struct{ owner, session string }

// A session is what a call is made in.
type session struct {
	place
	store.Session
	handle string // by which the caller knows it
}

// millis is a time in milliseconds since 1970, 0 for none.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// about completes a fault.
func (f *Fault) about(s session) *Fault {
	f.Data.SessionID, f.Data.UserID, f.Data.ConversationID = s.handle, s.owner, s.Conversation
	return f
}

// handleOf is what a session is known by outside. An administrator's session for somebody else says for whom: it is
// kept among that user's.
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
