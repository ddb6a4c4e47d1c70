package commandsrv

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-workbench/workbench/internal/wire"
)

// openAPI describes what ServeHTTP serves (OpenAPI 3.1).
func (s *Server) openAPI() json.RawMessage {
	info := s.commands().Info()
	paths := map[string]map[string]any{}
	for _, o := range s.table {
		paths[o.path] = map[string]any{strings.ToLower(o.method): o.describe(o.name, json.RawMessage(o.output), "application/json")}
	}
	agent := s.operations[kindAgent]
	event := json.RawMessage(`{"type":"object","properties":{"type":{"enum":["trace","text","output","error"]},"data":{"type":"object"}},"required":["type","data"]}`)
	streamed := agent.describe(kindAgent+"_stream", event, "application/x-ndjson", "text/event-stream")
	streamed["description"] = agent.description + " Reports while it runs: events of type trace, and of type text with pieces of the model's reply, then one of type output or error, as lines of JSON or, with Accept: text/event-stream, as server-sent events."
	paths[pathStream] = map[string]any{"post": streamed}
	text := func(schema string) json.RawMessage { return json.RawMessage(schema) }
	ofTurn := append([]int{http.StatusNotFound, http.StatusInternalServerError}, ofEverybody()...)
	paths[pathTurns+"{turn_key}"] = map[string]any{"get": map[string]any{
		"operationId": "get_turn", "summary": "The state of a turn",
		"description": "Tells the owner of a turn whether it is running, done or lost, until an hour after its end.",
		"parameters":  []any{parameter("path", param{name: "turn_key", kinds: []string{"string"}, required: true, about: "From a result or an error."}), parameter("query", agent.param("session_id"))},
		"responses": responses(text(`{"type":"object","properties":{"turn_key":{"type":"string"},"conversation_id":{"type":"string"},"exec_state":{"enum":["running","done","lost"]},`+
			`"kind":{"type":"string"},"started_at":{"type":"integer"},"ended_at":{"type":"integer"},"output":{"type":"object"},"error":`+faultObject+`},`+
			`"required":["turn_key","conversation_id","exec_state","kind","started_at"]}`), ofTurn, "application/json")}}
	paths[pathTurns+"{turn_key}"]["delete"] = stopped(paths[pathTurns+"{turn_key}"]["get"])
	followed := map[string]any{"operationId": "follow_turn", "summary": "Follow a turn", "description": "Sends the events of a turn from its beginning, as invoke_agent_stream does; of a turn that has ended, its traces and its result.",
		"parameters": paths[pathTurns+"{turn_key}"]["get"].(map[string]any)["parameters"],
		"responses":  responses(event, ofTurn, "application/x-ndjson", "text/event-stream")}
	paths[pathTurns+"{turn_key}/events"] = map[string]any{"get": followed}
	open := []any{} // needs no token
	paths[pathAlive] = map[string]any{"get": map[string]any{"operationId": "liveness", "summary": "Whether the server runs", "security": open,
		"responses": responses(text(`{"type":"object","properties":{"status":{"const":"alive"}},"required":["status"]}`), nil, "application/json")}}
	ready := text(`{"type":"object","properties":{"status":{"enum":["ready","not_ready"]},"checks":{"type":"object","additionalProperties":{"type":"boolean"}}},"required":["status","checks"]}`)
	readiness := responses(ready, nil, "application/json")
	readiness["503"] = map[string]any{"description": "It cannot work now", "content": content(ready, "application/json")}
	paths[pathReady] = map[string]any{"get": map[string]any{"operationId": "readiness", "summary": "Whether the server can work", "security": open, "responses": readiness}}
	paths[pathOpenAPI] = map[string]any{"get": map[string]any{"operationId": "openapi", "summary": "This document", "responses": responses(text(`{"type":"object"}`), ofEverybody(), "application/json")}}
	return wire.MustEncode(map[string]any{
		"openapi":    "3.1.0",
		"info":       map[string]any{"title": info.WorkflowName, "description": info.Description, "version": s.version},
		"servers":    []any{map[string]any{"url": "."}},
		"security":   []any{map[string]any{"token": []any{}}},
		"paths":      paths,
		"components": map[string]any{"securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}}, "schemas": map[string]any{"Error": explicit(json.RawMessage(faultObject))}},
	})
}

// stopped describes the operation that stops a turn, which returns what the one given does.
func stopped(get any) map[string]any {
	m := maps.Clone(get.(map[string]any))
	m["operationId"], m["summary"] = "stop_turn", "Stop a turn"
	m["description"] = "Stops a running turn, including the call of a tool, and returns its state. What was done before is not undone; a finished turn stays as it is."
	m["responses"] = maps.Clone(m["responses"].(map[string]any))
	m["responses"].(map[string]any)["409"] = map[string]any{"description": "Another process works on it", "content": content(json.RawMessage(`{"$ref":"#/components/schemas/Error"}`), "application/json")}
	return m
}

// describe gives an operation with its arguments and results.
func (o *operation) describe(id string, output json.RawMessage, media ...string) map[string]any {
	m := map[string]any{"operationId": id, "summary": o.title, "description": o.description, "responses": responses(output, o.statuses(), media...)}
	if o.method == http.MethodGet {
		parameters := []any{}
		for _, p := range o.params {
			parameters = append(parameters, parameter("query", p))
		}
		m["parameters"] = parameters
		return m
	}
	m["requestBody"] = map[string]any{"required": true, "content": content(inputSchema(o.params), "application/json")}
	return m
}

// ofEverybody are the statuses of what the front refuses, whatever is asked for: the token, the host and the origin, and
// that workbench ends.
func ofEverybody() []int {
	return []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusServiceUnavailable}
}

// statuses are those that the operation may fail with.
func (o *operation) statuses() []int {
	all := append([]int{http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusInternalServerError}, ofEverybody()...)
	if o.method == http.MethodPost {
		all = append(all, http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusTooManyRequests)
	}
	if !o.readOnly {
		all = append(all, http.StatusConflict)
	}
	if o.param("timeout_seconds").name != "" || o.name == "initialize" {
		all = append(all, http.StatusGatewayTimeout)
	}
	return all
}

func parameter(in string, p param) map[string]any {
	return map[string]any{"in": in, "name": p.name, "required": p.required, "description": p.about, "schema": explicit(p.schema())}
}

func content(schema any, media ...string) map[string]any {
	m := map[string]any{}
	schema = explicit(schema)
	for _, kind := range media {
		m[kind] = map[string]any{"schema": schema}
	}
	return m
}

func responses(output json.RawMessage, statuses []int, media ...string) map[string]any {
	m := map[string]any{"200": map[string]any{"description": "The result", "content": content(output, media...)}}
	fault := content(json.RawMessage(`{"$ref":"#/components/schemas/Error"}`), "application/json")
	for _, status := range statuses {
		m[strconv.Itoa(status)] = map[string]any{"description": http.StatusText(status), "content": fault}
	}
	return m
}

// explicit says in a schema what JSON Schema takes for granted and generators of clients do not: that an object whose
// members are not listed may have any, that the items of a list may be anything, that a choice of texts is a text, and
// that an integer, which may be a time in milliseconds, needs 64 bits. Models pay for each word of a schema, so the
// schemas of the tools leave this out.
func explicit(schema any) any {
	if raw, ok := schema.(json.RawMessage); ok {
		schema = nil
		_ = json.Unmarshal(raw, &schema) // raw is a constant of this package
	}
	switch s := schema.(type) {
	case map[string]any:
		m := make(map[string]any, len(s)+1)
		for key, member := range s {
			switch key {
			case "properties":
				members := map[string]any{}
				for name, of := range member.(map[string]any) {
					members[name] = explicit(of)
				}
				m[key] = members
			case "items", "additionalProperties":
				m[key] = explicit(member)
			default:
				m[key] = member
			}
		}
		fill(m)
		return m
	default:
		return s
	}
}

// fill adds to one schema what it does not say.
func fill(m map[string]any) {
	add := func(key string, value any) {
		if _, said := m[key]; !said {
			m[key] = value
		}
	}
	_, listed := m["properties"]
	_, choice := m["enum"]
	_, constant := m["const"]
	switch {
	case isType(m["type"], "object") && !listed:
		add("additionalProperties", true)
	case isType(m["type"], "array"):
		add("items", map[string]any{})
	case isType(m["type"], "integer"):
		add("format", "int64")
	case choice, constant:
		add("type", "string")
	}
}

// isType reports whether the type of a schema is, or may be, one.
func isType(given any, name string) bool {
	switch t := given.(type) {
	case string:
		return t == name
	case []string:
		return slices.Contains(t, name)
	case []any:
		return slices.Contains(t, any(name))
	}
	return false
}
