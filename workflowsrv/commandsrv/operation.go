package commandsrv

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// A service carries out operations.
type service struct {
	runner
	startup    string // Options.Startup
	summarizer Summarizer
}

// An operation is one thing that a client can ask for: a tool over MCP, a
// method and a path over HTTP.
type operation struct {
	name, title, description string
	params                   []param
	output                   string // JSON Schema of the result
	method, path             string
	readOnly, idempotent     bool
	openWorld                bool
	run                      func(ctx context.Context, s *service, c *caller, a arguments) (any, *Fault)
}

// read reads the arguments of a call.
func (o *operation) read(c *caller, raw []byte) (arguments, *Fault) {
	a, f := readArguments(raw, o.params)
	if f != nil {
		f.Data.UserID = c.who.Name
	}
	return a, f
}

// runTurn gives the run of an operation that is a turn; read takes the request
// from the arguments.
func runTurn(read func(a arguments) request) func(ctx context.Context, s *service, c *caller, a arguments) (any, *Fault) {
	return func(ctx context.Context, s *service, c *caller, a arguments) (any, *Fault) {
		at, r, f := s.asked(ctx, c, a, read)
		if f != nil {
			return nil, f
		}
		output, f := s.carryOut(ctx, c, at, r, waitOf(a))
		if f != nil {
			return nil, f
		}
		return output, nil
	}
}

// maxQuery is how long an instruction in words may be, in bytes: all of it is
// compared with every command, and shown to an agent's model again and again.
const maxQuery = 32 << 10

// asked reads the session and the request of a turn.
func (s *service) asked(ctx context.Context, c *caller, a arguments, read func(a arguments) request) (session, request, *Fault) {
	at, f := s.find(ctx, c, a)
	if f != nil {
		return at, request{}, f
	}
	r := read(a)
	if r.action != nil {
		r.text = s.engine().Workflow().Format(*r.action)
	}
	if c.answer != nil {
		r.text, r.answers, r.action = c.answer.text, c.answer.turn, nil
	}
	if r.kind == kindAgent {
		if s.agents.of(c) == nil {
			return at, r, faultf(http.StatusServiceUnavailable, "no model is configured here (models in the configuration), so nothing can be planned; use invoke_assistant for an instruction in words, or get_commands and execute_command").about(at)
		}
		if r.text == "" {
			return at, r, invalid("user_query is empty: say what you want").about(at)
		}
	}
	if (r.kind == kindAssistant || r.kind == kindAgent) && len(r.text) > maxQuery {
		return at, r, invalid("user_query is longer than %d bytes: say it in fewer words", maxQuery).about(at)
	}
	return at, r, nil
}

func waitOf(a arguments) time.Duration {
	return time.Duration(a.number("timeout_seconds", defaultWait.Seconds()) * float64(time.Second))
}

func commandRequest(a arguments) request {
	return request{kind: kindCommand, text: a.text("command"), confirmed: a.flag("confirmed")}
}

func runRequest(a arguments) request {
	return request{kind: kindRun, action: &command.Action{CommandName: a.text("name"), Arguments: a.raw("arguments")}, confirmed: a.flag("confirmed")}
}

func assistantRequest(a arguments) request {
	return request{kind: kindAssistant, text: a.text("user_query")}
}

// agentRequest drops the slashes that an agent's query may begin with, out of
// habit from the assistant's.
func agentRequest(a arguments) request {
	return request{kind: kindAgent, text: strings.TrimLeft(strings.TrimSpace(a.text("user_query")), "/ ")}
}

func runWorkflowInfo(ctx context.Context, s *service, c *caller, a arguments) (any, *Fault) {
	if _, f := s.find(ctx, c, a); f != nil {
		return nil, f
	}
	return s.engine().Workflow().Info(), nil
}

func runGetCommands(ctx context.Context, s *service, c *caller, a arguments) (any, *Fault) {
	at, f := s.find(ctx, c, a)
	if f != nil {
		return nil, f
	}
	conversation, err := s.store.Conversation(ctx, at.owner, at.Conversation)
	if err != nil {
		return nil, faultOf(err).about(at)
	}
	return s.engine().Workflow().Describe(s.standing(conversation).Path), nil
}
