package command_test

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// tracker is a folder with which nothing is wrong: issues and people, kept by a server, with a request and a process.
func tracker() map[string]string {
	return map[string]string{
		"workflow.yaml":        "name: Tracker\ndescription: Issues\ntoolbox: dev\nstartup: find <query>open</query>\n",
		"contexts/Issue.yaml":  "description: An issue\nkey: [issue]\ntitle: issue {issue}\n",
		"contexts/Person.yaml": "description: Somebody\nkey: [person]\n",
		"commands/find.yaml": `description: Find issues
effect: read
utterances: [find issues, search issues]
params:
  query: {type: string, description: What to look for, examples: [login]}
tool: {name: memory/search_nodes, arguments: {query: "{query}"}}
outputs: {found: /entities}
`,
		"commands/open_issue.yaml": `description: Go to an issue
effect: navigate
utterances: [open the issue]
params:
  issue: {type: string, description: Its name, lookup: {tool: memory/search_nodes, arguments: {query: issue}, values: /entities/*/name}}
tool: {name: memory/search_nodes, arguments: {query: "{issue}"}}
enter: Issue
`,
		"commands/open_person.yaml": `description: Go to a person
effect: navigate
params:
  person: {type: string, description: The name}
tool: {name: memory/search_nodes, arguments: {query: "{person}"}}
enter: Person
`,
		"commands/Issue/close.yaml": `description: Close it
effect: write
confirm: true
utterances: [close the issue]
params:
  issue: {type: string, from_context: issue}
  priority: {type: string, enum: [low, normal, high], default: low, description: How pressing}
  quiet: {type: boolean, default: false, description: Tells nobody}
tool: {name: memory/delete_entities, arguments: {names: ["{issue}"], reason: "{priority} {quiet}"}}
`,
		"commands/Issue/announce.yaml": `description: Tell the others
effect: external
params:
  issue: {type: string, from_context: issue}
http:
  method: POST
  url: https://chat.example/{issue}
  headers: {Authorization: "Bearer ${CHAT_TOKEN}"}
  body: {text: "{issue}"}
`,
		"commands/report.yaml": `description: Make a report
effect: read
params:
  month: {type: integer, minimum: 1, maximum: 12, description: The month}
process: {argv: [report, --month, "{month}"]}
`,
	}
}

func trackerOptions() command.LoadOptions {
	add := func(raw string) command.Tool {
		return command.Tool{Toolbox: "dev", Server: "memory", Raw: json.RawMessage(raw)}
	}
	return command.LoadOptions{Tools: []command.Tool{
		add(`{"name":"search_nodes","inputSchema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"annotations":{"readOnlyHint":true},
			"outputSchema":{"type":"object","properties":{"entities":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"}},"additionalProperties":false}}}}}`),
		add(`{"name":"delete_entities","inputSchema":{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"}},"reason":{"type":"string"}},"required":["names"]},"annotations":{"readOnlyHint":false,"destructiveHint":true}}`),
	},
		LookupEnv: func(name string) (string, bool) { return "x", name == "CHAT_TOKEN" },
		LookPath: func(program string) (string, error) {
			if program == "report" {
				return "/bin/report", nil
			}
			return "", errors.New("not there")
		},
	}
}

// Each edit of a folder that is well is named at its place: what can never run, or does harm, as a fault, and the rest
// as a warning.
func TestLint(t *testing.T) {
	for _, tt := range []struct {
		name, file, old, new string
		want                 string // a piece of what is said
		fault                bool
	}{
		{name: "nothing", file: "workflow.yaml", old: "Issues", new: "Issues"},
		{name: "effect read of what destroys", file: "commands/Issue/close.yaml", old: "effect: write", new: "effect: read", fault: true,
			want: "close.yaml:2:9: /effect: read, but the server says that delete_entities changes something"},
		{name: "effect navigate of what destroys", file: "commands/Issue/close.yaml", old: "effect: write", new: "effect: navigate", fault: true, want: "/effect: navigate, but the server says"},
		{name: "effect read of a POST", file: "commands/Issue/announce.yaml", old: "effect: external", new: "effect: read", want: "/effect: read, but a POST request may change something"},
		{name: "default outside its enum", file: "commands/Issue/close.yaml", old: "default: low", new: "default: medium", fault: true, want: "/params/priority/default: is not a value that the parameter can have"},
		{name: "default of another type", file: "commands/Issue/close.yaml", old: "default: false", new: `default: "no"`, fault: true, want: "/params/quiet/default: is not a value"},
		{name: "a choice of another type", file: "commands/report.yaml", old: "maximum: 12,", new: "maximum: 12, enum: [1, '2', 13],", fault: true, want: `/params/month/enum/1: is not a value that the parameter can have, got "2"`},
		{name: "a choice beyond its bound", file: "commands/report.yaml", old: "maximum: 12,", new: "maximum: 12, enum: [1, 2, 13],", fault: true, want: `/params/month/enum/2: is not a value that the parameter can have, got 13`},
		{name: "required as a key", file: "commands/report.yaml", old: "maximum: 12,", new: "maximum: 12, required: true,", fault: true, want: `/params/month/required: a parameter is required unless it has "optional": true or a "default"`},
		{name: "no name of a header", file: "commands/Issue/announce.yaml", old: "Authorization:", new: "X Y:", fault: true, want: `/http/headers/X Y: "X Y" is no name of a header`},
		{name: "a header that is not the file's", file: "commands/Issue/announce.yaml", old: "Authorization:", new: "host:", fault: true, want: "/http/headers/host: is set by workbench, from the address and the body"},
		{name: "two files of the workflow", file: "workflow.yml", new: "name: x\ndescription: x\n", fault: true, want: "workflow.yml: workflow.yaml has the same name"},
		{name: "a name that every workflow has", file: "commands/Issue/go_up.yaml", new: "description: x\neffect: read\nprocess: {argv: [report]}\n", want: "go_up.yaml: go_up alone is the command that every workflow has; this one is only Issue/go_up"},
		{name: "double braces", file: "commands/report.yaml", old: "{month}", new: "{{month}}", want: "{{month}} is the text {month}; write {month} for the value"},
		{name: "default beyond its bound", file: "commands/report.yaml", old: "maximum: 12,", new: "maximum: 12, default: 13,", fault: true, want: "/params/month/default: is not a value"},
		{name: "enter without its key", file: "commands/open_person.yaml", old: "enter: Person", new: "enter: Issue", fault: true, want: "/enter: nothing gives the issue of the Issue to go to"},
		{name: "startup without its parameter", file: "workflow.yaml", old: "find <query>open</query>", new: "open_issue", fault: true, want: "/startup: open_issue was not run. issue is missing"},
		{name: "startup with a value that cannot be", file: "workflow.yaml", old: "find <query>open</query>", new: "report <month>13</month>", fault: true, want: "/startup: report was not run"},
		{name: "constant of another type", file: "commands/find.yaml", old: `query: "{query}"`, new: "query: 5", fault: true, want: "/tool/arguments/query: 5 is not a value that the tool search_nodes takes"},
		{name: "parameter of another type", file: "commands/find.yaml", old: "query: {type: string, description: What to look for, examples: [login]}", new: "query: {type: integer, description: What to look for}", fault: true,
			want: "/tool: the tool search_nodes wants query as string, and the parameter \"query\" is integer"},
		{name: "lookup that finds nothing", file: "commands/open_issue.yaml", old: "/entities/*/name", new: "/entitys/*/name", fault: true, want: `/params/issue/lookup/values: the result of search_nodes has no "entitys"; did you mean "entities"?`},
		{name: "lookup that finds nothing further in", file: "commands/open_issue.yaml", old: "/entities/*/name", new: "/entities/*/title", fault: true, want: `the result of search_nodes has no "title"`},
		{name: "output that is not there", file: "commands/find.yaml", old: "found: /entities", new: "found: /entity", want: `/outputs/found: the result of search_nodes has no "entity"`},
		{name: "output that may be there", file: "commands/find.yaml", old: "found: /entities", new: "found: /total", want: `/outputs/found: the result of search_nodes has no "total"`},
		{name: "a folder mistyped", file: "comands/more.yaml", new: "description: x\n", fault: true, want: `comands: this folder is not read; did you mean "commands"?`},
		{name: "a folder in capitals", file: "Contexts/more.yaml", new: "description: x\n", fault: true, want: `Contexts: this folder is not read; did you mean "contexts"?`},
		{name: "a folder of another kind", file: "docs/more.yaml", new: "description: x\n"},
		{name: "an utterance twice", file: "commands/open_issue.yaml", old: "[open the issue]", new: "[open the issue, Find issues!]", want: `/utterances: "Find issues!" is also an utterance of find`},
		{name: "an utterance twice, in a context", file: "commands/Issue/close.yaml", old: "[close the issue]", new: "[close the issue, open the issue]", want: `is also an utterance of`},
		{name: "a variable that is not set", file: "commands/Issue/announce.yaml", old: "CHAT_TOKEN", new: "CHAT_TOKN", want: "/http/headers/Authorization: the variable CHAT_TOKN is not set"},
		{name: "a program that is not there", file: "commands/report.yaml", old: "[report,", new: "[raport,", want: "/process/argv: the program raport is not there"},
		{name: "an example that cannot be", file: "commands/find.yaml", old: "examples: [login]", new: "examples: [5]", want: "/params/query/examples: 5 is not a value that the parameter can have"},
		{name: "no type", file: "commands/report.yaml", old: "type: integer, minimum: 1, maximum: 12, ", new: "", want: `/params/month: "type" is missing`},
		{name: "no description", file: "commands/open_person.yaml", old: ", description: The name", new: "", want: `/params/person: "description" is missing`},
		{name: "a parameter that nothing uses", file: "commands/find.yaml", old: "tool:", new: "  extra: {type: string, description: e, optional: true}\ntool:", want: "/params/extra: nothing uses the parameter"},
		{name: "a context that nobody leads to", file: "contexts/Team.yaml", new: "description: A team\nkey: [team]\n", want: "Team.yaml:1:1: no command leads to this context"},
		{name: "leave with enter", file: "commands/open_person.yaml", old: "enter: Person", new: "enter: Person\nleave: true", fault: true, want: `/leave: a command with "enter" goes there`},
		{name: "leave from nowhere", file: "commands/find.yaml", old: "effect: read", new: "effect: read\nleave: true", fault: true, want: "/leave: there is no place to leave"},
		{name: "navigate without enter", file: "commands/open_person.yaml", old: "enter: Person\n", new: "", want: `/effect: navigate, but there is no "enter"`},
		{name: "names in capitals", file: "commands/Find.yaml", new: "description: x\neffect: read\nprocess: {argv: [report]}\n", want: "only capital letters tell find from Find"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := maps.Clone(tracker())
			if tt.old != "" && !strings.Contains(files[tt.file], tt.old) {
				t.Fatalf("the file %s has no %q", tt.file, tt.old)
			}
			files[tt.file] = strings.Replace(files[tt.file], tt.old, tt.new, 1)
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
			if got := strings.Join(said, "\n"); !strings.Contains(got, tt.want) || tt.want == "" && got != "" || (err != nil) != tt.fault {
				t.Errorf("got a fault %v:\n%s\nwant a fault %v with %q", err != nil, got, tt.fault, tt.want)
			}
		})
	}
}

// A command with leave goes up when it has succeeded.
func TestLeave(t *testing.T) {
	folder := fstest.MapFS{}
	for name, text := range tracker() {
		if name == "commands/Issue/close.yaml" {
			text += "leave: true\n"
		}
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	w, err := command.Load(folder, trackerOptions())
	if err != nil {
		t.Fatal(err)
	}
	at := command.Path{{Type: "Issue", Key: map[string]json.RawMessage{"issue": json.RawMessage(`"PRT-1"`)}}}
	for fails, want := range map[bool]int{false: 0, true: 1} {
		r := &recorder{}
		if fails {
			r.result = map[string]string{"delete_entities": `{"isError":true,"content":[{"type":"text","text":"no"}]}`}
		}
		o, err := command.New(w, command.Options{Caller: r}).Execute(t.Context(), at, "close", command.CallOptions{Confirmed: true})
		if err != nil || o.Output.Success == fails || len(o.Path) != want {
			t.Errorf("got %+v, %v, want a path of %d", o, err, want)
		}
	}
}
