package command_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// Each of these edits of a folder that is well, one at a time, is named with its file and its key; see TestLint for
// those that keep to the form.
func TestEdits(t *testing.T) {
	const (
		workflow = "workflow.yaml"
		issue    = "contexts/Issue.yaml"
		find     = "commands/find.yaml"
		open     = "commands/open_issue.yaml"
		person   = "commands/open_person.yaml"
		closes   = "commands/Issue/close.yaml"
		announce = "commands/Issue/announce.yaml"
		report   = "commands/report.yaml"
	)
	for _, tt := range [][4]string{ // file, what stands there ("" for a file of its own), what comes in its place, what is said
		{workflow, "name: Tracker\n", "", `1:1: "name" is missing`},
		{workflow, "name: Tracker", "name: ''", `1:7: /name: must not be empty, got ""`},
		{workflow, "name: Tracker", "name: 5", `1:7: /name: must be string, got 5`},
		{workflow, "name: Tracker", "name: " + strings.Repeat("x", 200), `1:7: /name: must have at most 128 characters, got 200 characters`},
		{workflow, "name: Tracker", "name: [Tracker", `1:1: not valid YAML: did not find expected ',' or ']'`},
		{workflow, "name: Tracker", "name: Tracker\nname: Other", `2:1: key "name" occurs twice in the same object`},
		{workflow, "name: Tracker\ndescription: Issues\ntoolbox: dev\nstartup: find <query>open</query>\n", "- Tracker\n", `1:1: must be a mapping of keys to values`},
		{workflow, "name: Tracker\ndescription: Issues\ntoolbox: dev\nstartup: find <query>open</query>\n", "", `1:1: the file is empty`},
		{workflow, "name: Tracker\n", "name:\tTracker\n\tx", `2:1: not valid YAML: found a tab character that violates indentation`},
		{workflow, "name: Tracker", "name: \"\xff\"", `1:8: here is a byte that is not UTF-8; save the file as UTF-8`},
		{workflow, "description: Issues", "desciption: Issues", `1:1: "description" is missing`},
		{workflow, "description: Issues", "description: " + strings.Repeat("x", 5000), `2:14: /description: must have at most 4096 characters, got 5000 characters`},
		{workflow, "toolbox: dev", "toolbox: dve", `commands/Issue/close.yaml:9:7: /tool: there is no toolbox dve; did you mean "dev"?`},
		{workflow, "toolbox: dev\n", "", `commands/Issue/close.yaml:9:14: /tool/name: in which toolbox? Write "toolbox" here, or in workf`},
		{workflow, "toolbox: dev", "toolbox: dev\nextends: dev", `4:10: /extends: must be toolbox:NAME or the path of a folder, ../NAME`},
		{workflow, "toolbox: dev", "toolbox: dev\nextends: toolbox:dve", `4:10: /extends: the toolbox "dve" has no tools; did you mean "dev"?`},
		{workflow, "toolbox: dev", "toolbox: dev\nextends: ../base", `4:10: /extends: there are no other folders here`},
		{workflow, "toolbox: dev", "toolbox: dev\nextend: toolbox:dev", `4:1: /extend: unknown key "extend"; did you mean "extends"?`},
		{workflow, "startup: find", "startup: fnd", `4:10: /startup: "fnd" is not a command at the top; did you mean "find"?`},
		{workflow, "open</query>", "open", `4:10: /startup: at character 6: <query> is not closed by </query>`},
		{workflow, "find <query>open</query>", "close", `4:10: /startup: "close" is not a command at the top; did you mean "Issue/close"?`},
		{workflow, "<query>open</query>", "<qery>open</qery>", `4:10: /startup: at character 6: there is no parameter <qery>; did you mean <query>?`},

		{issue, "description: An issue\n", "", `1:1: "description" is missing`},
		{issue, "key: [issue]", "key: issue", `2:6: /key: must be array, got "issue"`},
		{issue, "key: [issue]", "key: [is sue]", `2:7: /key/0: must be letters, digits, '-' and '_'`},
		{issue, "key: [issue]", "key: [issue, issue]", `2:6: /key: must not have equal items, got equal items at 0 and 1`},
		{issue, "key: [issue]\n", "", `2:8: /title: {issue} is neither a key of the context nor a value that a command brings`},
		{issue, "{issue}", "{isue}", `3:8: /title: {isue} is neither a key of the context nor a value that a command brings`},
		{issue, "{issue}", "{issue", `3:8: /title: "{issue" is not closed; write {name}, or {{ for a brace`},
		{issue, "{issue}", "issue}", `3:8: /title: a } without {; write }} for a brace`},
		{issue, "key: [issue]", "key: [issue]\nparent: Persn", `3:9: /parent: there is no context "Persn"; did you mean "Person"?`},
		{issue, "key: [issue]", "key: [issue]\nparent: Issue", `3:9: /parent: the context lies in itself`},
		{issue, "key: [issue]", "key: [issue]\nparent: Person", `commands/open_issue.yaml:7:8: /enter: Issue lies in Person: the command belongs in commands/Person`},
		{issue, "key: [issue]", "key: [issue]\nbases: [Persn]", `3:9: /bases: there is no context "Persn"; did you mean "Person"?`},
		{issue, "key: [issue]", "key: [issue]\nbases: [Issue]", `3:9: /bases: the context is a base of itself`},
		{issue, "title:", "titel:", `3:1: /titel: unknown key "titel"; did you mean "title"?`},
		{"contexts/My Issue.yaml", "", "description: x\n", ` the name "My Issue" has characters besides letters, digits, '_', '-' and '.', or begins with neither a letter nor '_'`},
		{"contexts/Issue.yml", "", "description: x\n", ` contexts/Issue.yaml has the same name`},
		{"contexts/Issue.json", "", "{}", ` is no .yaml file and is not read`},
		{"contexts/deep/More.yaml", "", "description: x\n", `contexts/deep: a folder here is not looked into`},

		{find, "description: Find issues\n", "", `1:1: "description" is missing`},
		{find, "effect: read", "effect: raed", `2:9: /effect: must be one of "read", "navigate", "write", "external", "unknown", got "raed"; did you mean "read"?`},
		{find, "effect: read\n", "", `1:1: "effect" is missing: the command counts as unknown, and must be confirmed if it was found by words`},
		{find, "effect: read", "efect: read", `2:1: /efect: unknown key "efect"; did you mean "effect"?`},
		{find, "[find issues, search issues]", "find issues", `3:13: /utterances: must be array, got "find issues"`},
		{find, "[find issues, search issues]", "[find issues, find issues]", `3:13: /utterances: must not have equal items, got equal items at 0 and 1`},
		{find, "[find issues, search issues]", "[find issues, '']", `3:27: /utterances/1: must not be empty, got ""`},
		{find, "type: string", "type: strin", `5:17: /params/query/type: "strin" is no type; the types are string, integer, number, boolean, array, object, n`},
		{find, "type: string", "typ: string", `5:3: /params: not a usable JSON Schema: "typ" is not a keyword of JSON Schema; is "type" meant?`},
		{find, "type: string", "type: string, pattern: '['", `5:34: /params/query/pattern: not a usable JSON Schema: must have the format "regex"`},
		{find, "type: string", "type: string, minLength: many", `5:36: /params/query/minLength: not a usable JSON Schema: must be integer`},
		{find, "type: string", "type: string, enum: login", `5:31: /params/query/enum: not a usable JSON Schema: must be array`},
		{find, "type: string", "type: string, available_from: [opn_issue]", `5:41: /params/query/available_from: there is no command "opn_issue"; did you mean "open_issue"?`},
		{find, "type: string", "type: string, from_context: isue", `5:39: /params/query/from_context: no place where the command runs has a value "isue"`},
		{find, "type: string", "type: string, optional: perhaps", `5:35: /params/query/optional: must be boolean, got "perhaps"`},
		{find, "  query: {type", "  <query>: {type", `5:12: /params/<query>: the name has a < or >, which no tag can have`},
		{find, "  query: {type: string, description: What to look for, examples: [login]}", "  query: string", `5:10: /params/query: must be object, got "string"`},
		{find, "name: memory/search_nodes", "name: memry/search_nodes", `6:7: /tool: the toolbox dev has no server memry; did you mean "memory"?`},
		{find, "name: memory/search_nodes", "name: memory/serch_nodes", `6:7: /tool: the server memory has no tool serch_nodes; did you mean "search_nodes"?`},
		{find, "name: memory/search_nodes", "name: search_nodes", `6:7: /tool: the toolbox dev has no server search_nodes`},
		{find, "name: memory/search_nodes", "name: memory/search_nodes, toolbox: dve", `6:7: /tool: there is no toolbox dve; did you mean "dev"?`},
		{find, "{query: \"{query}\"}", "{qury: \"{query}\"}", `6:7: /tool: the tool search_nodes needs the parameter "query", which the command does not give`},
		{find, "\"{query}\"", "\"{qery}\"", `6:46: /tool/arguments: {qery} is neither a parameter nor a value of the context; did you mean "query"?`},
		{find, "\"{query}\"", "\"{query\"", `6:46: /tool/arguments: "{query" is not closed; write {name}, or {{ for a brace`},
		{find, "tool: {name: memory/search_nodes, arguments: {query: \"{query}\"}}\n", "", `1:1: needs one of "tool", "http", "process"`},
		{find, "outputs:", "process: {argv: [report]}\noutputs:", `7:1: /process: has "tool", "process"; only one of them may be given`},
		{find, "found: /entities", "found: entities", `7:18: /outputs/found: must be a JSON Pointer such as /status`},
		{find, "outputs:", "reply: \"{fund}\"\noutputs:", `7:8: /reply: {fund} is neither a parameter, an output nor a value of the context; did you mean "found"?`},
		{find, "outputs:", "reply: ''\noutputs:", `7:8: /reply: must not be empty, got ""`},
		{find, "outputs:", "confirm: 'yes'\noutputs:", `7:10: /confirm: must be boolean, got "yes"`},
		{open, ", values: /entities/*/name}", "}", `5:56: /params/issue/lookup: "values" is missing`},
		{open, "values: /entities", "values: entities", `5:119: /params/issue/lookup/values: must be a JSON Pointer such as /orders/*/id`},
		{open, "lookup: {tool: memory/search_nodes", "lookup: {tool: memory/serch", `5:56: /params/issue/lookup: the server memory has no tool serch`},
		{open, "enter: Issue", "enter: Isue", `7:8: /enter: there is no context "Isue"; did you mean "Issue"?`},
		{open, "enter: Issue", "enter: {context: Issue, key: {isue: \"{issue}\"}}", `7:31: /enter/key/isue: the context "Issue" has no key "isue"; did you mean "issue"?`},
		{open, "enter: Issue", "enter: {context: Issue, values: {note: \"{nte}\"}}", `7:40: /enter/values: {nte} is neither a parameter, an output nor a value of the context`},
		{open, "enter: Issue", "enter: {contxt: Issue}", `7:8: /enter: "context" is missing`},
		{"commands/Isue/more.yaml", "", "description: x\neffect: read\nprocess: {argv: [report]}\n", `commands/Isue: there is no context "Isue"; did you mean "Issue"?`},
		{"commands/go_up.yaml", "", "description: x\neffect: read\nprocess: {argv: [report]}\n", ` go_up is a command that every workflow has; take another name`},
		{"commands/my find.yaml", "", "description: x\neffect: read\nprocess: {argv: [report]}\n", ` the name "my find" has characters besides letters, digits, '_', '-' and '.', or begins with neither a letter nor '_'`},
		{"commands/find.yml", "", "description: x\neffect: read\nprocess: {argv: [report]}\n", ` commands/find.yaml has the same name`},
		{"commands/more.json", "", "{}", ` is no .yaml file and is not read`},
		{"commands/Issue/deep/more.yaml", "", "description: x\n", `commands/Issue/deep: a folder here is not looked into`},
		{"commands/big.yaml", "", "description: " + strings.Repeat("x", 2<<20) + "\n", ` the file has 1048577 bytes; at most 1048576 are read`},
		{"commands/deep.yaml", "", "description: " + strings.Repeat("[", 20000) + "\n", `1:1: not valid YAML: exceeded max depth of 10000`},

		{announce, "https://chat", "http://chat", `7:8: /http/url: must be https; http is for this machine only`},
		{announce, "https://chat.example/", "https://{issue}.example/", `7:8: /http/url: must begin with https://host/; only what follows may have values`},
		{announce, "https://chat.example/", "https://me:secret@chat.example/", `7:8: /http/url: must begin with https://host/; only what follows may have values`},
		{announce, "  url: https://chat.example/{issue}\n", "", `6:3: /http: "url" is missing`},
		{announce, "url: https", "uri: https", `6:3: /http: "url" is missing`},
		{announce, "method: POST", "method: SEND", `6:11: /http/method: must be one of "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", got "SEND"`},
		{announce, "method: POST", "method: GET", `9:9: /http/body: a GET request has no body`},
		{announce, "method: POST", "method: POST\n  timeout: soon", `7:12: /http/timeout: must be a time such as 30s, at most 1h`},
		{announce, "method: POST", "method: POST\n  timeout: 2h", `7:12: /http/timeout: must be a time such as 30s, at most 1h`},
		{announce, "${CHAT_TOKEN}\"", "{isue}\"", `8:28: /http/headers: {isue} is neither a parameter nor a value of the context; did you mean "issue"?`},
		{announce, "${CHAT_TOKEN}", "${CHAT_TOKEN", `8:28: /http/headers/Authorization: "${CHAT_TOKEN" is not closed; write {name}, or {{ for a brace`},
		{announce, "${CHAT_TOKEN}", "${user:}", `8:28: /http/headers/Authorization: ${user:} names no secret of the user; write ${user:NAME}`},
		{announce, "text: \"{issue}\"", "text: \"{isue}\"", `9:9: /http/body: {isue} is neither a parameter nor a value of the context; did you mean "issue"?`},
		{report, "argv: [report, --month, \"{month}\"]", "argv: []", `5:17: /process/argv: must not be empty, got an array of 0`},
		{report, "argv: [report, --month, \"{month}\"]", "argv: report --month", `5:17: /process/argv: must be array, got "report --month"`},
		{report, "[report, ", "[\"{month}\", ", `5:18: /process/argv/0: the program is fixed; values can only be arguments`},
		{report, "\"{month}\"", "\"{mnth}\"", `5:17: /process/argv: {mnth} is neither a parameter nor a value of the context; did you mean "month"?`},
		{report, "[report, ", "[\"${WORKFLOW_DIR}/report\", ", `5:18: /process/argv: this workflow is not in a folder, so ${WORKFLOW_DIR} has no value`},
		{report, "argv:", "cmd: x, argv:", `5:11: /process/cmd: unknown key "cmd"`},
		{report, "argv:", "env: {A: \"${NOT_SET}\"}, argv:", `5:20: /process/env/A: the variable NOT_SET is not set`},
		{report, "argv:", "stdin: {m: \"{mnth}\"}, argv:", `5:18: /process/stdin: {mnth} is neither a parameter nor a value of the context; did you mean "month"?`},
		{person, "description: Go to a person", "description: [", `1:1: not valid YAML: did not find expected ',' or ']'`},
		{closes, "confirm: true", "confirm: true\nleave: maybe", `4:8: /leave: must be boolean, got "maybe"`},
	} {
		file, old, text, want := tt[0], tt[1], tt[2], tt[3]
		if !strings.HasPrefix(want, "commands/") && !strings.HasPrefix(want, "contexts/") {
			want = file + ":" + want // as a rule it is the file that was edited
		}
		files := maps.Clone(tracker())
		if old != "" && !strings.Contains(files[file], old) {
			t.Fatalf("the file %s has no %q", file, old)
		}
		files[file] = strings.Replace(files[file], old, text, 1)
		folder := fstest.MapFS{}
		for name, text := range files {
			folder[name] = &fstest.MapFile{Data: []byte(text)}
		}
		var said []string
		w, err := command.Load(folder, trackerOptions())
		var bad *command.FolderError
		switch {
		case errors.As(err, &bad):
			said = append(said, bad.Error())
		case err != nil:
			t.Fatal(err)
		default:
			for _, f := range w.Warnings {
				said = append(said, f.String())
			}
		}
		if got := strings.Join(said, "\n"); !strings.Contains(got, want) {
			t.Errorf("%s, %.60q: got\n%.500s\nwant %s", file, text, got, want)
		}
	}
}
