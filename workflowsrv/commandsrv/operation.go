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

// An operation is one thing that a client can ask for: a tool over MCP, a method and a path over HTTP.
type operation struct {
	name, title, description string
	params                   []param
	output                   string // JSON Schema of the result
	method, path             string
	readOnly, idempotent     bool
	openWorld                bool
	run                      func(ctx context.Context, s *service, c *caller, at session, a arguments) (any, *Fault)
}

// read reads the arguments of a call.
func (o *operation) read(c *caller, raw []byte) (arguments, *Fault) {
	a, f := readArguments(o.name, raw, o.params)
	if f != nil {
		f.Data.UserID = c.who.Name
	}
	return a, f
}

// runTurn gives the run of an operation that is a turn; read takes the request from the arguments.
func runTurn(read func(a arguments) request) func(ctx context.Context, s *service, c *caller, at session, a arguments) (any, *Fault) {
	return func(ctx context.Context, s *service, c *caller, at session, a arguments) (any, *Fault) {
		r, f := s.asked(c, at, a, read)
		if f != nil {
			return nil, f
		}
		return s.carryOut(ctx, c, at, r, waitOf(a))
	}
}

// maxQuery is how long an instruction in words may be, in bytes: all of it is compared with every command, and shown to
// an agent's model again and again.
const maxQuery = 32 << 10

// asked reads the request of a turn.
func (s *service) asked(c *caller, at session, a arguments, read func(a arguments) request) (request, *Fault) {
	r := read(a)
	if r.action != nil {
		r.text = s.commands().Format(*r.action)
	}
	if c.answer != nil {
		r.text, r.answers, r.action = c.answer.text, c.answer.turn, nil
	}
	if r.kind == kindAgent {
		if s.agents.of(c) == nil {
			return r, faultf(http.StatusServiceUnavailable, "no model is configured here (models in the configuration), so nothing can be planned; use invoke_assistant for an instruction in words, or get_commands and execute_command").about(at)
		}
		if strings.Trim(r.text, "/ ") == "" {
			return r, invalid("user_query is empty: say what you want").about(at)
		}
	}
	if (r.kind == kindAssistant || r.kind == kindAgent) && len(r.text) > maxQuery {
		return r, invalid("user_query is longer than %d bytes: say it in fewer words", maxQuery).about(at)
	}
	return r, nil
}

func waitOf(a arguments) time.Duration {
	return time.Duration(a.number("timeout_seconds", defaultWait.Seconds()) * float64(time.Second))
}

func commandRequest(a arguments) request {
	return request{kind: kindCommand, text: a.text("command"), confirmed: a.flag("confirmed")}
}

func runRequest(a arguments) request {
	return request{kind: kindRun, action: &command.Action{CommandName: a.text("name"), Arguments: a["arguments"]}, confirmed: a.flag("confirmed")}
}

func assistantRequest(a arguments) request {
	return request{kind: kindAssistant, text: a.text("user_query")}
}

func agentRequest(a arguments) request {
	return request{kind: kindAgent, text: strings.TrimSpace(a.text("user_query"))}
}

func runWorkflowInfo(_ context.Context, s *service, _ *caller, _ session, _ arguments) (any, *Fault) {
	return s.commands().Info(), nil
}

func runGetCommands(ctx context.Context, s *service, _ *caller, at session, _ arguments) (any, *Fault) {
	conversation, err := s.store.Conversation(ctx, at.owner, at.Conversation)
	if err != nil {
		return nil, faultOf(err).about(at)
	}
	w := s.commands()
	return w.Describe(standingOf(conversation, w).Path), nil
}

// turnOperations carry out what is wanted.
func turnOperations() []*operation {
	wait := param{name: "timeout_seconds", kinds: []string{"number"}, least: 0.001, most: 3600, fallback: "60",
		about: "How long to wait for the result. The turn goes on after that."}
	query := func(about string) param {
		return param{name: "user_query", kinds: []string{"string"}, required: true, about: about}
	}
	return []*operation{
		{
			name: "invoke_agent", title: "Carry out a task", method: http.MethodPost, path: "/invoke_agent", openWorld: true,
			description: "Plans a task and carries it out with the commands of the workflow. Needs a configured model.",
			params:      []param{inSession(), query("The task, or the answer to the question of the last result."), wait},
			output:      turnOutput, run: runTurn(agentRequest),
		}, {
			name: "invoke_assistant", title: "Give an instruction", method: http.MethodPost, path: "/invoke_assistant", openWorld: true,
			description: "Carries out one instruction in words, such as \"open order 44821\": finds the command and its parameters. " +
				"A command that was not named exactly and changes something needs a yes first: status is awaiting_user, and the next call answers the question.",
			params: []param{inSession(), query("The instruction, or the answer to the question of the last result."), wait},
			output: turnOutput, run: runTurn(assistantRequest),
		}, {
			name: "execute_command", title: "Execute a command", method: http.MethodPost, path: "/execute_command", openWorld: true,
			description: "Executes an exact command string: the name and each parameter as a tag, as in Order/add_note <note>call back</note>. " +
				"In values write &lt; for < and &amp; for &. Nothing is guessed; if the command cannot run, success is false, with what is missing or invalid.",
			params: []param{inSession(), {name: "command", kinds: []string{"string"}, required: true, about: "The command string. get_commands shows an example of each."},
				{name: "confirmed", kinds: []string{"boolean"}, fallback: "false", about: "Says that the user agrees to a command that must be confirmed."}, wait},
			output: executeOutput, run: runTurn(commandRequest),
		}, {
			name: kindRun, title: "Run a command", method: http.MethodPost, path: "/run_command", openWorld: true,
			description: "Runs a command by its name, with its parameters as a JSON object that fits its input_schema in get_commands. Nothing is guessed. " +
				"The result has what the command returned, unchanged, with images and other content. An entry of next_actions can be sent as such a call.",
			params: []param{inSession(), {name: "name", kinds: []string{"string"}, required: true, about: "The name of the command, as get_commands lists it."},
				{name: "arguments", kinds: []string{"object", "null"}, about: "The parameters by name."},
				{name: "confirmed", kinds: []string{"boolean"}, fallback: "false", about: "Says that the user agrees to a command that must be confirmed."}, wait},
			output: runOutput, run: runTurn(runRequest),
		},
	}
}

// The schemas of results.
const (
	traceList = `{"type":"array","items":{"type":"object","properties":{` +
		`"timestamp":{"type":"integer"},"direction":{"enum":["agent_to_workflow","workflow_to_agent"]},"raw_command":{"type":["string","null"]},` +
		`"command_name":{"type":["string","null"]},"parameters":{"type":["object","null"]},"response_text":{"type":["string","null"]},"success":{"type":["boolean","null"]}},` +
		`"required":["timestamp","direction","raw_command","command_name","parameters","response_text","success"]}}`
	problemMembers = `"missing":` + stringList + `,"invalid":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"value":{},"reason":{"type":"string"}},` +
		`"required":["name","reason"]}},"suggestions":{"type":"object","additionalProperties":` + stringList + `},"available_from":{"type":"object","additionalProperties":` + stringList + `}`
	turnMembers = `"turn_key":{"type":"string"},"status":{"enum":["completed","awaiting_user","cancelled"]},"success":{"type":"boolean"},"context":{"type":"string"},` +
		`"question":{"type":"string"},"form":{"type":"object"},` + problemMembers + `,"traces":` + traceList
	actionObject = `{"type":"object","properties":{"command_name":{"type":"string"},"arguments":{"type":["object","null"]}},"required":["command_name","arguments"]}`
	turnOutput   = `{"type":"object","properties":{` + turnMembers + `,"workflow_name":{"type":["string","null"]},"command_name":{"type":["string","null"]},` +
		`"command_parameters":{"type":["object","null"]},"command_responses":{"type":"array","items":{"type":"object","properties":{` +
		`"response":{"type":["string","null"]},"artifacts":{"type":["object","null"]},"next_actions":{"type":["array","null"],"items":` + actionObject + `},` +
		`"recommendations":{"type":["array","null"],"items":{"type":"string"}}},"required":["response","artifacts","next_actions","recommendations"]}}},` +
		`"required":["turn_key","status","success","workflow_name","context","command_name","command_parameters","command_responses"]}`
	executeMembers = turnMembers + `,"response_text":{"type":"string"},"artifacts":{"type":"object"},"next_actions":{"type":"array","items":` + actionObject + `},"recommendations":` + stringList
	executeOutput  = `{"type":"object","properties":{` + executeMembers + `},` +
		`"required":["turn_key","status","response_text","success","context"]}`
	runOutput = `{"type":"object","properties":{` + executeMembers + `,"command_name":{"type":["string","null"]},"command_parameters":{"type":["object","null"]},` +
		`"structured_content":{},"content":{"type":"array","items":{"type":"object"}}},` +
		`"required":["turn_key","status","response_text","success","context","command_name","command_parameters"]}`
)
