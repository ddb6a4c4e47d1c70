package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/reshape"
)

// schema is a JSON Schema as encoding/json writes it, its keys in alphabetical order.
type schema map[string]any

// Schema returns the JSON Schema (draft 2020-12) of a configuration file, made from the types of this package: a field
// with a key tag is a property, of what its type says. It accepts every file that Parse accepts; it cannot see that
// names differ in case alone, that keys occur twice, or what variables hold.
func Schema() []byte {
	root := objectSchema(reflect.TypeFor[Config]())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "workbench-config.json"
	root["description"] = "The toolboxes of MCP servers behind one workbench. Every string may hold variables: ${NAME}, ${NAME:-default}; $${ is a literal ${. Strings of args, env, url and headers may hold secrets: ${secret:NAME}."
	server := objectSchema(reflect.TypeFor[Server]())
	server["oneOf"] = []schema{
		{"required": []string{"command"}},
		{"required": []string{"url"}},
		{"required": []string{"builtin"}},
	}
	// Other clients' name for the same key.
	server["properties"].(schema)["type"] = property("type", reflect.StructField{Type: reflect.TypeFor[Transport]()})
	toolbox := objectSchema(reflect.TypeFor[Toolbox]())
	toolbox["required"] = []string{"mcpServers"}
	root["$defs"] = schema{"toolbox": toolbox, "server": server}

	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		panic("config: a schema of maps, lists and strings cannot be encoded: " + err.Error())
	}
	return out.Bytes()
}

// objectSchema describes a struct, whose keys are known.
func objectSchema(t reflect.Type) schema {
	properties := schema{}
	for field := range t.Fields() {
		if key, ok := field.Tag.Lookup("key"); ok {
			properties[key] = property(key, field)
		}
	}
	return schema{
		"type":                 "object",
		"properties":           properties,
		"patternProperties":    commentSchema(),
		"additionalProperties": false,
	}
}

// commentSchema lets keys through that are ignored, with anything behind them.
func commentSchema() schema {
	return schema{`^_|^\$schema$`: schema{}}
}

// property describes the value of a key by its row.
func property(key string, field reflect.StructField) schema {
	s := typeSchema(field.Type)
	if enum := field.Tag.Get("enum"); enum != "" {
		s = choiceSchema(strings.Split(enum, ","))
	}
	switch field.Type {
	case reflect.TypeFor[int]():
		s["minimum"], s["maximum"], _ = bounds(field)
	case reflect.TypeFor[time.Duration]():
		least, most := span(field)
		s["anyOf"].([]schema)[1]["minimum"], s["anyOf"].([]schema)[1]["maximum"] = least.Seconds(), most.Seconds()
	}
	switch key {
	case "algorithms":
		s["items"], s["minItems"] = choiceSchema(signatures()), 1
	case "idleTimeout":
		s["anyOf"] = append(s["anyOf"].([]schema), schema{"const": false})
	}
	s["description"] = description(key)
	return s
}

func typeSchema(t reflect.Type) schema {
	switch t {
	case reflect.TypeFor[time.Duration]():
		const unit = `[0-9]*(\.[0-9]*)?(ns|us|µs|μs|ms|s|m|h)`
		return schema{"anyOf": []schema{
			{"type": "string", "pattern": `^\+?(` + unit + `)+$|\$\{`},
			{"type": "number"},
		}}
	case reflect.TypeFor[InheritEnv]():
		return schema{"anyOf": []schema{{"type": "boolean"}, typeSchema(reflect.TypeFor[[]string]())}}
	case reflect.TypeFor[EnvFiles]():
		return schema{"anyOf": []schema{{"type": "string"}, {"type": "array", "items": schema{"type": "string"}}}}
	case reflect.TypeFor[Sandbox]():
		return schema{"anyOf": []schema{choiceSchema([]string{string(SandboxWorkspace), string(SandboxStrict)}), objectSchema(t)}}
	case reflect.TypeFor[Record]():
		return schema{"anyOf": []schema{choiceSchema([]string{RecordOff, RecordMeta, RecordFull}), objectSchema(t)}}
	case reflect.TypeFor[Network]():
		return schema{"anyOf": []schema{{"type": "boolean"}, {"type": "array", "items": schema{"type": "string", "pattern": `:[0-9]+$|\$\{`}}}}
	case reflect.TypeFor[SecretSource]():
		s := objectSchema(t)
		s["required"] = []string{"command"}
		printed(s, "A program with its arguments, which prints the secret.")
		return s
	case reflect.TypeFor[TokenSource]():
		s := objectSchema(t)
		s["oneOf"] = []schema{{"required": []string{"file"}}, {"required": []string{"command"}}}
		printed(s, "A program with its arguments, which prints the token.")
		return s
	case reflect.TypeFor[IdentityProvider]():
		s := objectSchema(t)
		s["required"] = []string{"issuer", "clientId", "idToken"}
		return s
	case reflect.TypeFor[map[string]SecretSource]():
		return schema{
			"type":                 "object",
			"propertyNames":        schema{"pattern": fmt.Sprintf(`^_|^\$schema$|^[A-Za-z0-9_.-]{1,%d}$`, maxSecretName)},
			"patternProperties":    commentSchema(),
			"additionalProperties": typeSchema(reflect.TypeFor[SecretSource]()),
		}
	case reflect.TypeFor[foreign.Lines]():
		return schema{"type": "string"}
	case reflect.TypeFor[Transport]():
		names := Transports("")
		for _, w := range ways() {
			names = append(names, w.spelled...)
		}
		return choiceSchema(names)
	case reflect.TypeFor[Store]():
		s := objectSchema(t)
		s["not"] = schema{"required": []string{"path", "dsn"}}
		return s
	case reflect.TypeFor[Models]():
		s := objectSchema(t)
		s["required"] = []string{"baseUrl"}
		return s
	case reflect.TypeFor[JWT]():
		s := objectSchema(t)
		s["required"] = []string{"issuer", "audience"}
		s["oneOf"] = []schema{{"required": []string{"jwksUrl"}}, {"required": []string{"keyFile"}}}
		return s
	case reflect.TypeFor[[]Tool]():
		return schema{"type": "object", "patternProperties": commentSchema(), "additionalProperties": objectSchema(reflect.TypeFor[Tool]())}
	case reflect.TypeFor[[]reshape.Argument]():
		return schema{"type": "object"}
	case reflect.TypeFor[[]Pin]():
		return schema{"type": "array", "items": schema{"type": "string", "pattern": `^[^/]+/[^/]+/.+|\$\{`}}
	case reflect.TypeFor[Approve]():
		when := choiceSchema(approveChoices())
		return schema{"anyOf": append(when["anyOf"].([]schema), schema{"type": "object", "additionalProperties": when})}
	case reflect.TypeFor[[]Toolbox]():
		return namedSchema("#/$defs/toolbox")
	case reflect.TypeFor[[]Server]():
		return namedSchema("#/$defs/server")
	}
	switch t.Kind() {
	case reflect.Int:
		return schema{"type": "integer"}
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Slice:
		return schema{"type": "array", "items": typeSchema(t.Elem())}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": typeSchema(t.Elem())}
	case reflect.Struct:
		return objectSchema(t)
	}
	return schema{"type": "string"}
}

// printed says of a schema that its command prints something.
func printed(s schema, description string) {
	command := s["properties"].(schema)["command"].(schema)
	command["minItems"], command["description"] = 1, description
}

// choiceSchema describes one string of several, or one whose variables choose.
func choiceSchema(options []string) schema {
	return schema{"anyOf": []schema{{"enum": options}, {"type": "string", "pattern": `\$\{`}}}
}

// namedSchema describes an object whose keys are names of things.
func namedSchema(ref string) schema {
	return schema{
		"type":                 "object",
		"propertyNames":        schema{"pattern": fmt.Sprintf("^_|^[^/]{1,%d}$", maxName)},
		"patternProperties":    commentSchema(),
		"additionalProperties": schema{"$ref": ref},
	}
}

// description is what an editor shows for a key.
func description(key string) string {
	switch key {
	case "toolMode":
		return "How clients get the tools of an open toolbox: registered with the client (dynamic), through workbench_use_tool alone (proxy), both (auto, the default), or found with workbench_find_tools and called through workbench_use_tool, with the fewest tokens before the first call (search)."
	case "openTimeout":
		return `How long opening a toolbox waits for its servers; those that are later are named in the answer. A duration such as "10s" (the default) or a number of seconds.`
	case "openBudget":
		return "How much the answer of opening a toolbox tells of its tools unasked, in tokens of four bytes: their definitions if these fit, else their parameters, else their names, else how many there are. Default 2000."
	case "maxMessage":
		return "The longest message taken from a client or a server, in bytes. Default 16777216."
	case "codeMode":
		return "Offer workbench_run_script, which runs JavaScript that calls tools, in a process of its own without any other input or output. Default false."
	case "prefix":
		return "What stands before the names of the tools: the toolbox and the server (toolbox, the default), or nothing where that is unambiguous (none)."
	case "pins":
		return "What becomes of tools and prompts that are not as workbench-lock.json has them: they are offered (off), offered and said (warn, the default where there is such a file), or not offered until somebody agrees to them (hold)."
	case "store":
		return "Where conversations are kept: in the file at path, or in the PostgreSQL database of dsn; and how long. Default: conversations.db in $XDG_STATE_HOME/workbench or ~/.local/state/workbench, for good."
	case "record":
		return "How much is kept of calls: meta (the default) is all but their arguments and results, full is these too, off is nothing; or an object that says so and has them kept on disk."
	case "mode":
		return "How much is kept: off, meta (the default) or full."
	case "dir":
		return "A folder for files of calls, one on a line as JSON, made if there is none. A relative path starts from the folder of this file."
	case "maxSize":
		return "How many bytes all files together may have; the oldest give way. Default 67108864."
	case "maxAge":
		return "After how long a file that nothing was written to is removed, such as \"720h\". Default: never."
	case "keepFor":
		return "How long a conversation is kept after its last turn, such as \"2160h\" for 90 days; a day at least. Before the first one is deleted it is said for a day. Default: for good."
	case "expireRuns":
		return "After how long in which nothing happens in a run of a workflow it has expired, such as \"2160h\". It is kept, and can be taken up again. Default: never."
	case "path":
		return "A SQLite file, made if there is none. A relative path starts from the folder of this file."
	case "dsn":
		return "The connection string of a PostgreSQL database, which replicas may share. Leave the password to a variable: postgres://workbench:${PGPASSWORD}@db.example.com/workbench"
	case "models":
		return "The language models that the agent and the assistant of command workflows ask, over any endpoint of chat completions as OpenAI defines them."
	case "baseUrl":
		return "The address of the endpoint without /chat/completions, such as https://api.openai.com/v1; http for this machine alone."
	case "apiKey":
		return "The key of the endpoint, sent as a bearer token. Leave it to a variable: ${OPENAI_API_KEY}"
	case "default":
		return "The model for what has none of its own, by the name that the endpoint knows."
	case "planner":
		return "The model that makes the plans of the agent."
	case "agent":
		return "The model that carries them out by calling commands."
	case "assistant":
		return "The model that finds the command which an instruction means."
	case "summary":
		return "The model that sums conversations up."
	case "embeddings":
		return "The model that makes vectors of texts, at /embeddings of the endpoint, by which tools are found by what they mean. Without it they are found by words alone."
	case "replyTimeout":
		return "How long one reply of a model may take. Default 1m."
	case "maxTokens":
		return "How long one reply of a model may be, in tokens. Default 4096."
	case "toolboxes":
		return "The toolboxes by name. Clients are told of them in this order."
	case "description":
		return "What the toolbox is for. The model chooses by it."
	case "open":
		return "Open from the start, without being asked for. Default false."
	case "mcpServers":
		return "The servers of the toolbox by name, written as in other clients' files."
	case "transport":
		return "How the server is reached: stdio (the default with command), http for streamable HTTP (the default with url), sse, or builtin."
	case "type":
		return "Another spelling of transport, of other clients' files."
	case "command":
		return "The program to start: a name to be found in PATH, or a path; a relative path with a slash starts from the folder of this file."
	case "args":
		return "The arguments of the program, one string each. There is no shell in between."
	case "env":
		return "Variables of the program's environment, besides a small safe list and inheritEnv."
	case "inheritEnv":
		return "Which variables of workbench's own environment the program gets: true for all, or their names. Default: a small safe list."
	case "sandbox":
		return "What the program may do: workspace (change its working directory and use the network), strict (neither), or an object with what it may do besides. Both give it a home of its own. Default: all that the user may do."
	case "preset":
		return "What the sandbox begins with: strict (the default of an object) or workspace."
	case "read":
		return "Files and folders that the program may read besides. Relative ones start from the folder of this file."
	case "write":
		return "Files and folders that the program may change besides. Relative ones start from the folder of this file."
	case "network":
		return "What the program may reach: all (true), nothing (false), or the array of \"host:port\" that it may connect to by TCP, where only *:port can be enforced. Default: nothing, or all with the preset workspace."
	case "bestEffort":
		return "Start the program also where the system cannot enforce all of its sandbox. Default false."
	case "envFile":
		return "A file of variables, or several, as Docker and VS Code read them; relative paths start from the folder of this file. Of a server: variables of its program's environment, which env overrides. At the top: variables that strings of this file may name by ${NAME}."
	case "secrets":
		return "Where secrets come from that strings name by ${secret:NAME} and that are not kept by workbench secret set: the output of a program."
	case "cwd":
		return "The directory the program runs in. A relative one starts from the folder of this file. Default: where workbench runs."
	case "url":
		return "The address of the server, http or https."
	case "headers":
		return "HTTP headers sent with every request to the server."
	case "oauth":
		return "What a login to the server is to know that the server does not say itself. Log in with workbench login."
	case "clientId":
		return "The client that was registered with the authorization server by hand, or the https address of a client metadata document. Default: the client registers itself."
	case "clientSecret":
		return "The secret of that client, if it has one."
	case "privateKey":
		return "The private key that the client signs with in place of showing a secret (private_key_jwt): PEM or a JSON Web Key. Leave it to a secret: ${secret:NAME}"
	case "privateKeyFile":
		return "A file with that key. A relative path starts from the folder of this file."
	case "keyId":
		return "The name by which the authorization server knows that key (kid)."
	case "assertion":
		return "Where the JSON Web Token is found that the platform gave this workload. It is read anew for each token."
	case "file":
		return "A file with the token. A relative path starts from the folder of this file."
	case "identityProvider":
		return "Where the people of an enterprise log in, with the grant jwt_bearer: what it says of the person is taken to the authorization server of the MCP server (enterprise-managed authorization)."
	case "idToken":
		return "Where the ID token is found that the identity provider gave the person. It is read anew for each token."
	case "dpop":
		return "Have tokens be bound to a key and take no others (DPoP). Default false: those are that the server wants to be."
	case "http":
		return "What holds for serving over HTTP, besides the flags of workbench serve."
	case "callsPerMinute":
		return "How many calls of tools each user may make in a minute; one too many is answered with HTTP 429. Default: as many as they like."
	case "jwt":
		return "The issuer whose JSON Web Tokens are let in besides the tokens that workbench makes."
	case "issuer":
		return "In oauth: the authorization server that the client is registered with; default: the first that the server names. In identityProvider: its address. In jwt: who made the tokens, to the letter of their claim iss."
	case "audience":
		return "Whom tokens must be for: a value of their claim aud, such as the address of this workbench."
	case "jwksUrl":
		return "The address of the issuer's keys, a JWK Set; http for this machine alone."
	case "keyFile":
		return "A file with the issuer's public keys: a JWK Set, or PEM. A relative path starts from the folder of this file."
	case "algorithms":
		return "What tokens may be signed with. Default: all of these."
	case "scopes":
		return "The scopes to ask for. Default: those that the server names."
	case "grant":
		return "How a token is got: a person logs in (authorization_code, the default), the client acts for itself (client_credentials), or for what somebody else says of it (jwt_bearer): the platform in assertion, or identityProvider."
	case "builtin":
		return "A server inside workbench: workflow, which leads through step-by-step workflows, or commands, which serves a workflow of commands."
	case "commands":
		return "What the built-in commands server serves: example (the workflow inside workbench), toolbox:NAME (the tools of a toolbox as commands), or the folder of a command workflow; a relative one starts from the folder of this file."
	case "workflows":
		return "Where workflow files for the built-in workflow server are: directories, of which relative ones start from the folder of this file, and git repositories, git+https://HOST/PATH#REF."
	case "conditions":
		return "How the built-in workflow server reads conditions: strict (the default), or lenient with the string operators of older workflow files."
	case "toolFilters":
		return `Which tools are offered: names and globs, those with ! in front left out. ["*"] and leaving the key out mean all.`
	case "tools":
		return "How single tools are offered, by the names that the server gives them."
	case "rename":
		return "The name that clients see instead."
	case "describe":
		return "The description that clients see instead."
	case "defaults":
		return "Arguments that a call is given which has none of that name. Those that are not hidden are shown to clients."
	case "hide":
		return "Parameters that clients neither see nor give; those in defaults are sent with every call."
	case "pin":
		return "Tools that clients are always offered, whatever is open: TOOLBOX/SERVER/TOOL."
	case "readOnly":
		return "Leave out the tools that do not say of themselves that they only read (readOnlyHint). Default false."
	case "approve":
		return `Before which calls a person is asked: "never" (the default), "writes" (of tools that do not say that they only read) or "always"; or an object of these by names of tools and globs, of which the first that fits counts.`
	case "disabled":
		return "Leave the server out without taking its entry away. Default false."
	case "shared":
		return "Let all clients of an HTTP gateway use one instance of the server, instead of one for each. Default false."
	case "idleTimeout":
		return `After how long without use the server is stopped; the next call starts it again, and its tools stay listed. A duration such as "15m" or a number of seconds; false for never. Default: never, or 15m when serving over HTTP.`
	case "maxInFlight":
		return "How many requests the server is given at a time; more wait for their turn. Default 64."
	case "largeResults":
		return "What becomes of results of tools that are too large for a model's window."
	case "over":
		return "How many tokens of four bytes a result may have that is not large. Default 25000."
	case "do":
		return "pass: large results are passed on as they are (the default). preview: they are kept until the session ends, and the model gets how they begin, their shape and the way to read on."
	case "images":
		return "What becomes of the images of large results where do is preview: they stay and do not count (pass, the default), are made smaller (scale), or a link takes their place (link)."
	case "timeouts":
		return "How long the server may take."
	case "start":
		return "From starting the server to the end of the handshake. Default 30s."
	case "install":
		return "The same for a program that fetches its package first, such as npx, uvx or docker run, while it is seen to install. Default 5m."
	case "callIdle":
		return "Silence within a call; progress starts it anew. Default 5m."
	case "callTotal":
		return "A whole call. Default 30m."
	}
	return ""
}
