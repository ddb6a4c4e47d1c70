package command_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

var update = flag.Bool("update", false, "rewrite what the files in testdata want")

// tools are what the toolbox dev has.
func tools() []command.Tool {
	var list []command.Tool
	add := func(server, raw string) {
		list = append(list, command.Tool{Toolbox: "dev", Server: server, Raw: json.RawMessage(raw)})
	}
	add("fs", `{"name":"read","description":"Read a file","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"head":{"type":"integer"}},"required":["path"],"additionalProperties":false},"annotations":{"readOnlyHint":true}}`)
	add("fs", `{"name":"list","description":"List files","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false}}`)
	add("web", `{"name":"get","title":"Fetch","inputSchema":{"type":"object","properties":{"url":{"type":"string"}}},"annotations":{"readOnlyHint":false,"openWorldHint":true}}`)
	add("web", `{"name":"odd name","description":"No annotations","inputSchema":null}`)
	add("web", `{"description":"no name"}`)
	return list
}

func TestLoadFaults(t *testing.T) {
	files, err := filepath.Glob("testdata/load/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			folder := fstest.MapFS{}
			var want *txtar.File
			for i, f := range archive.Files {
				if f.Name == "want" {
					want = &archive.Files[i]
				} else {
					folder[f.Name] = &fstest.MapFile{Data: f.Data}
				}
			}
			opts := command.LoadOptions{}
			if strings.Contains(string(archive.Comment), "tools") || strings.Contains(string(archive.Comment), "doubtful") {
				opts.Tools = tools()
			}
			got := ""
			w, err := command.Load(folder, opts)
			var bad *command.FolderError
			switch {
			case errors.As(err, &bad):
				got = bad.Error() + "\n"
			case err != nil:
				t.Fatal(err)
			default:
				for _, f := range w.Warnings {
					got += "warning: " + f.String() + "\n"
				}
			}
			if got == string(want.Data) {
				return
			}
			if *update {
				want.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("got\n%s\nwant\n%s", got, want.Data)
		})
	}
}

// A file of the same name changes a projected command and leaves the rest.
func TestExtends(t *testing.T) {
	w, err := command.Load(fstest.MapFS{
		"workflow.yaml":            {Data: []byte("name: W\ndescription: d\nextends: toolbox:dev\n")},
		"commands/fs/read.yaml":    {Data: []byte("utterances: [show me a file]\nconfirm: true\n")},
		"commands/fs/list.yaml":    {Data: []byte("effect: read\n")},
		"commands/read_notes.yaml": {Data: []byte("description: Read the notes\neffect: read\ntool: {name: fs/read, arguments: {path: notes.txt}}\n")},
	}, command.LoadOptions{Tools: tools()})
	if err != nil {
		t.Fatal(err)
	}
	read := w.Command("fs/read")
	if read == nil || read.Description != "Read a file" || len(read.Utterances) != 1 || !read.Confirm || len(read.Params) != 2 || read.Effect != command.Read {
		t.Errorf("got %+v, want the tool with an utterance and to be confirmed", read)
	}
	if list := w.Command("fs/list"); list.Effect != command.Read || list.Confirm {
		t.Errorf("got %+v, want the effect of the file", list)
	}
	if notes := w.Command("read_notes"); notes == nil || len(notes.Params) != 0 {
		t.Errorf("got %+v, want a command without parameters", notes)
	}
	if w.Command("web/get") == nil || w.Context("web") == nil {
		t.Error("the tools without a file are gone")
	}
}

// A server whose tools could not be asked for makes no fault, and what depends on them is left out.
func TestUnlisted(t *testing.T) {
	folder := fstest.MapFS{
		"workflow.yaml":         {Data: []byte("name: W\ndescription: d\nextends: toolbox:dev\nstartup: fs/read <path>x</path>\n")},
		"commands/fs/read.yaml": {Data: []byte("utterances: [show me a file]\n")},
		"commands/fs/more.yaml": {Data: []byte("description: more\neffect: read\ntool: fs/more\n")},
		"commands/web/gte.yaml": {Data: []byte("utterances: [fetch]\n")},
		"commands/look.yaml":    {Data: []byte("description: look\neffect: read\ntool: {name: db/look, toolbox: data}\n")},
		"commands/seek.yaml":    {Data: []byte("description: seek\neffect: read\ntool: {name: dbb/look, toolbox: data}\n")},
	}
	if got, want := command.Toolboxes(folder, command.LoadOptions{}), []string{"data", "dev"}; !slices.Equal(got, want) {
		t.Errorf("got toolboxes %q, want %q", got, want)
	}
	web := slices.DeleteFunc(tools(), func(t command.Tool) bool { return t.Server == "fs" })
	tests := []struct {
		name string
		opts command.LoadOptions
		want []string // faults, or else warnings
	}{
		{"no tools are known", command.LoadOptions{}, []string{
			"commands/fs/read.yaml:1:1: the tools of the server fs are not known, so this command is left out",
			"commands/web/gte.yaml:1:1: the tools of the server web are not known, so this command is left out",
		}},
		{"those of two servers are not", command.LoadOptions{Tools: web, Unlisted: []string{"dev/fs", "data/db"}}, []string{
			"commands/seek.yaml:3:7: /tool: the toolbox data has no server dbb; did you mean \"db\"?",
			"commands/web/gte.yaml:1:1: \"description\" is missing",
			"commands/web/gte.yaml:1:1: needs one of \"tool\", \"http\", \"process\", because the toolbox dev has no tool web/gte; did you mean \"web/get\"?",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w, err := command.Load(folder, test.opts)
			var found []command.Fault
			var bad *command.FolderError
			if errors.As(err, &bad) {
				found = bad.Faults
			} else if err != nil {
				t.Fatal(err)
			} else {
				found = w.Warnings
				if w.Command("fs/more") == nil || w.Command("fs/read") != nil {
					t.Errorf("got %+v and %+v, want the command that says itself what it does", w.Command("fs/more"), w.Command("fs/read"))
				}
			}
			var got []string
			for _, f := range found {
				got = append(got, f.String())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestProject(t *testing.T) {
	w := command.Project("dev", "Tools for development", append(tools(), command.Tool{Toolbox: "other", Server: "x", Raw: json.RawMessage(`{"name":"y"}`)}))
	want := map[string]command.Effect{"fs/list": command.Write, "fs/read": command.Read, "web/get": command.External, "web/odd_name": command.Unknown}
	if len(w.Commands) != len(want) {
		t.Errorf("got %d commands, want %d", len(w.Commands), len(want))
	}
	for name, effect := range want {
		if c := w.Command(name); c == nil || c.Effect != effect {
			t.Errorf("%s: got %+v, want the effect %s", name, c, effect)
		}
	}
	odd := w.Command("web/odd_name")
	if odd.Bind.Tool.Tool != "odd name" {
		t.Errorf("got the tool %q, want its own name", odd.Bind.Tool.Tool)
	}
	alike := command.Project("dev", "d", []command.Tool{
		{Toolbox: "dev", Server: "a b", Raw: json.RawMessage(`{"name":"odd name"}`)},
		{Toolbox: "dev", Server: "a b", Raw: json.RawMessage(`{"name":"odd_name"}`)},
	})
	if first, second := alike.Command("a_b/odd_name"), alike.Command("a_b/odd_name_2"); first == nil || second == nil || first.Bind.Tool.Tool == second.Bind.Tool.Tool {
		t.Errorf("got %+v and %+v, want a command for each of two tools that are spelled alike", first, second)
	}
	if w.Command("web/get").Description != "Fetch" {
		t.Error("the title does not stand in for a description")
	}
	if got := w.Info().AvailableContexts; len(got) != 2 {
		t.Errorf("got contexts %q, want one for each server", got)
	}
}

// Nothing outside of the folder is read, whichever way a link leads there.
func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a right there")
	}
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.yaml")
	if err := os.WriteFile(secret, []byte("description: SECRET\neffect: read\ntool: {name: a/b, toolbox: c}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "workflow.yaml"), []byte("name: W\ndescription: d\n"), 0o600),
		os.Mkdir(filepath.Join(dir, "commands"), 0o700),
		os.Symlink(secret, filepath.Join(dir, "commands", "a.yaml")),
		os.Symlink("nowhere.yaml", filepath.Join(dir, "commands", "b.yaml")),
		os.Symlink(outside, filepath.Join(dir, "commands", "Ctx")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	_, err = command.Load(root.FS(), command.LoadOptions{})
	if err == nil || strings.Contains(err.Error(), "SECRET") {
		t.Fatalf("got %v, want faults that tell nothing of the file", err)
	}
	for _, want := range []string{"commands/a.yaml: path escapes from parent", "commands/b.yaml: "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

func TestLoadNothing(t *testing.T) {
	_, err := command.Load(fstest.MapFS{}, command.LoadOptions{})
	if want := "workflow.yaml: is missing; the folder of a command workflow needs it"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// The folder that the documentation shows is valid.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	folder := fstest.MapFS{}
	for _, block := range strings.Split(string(text), "```yaml\n# notes/")[1:] {
		block, _, _ = strings.Cut(block, "```")
		name, file, _ := strings.Cut(block, "\n")
		folder[name] = &fstest.MapFile{Data: []byte(file)}
	}
	var tools []command.Tool
	for tool, params := range map[string]string{"search_files": `"path":{},"pattern":{}`, "read_text_file": `"path":{},"head":{}`, "write_file": `"path":{},"content":{}`} {
		tools = append(tools, command.Tool{Toolbox: "dev", Server: "files", Raw: json.RawMessage(`{"name":"` + tool + `","inputSchema":{"type":"object","properties":{` + params + `},"additionalProperties":false}}`)})
	}
	w, err := command.Load(folder, command.LoadOptions{Tools: tools})
	if err != nil || len(w.Commands) != 3 || len(w.Warnings) > 0 {
		t.Errorf("got %+v, %v, want a workflow of three commands", w, err)
	}
}
