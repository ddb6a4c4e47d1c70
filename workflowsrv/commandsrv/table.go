package commandsrv

import "net/http"

// operationTable is in the order in which tools are listed. The operations are
// those of the published specification; its results and these differ in that
// these say more.
func operationTable() []*operation {
	inSession := param{name: "session_id", kinds: []string{"string"}, about: "The session_id that initialize returned. A client with a session of its own on the connection may leave it out."}
	wait := param{name: "timeout_seconds", kinds: []string{"number"}, least: 0.001, most: 3600, fallback: "60",
		about: "How long to wait for the result. The turn goes on after it."}
	query := func(about string) param {
		return param{name: "user_query", kinds: []string{"string"}, required: true, about: about}
	}
	return []*operation{
		{
			name: "initialize", title: "Begin a session", method: http.MethodPost, path: "/initialize",
			description: "Begins a session with the workflow and returns its session_id, which every other call takes. " +
				"It goes on with the conversation given, or with the last one, or begins one.",
			params: []param{
				{name: "user_id", kinds: []string{"string"}, about: "Whom the session is for. Leave it out: it is you; only an administrator may name somebody else."},
				{name: "conversation_id", kinds: []string{"string", "null"}, about: "The conversation to go on with, as list_conversations returns it."},
				{name: "client", kinds: []string{"string"}, about: "The name of the program that calls; each program goes on with its own last conversation."},
			},
			output: initializeOutput, run: runInitialize,
		}, {
			name: "get_workflow_info", title: "About the workflow", method: http.MethodGet, path: "/workflow_info", readOnly: true, idempotent: true,
			description: "Says what the workflow is for, and which contexts it has. Where the session stands is in the context of each result.",
			params:      []param{inSession}, output: infoOutput, run: runWorkflowInfo,
		}, {
			name: "get_commands", title: "List the commands", method: http.MethodGet, path: "/commands", readOnly: true, idempotent: true,
			description: "Lists the commands that are there where the session stands, with their parameters and an example of each. They change with the context.",
			params:      []param{inSession}, output: commandsOutput, run: runGetCommands,
		}, {
			name: "invoke_agent", title: "Have something done", method: http.MethodPost, path: "/invoke_agent", openWorld: true,
			description: "Plans how to do what is wanted and carries it out by the commands of the workflow. Needs a model to be configured.",
			params:      []param{inSession, query("What is to be done, or the answer to the question that the last result asked."), wait},
			output:      turnOutput, run: runTurn(agentRequest),
		}, {
			name: "invoke_assistant", title: "Give an instruction", method: http.MethodPost, path: "/invoke_assistant", openWorld: true,
			description: "Carries out one instruction in words, such as \"open order 44821\": finds the command it means and its parameters. " +
				"What was not named exactly and changes something is asked about first: status is awaiting_user, and the next call answers the question.",
			params: []param{inSession, query("The instruction, or the answer to the question that the last result asked."), wait},
			output: turnOutput, run: runTurn(assistantRequest),
		}, {
			name: "execute_command", title: "Execute a command", method: http.MethodPost, path: "/execute_command", openWorld: true,
			description: "Executes an exact command string: the name and each parameter as a tag, as in Order/add_note <note>call back</note>. " +
				"In values write &lt; for < and &amp; for &. Nothing is guessed; success is false, with what is missing or invalid, where the command cannot run.",
			params: []param{inSession, {name: "command", kinds: []string{"string"}, required: true, about: "The command string. get_commands shows an example of each."},
				{name: "confirmed", kinds: []string{"boolean"}, fallback: "false", about: "Say that the user agrees to a command that asks to be confirmed."}, wait},
			output: executeOutput, run: runTurn(commandRequest),
		}, {
			name: kindRun, title: "Run a command", method: http.MethodPost, path: "/run_command", openWorld: true,
			description: "Runs a command by its name, with its parameters as a JSON object that its input_schema in get_commands describes. Nothing is guessed. " +
				"The result has what the command returned as it gave it, images and other content too. An entry of next_actions is such a call.",
			params: []param{inSession, {name: "name", kinds: []string{"string"}, required: true, about: "The name of the command, as get_commands lists it."},
				{name: "arguments", kinds: []string{"object", "null"}, about: "The parameters by name."},
				{name: "confirmed", kinds: []string{"boolean"}, fallback: "false", about: "Say that the user agrees to a command that asks to be confirmed."}, wait},
			output: runOutput, run: runTurn(runRequest),
		}, {
			name: "new_conversation", title: "Begin a new conversation", method: http.MethodPost, path: "/new_conversation",
			description: "Ends the conversation with a topic and a summary, and begins a new one at the top of the workflow. One without turns is gone on with.",
			params:      []param{inSession}, output: newConversationOutput, run: runNewConversation,
		}, {
			name: "list_conversations", title: "List conversations", method: http.MethodGet, path: "/conversations", readOnly: true, idempotent: true,
			description: "Lists the latest conversations with this workflow, the last updated first.",
			params:      []param{inSession, {name: "limit", kinds: []string{"integer"}, least: 1, most: maxListed, fallback: "10", about: "How many at most."}},
			output:      listOutput, run: runListConversations,
		}, {
			name: "activate_conversation", title: "Go on with a conversation", method: http.MethodPost, path: "/activate_conversation", idempotent: true,
			description: "Goes on with another conversation, where that stands.",
			params:      []param{inSession, {name: "conversation_id", kinds: []string{"string"}, required: true, about: "As list_conversations returns it."}},
			output:      statusOutput, run: runActivateConversation,
		}, {
			name: "post_feedback", title: "Give feedback", method: http.MethodPost, path: "/post_feedback", idempotent: true,
			description: "Keeps what the user thinks of the latest turn of the conversation: a score, a text, or both.",
			params: []param{inSession, {name: "binary_or_numeric_score", kinds: []string{"boolean", "number", "null"}, about: "true or false, or a number."},
				{name: "nl_feedback", kinds: []string{"string", "null"}, about: "What the user says of it."}},
			output: statusOutput, run: runPostFeedback,
		},
	}
}

// The schemas of results, each an object of properties and what is required.

const (
	stringList = `{"type":"array","items":{"type":"string"}}`
	infoObject = `{"type":"object","properties":{"workflow_name":{"type":"string"},"description":{"type":"string"},"purpose":{"type":"string"},` +
		`"available_contexts":` + stringList + `},"required":["workflow_name","description","purpose","available_contexts"]}`
	traceList = `{"type":"array","items":{"type":"object","properties":{` +
		`"timestamp":{"type":"integer"},"direction":{"enum":["agent_to_workflow","workflow_to_agent"]},"raw_command":{"type":["string","null"]},` +
		`"command_name":{"type":["string","null"]},"parameters":{"type":["object","null"]},"response_text":{"type":["string","null"]},"success":{"type":["boolean","null"]}},` +
		`"required":["timestamp","direction","raw_command","command_name","parameters","response_text","success"]}}`
	problemMembers = `"missing":` + stringList + `,"invalid":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"value":{},"reason":{"type":"string"}},` +
		`"required":["name","reason"]}},"suggestions":{"type":"object","additionalProperties":` + stringList + `},"available_from":{"type":"object","additionalProperties":` + stringList + `}`
	turnMembers = `"turn_key":{"type":"string"},"status":{"enum":["completed","awaiting_user","cancelled"]},"success":{"type":"boolean"},"context":{"type":"string"},` +
		`"question":{"type":"string"},"form":{"type":"object"},` + problemMembers + `,"traces":` + traceList
	actionObject = `{"type":"object","properties":{"command_name":{"type":"string"},"arguments":{"type":["object","null"]}},"required":["command_name","arguments"]}`

	initializeOutput = `{"type":"object","properties":{"session_id":{"type":"string"},"user_id":{"type":"string"},"conversation_id":{"type":"string"},` +
		`"restored":{"type":"boolean"},"expires_at":{"type":"integer"},"context":{"type":"string"},"question":{"type":"string"},"workflow_info":` + infoObject + `,"startup_output":{"type":"object"},"startup_error":` + faultObject + `},` +
		`"required":["session_id","user_id","conversation_id","restored","context","workflow_info"]}`
	infoOutput     = infoObject
	commandsOutput = `{"type":"object","properties":{"display_text":{"type":"string"},"commands":{"type":"array","items":{"type":"object","properties":{` +
		`"name":{"type":"string"},"description":{"type":"string"},"effect":{"type":"string"},"parameters":{"type":"array","items":{"type":"object","properties":{` +
		`"name":{"type":"string"},"type":{"type":"string"},"required":{"type":"boolean"},"description":{"type":"string"},"choices":` + stringList + `,"default":{},"examples":{"type":"array"},"available_from":` + stringList + `},` +
		`"required":["name","type","required","description"]}},"input_schema":{"type":"object"},"confirm":{"type":"boolean"},"examples":` + stringList + `,"utterances":` + stringList + `},"required":["name","description","parameters","input_schema","examples"]}}},` +
		`"required":["display_text","commands"]}`
	turnOutput = `{"type":"object","properties":{` + turnMembers + `,"workflow_name":{"type":["string","null"]},"command_name":{"type":["string","null"]},` +
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
	newConversationOutput = `{"type":"object","properties":{"status":{"const":"ok"},"new_conversation_id":{"type":"string"},"topic":{"type":"string"},"summary":{"type":"string"}},` +
		`"required":["status","new_conversation_id"]}`
	listOutput = `{"type":"object","properties":{"conversations":{"type":"array","items":{"type":"object","properties":{` +
		`"conversation_id":{"type":"string"},"topic":{"type":"string"},"summary":{"type":"string"},"turns":{"type":"integer"},` +
		`"created_at":{"type":"integer"},"updated_at":{"type":"integer"},"expires_at":{"type":"integer"},"active":{"type":"boolean"}},` +
		`"required":["conversation_id","topic","summary","turns","created_at","updated_at","active"]}}},"required":["conversations"]}`
	statusOutput = `{"type":"object","properties":{"status":{"const":"ok"}},"required":["status"]}`
	faultObject  = `{"type":"object","properties":{"code":{"type":"integer"},"message":{"type":"string"},"data":{"type":"object","properties":{` +
		`"session_id":{"type":"string"},"user_id":{"type":"string"},"conversation_id":{"type":"string"},"turn_key":{"type":"string"}}}},"required":["code","message","data"]}`
)
