package command_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// beside loads the workflow in the folder desk of files, whose other folders can be extended.
func beside(files map[string]string, opts command.LoadOptions) (*command.Workflow, []string, error) {
	all := fstest.MapFS{}
	for name, text := range files {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	opts.Folder = func(dir string) (fs.FS, error) { return fs.Sub(all, path.Join("desk", dir)) }
	desk, err := fs.Sub(all, "desk")
	if err != nil {
		return nil, nil, err
	}
	folders := command.Folders(desk, opts)
	w, err := command.Load(desk, opts)
	return w, folders, err
}

// What a folder extends is part of it: its files change what they say there and leave the rest, the first that is
// extended counts most, and each has its own toolbox and its own ${WORKFLOW_DIR}.
func TestExtendsFolder(t *testing.T) {
	files := map[string]string{
		"desk/workflow.yaml":             "name: Desk\ndescription: d\nextends: [../first, toolbox:dev, ../second]\ntoolbox: dev\n",
		"desk/contexts/Order.yaml":       "title: order {order}\n",
		"desk/commands/Order/close.yaml": "utterances: [close it]\n",
		"desk/commands/fs/read.yaml":     "confirm: true\n",

		"first/workflow.yaml":        "name: First\ndescription: f\nextends: ../common\nstartup: both\n",
		"first/commands/both.yaml":   "description: of the first\neffect: read\nprocess: {argv: [\"${WORKFLOW_DIR}/{{x}}.py\"], stdin: {at: \"${WORKFLOW_DIR}/in\"}}\n",
		"first/commands/look.yaml":   "description: look\neffect: read\ntool: {name: fs/read, arguments: {path: \"${WORKFLOW_DIR}/notes\"}}\n",
		"second/workflow.yaml":       "name: Second\ndescription: s\nextends: [../common, toolbox:dev]\ntoolbox: other\n",
		"second/commands/both.yaml":  "description: of the second\neffect: read\nprocess: {argv: [second]}\n",
		"second/commands/there.yaml": "description: there\neffect: read\ntool: db/look\n",
		"second/commands/same.yaml":  "description: of the second\n",

		"common/workflow.yaml":             "name: Common\ndescription: c\n",
		"common/contexts/Order.yaml":       "description: An order\nkey: [order]\n",
		"common/commands/same.yaml":        "description: of the common\neffect: read\nprocess: {argv: [same]}\n",
		"common/commands/Order/close.yaml": "description: Close\neffect: write\nconfirm: true\nleave: true\nparams:\n  order: {type: string, from_context: order}\nprocess: {argv: [close, \"{order}\"]}\n",
		"common/commands/open.yaml":        "description: Open\neffect: navigate\nparams:\n  order: {type: string, description: o}\nprocess: {argv: [open, \"{order}\"]}\nenter: Order\n",
	}
	home := filepath.FromSlash("/home/{ada}/desk")
	w, folders, err := beside(files, command.LoadOptions{Tools: append(tools(), command.Tool{Toolbox: "other", Server: "db", Raw: json.RawMessage(`{"name":"look"}`)}), Dir: home})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"../common", "../second", "../first", "."}; !slices.Equal(folders, want) {
		t.Errorf("got the folders %q, want %q", folders, want)
	}
	if w.Name != "Desk" || w.Startup != "" {
		t.Errorf("got %q beginning with %q, want what the folder itself says", w.Name, w.Startup)
	}
	for name, want := range map[string]string{"both": "of the first", "same": "of the second", "Order/close": "Close", "fs/read": "Read a file"} {
		if c := w.Command(name); c == nil || c.Description != want {
			t.Errorf("%s: got %+v, want %q", name, c, want)
		}
	}
	if c := w.Command("Order/close"); !c.Confirm || !c.Leave || c.Effect != command.Write || len(c.Utterances) != 1 || len(c.Params) != 1 {
		t.Errorf("got %+v, want all that the file does not say as it was", c)
	}
	if c := w.Command("fs/read"); !c.Confirm {
		t.Errorf("got %+v, want it to be confirmed", c)
	}
	if c := w.Context("Order"); c.Description != "An order" || len(c.Key) != 1 {
		t.Errorf("got %+v, want what the common folder says", c)
	}
	if c := w.Command("there"); c.Bind.Tool.Toolbox != "other" {
		t.Errorf("got %+v, want the toolbox of the folder of its file", c.Bind.Tool)
	}
	r := &recorder{}
	p := &shell{}
	e := command.New(w, command.Options{Caller: r, Process: p})
	for _, text := range []string{"look", "both"} {
		if o, err := e.Execute(t.Context(), nil, text, command.CallOptions{}); err != nil || !o.Output.Success {
			t.Errorf("%s: got %+v, %v", text, o, err)
		}
	}
	first := filepath.Join(home, "..", "first")
	quoted, _ := json.Marshal(first)
	if want := "dev/fs/read {\"path\":" + string(quoted[:len(quoted)-1]) + `/notes"}`; !slices.Equal(r.calls, []string{want}) {
		t.Errorf("got %q, want %q", r.calls, want)
	}
	if p.ran[0].Argv[0] != first+"/{x}.py" || string(p.ran[0].Stdin) != `{"at":`+string(quoted[:len(quoted)-1])+`/in"}` {
		t.Errorf("got %q with %s, want the folder that the file is in", p.ran[0].Argv, p.ran[0].Stdin)
	}
	at := command.Path{{Type: "Order", Key: map[string]json.RawMessage{"order": json.RawMessage(`"7"`)}}}
	if got := w.Title(at); got != "order 7" {
		t.Errorf("got the title %q, want that of the folder", got)
	}
}

// Whatever a folder extends, it is read once, and no further than beside it.
func TestExtendsFaults(t *testing.T) {
	named := func(name, extends string) string {
		return "name: " + name + "\ndescription: d\nextends: " + extends + "\n"
	}
	deep := map[string]string{"desk/workflow.yaml": named("Desk", "../d1")}
	wide := map[string]string{}
	var all []string
	for i := 1; i < 40; i++ {
		deep[fmt.Sprintf("d%d/workflow.yaml", i)] = named("D", fmt.Sprintf("../d%d", i+1))
		wide[fmt.Sprintf("w%d/workflow.yaml", i)] = "name: W\ndescription: d\n"
		all = append(all, fmt.Sprintf("../w%d", i))
	}
	wide["desk/workflow.yaml"] = named("Desk", "["+strings.Join(all, ", ")+"]")
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"itself", map[string]string{"desk/workflow.yaml": named("Desk", "./.")}, "workflow.yaml:3:10: /extends: the folder extends itself: ., ."},
		{"itself by its name", map[string]string{"desk/workflow.yaml": named("Desk", "../desk")}, "../desk/workflow.yaml:3:10: /extends: the folder extends itself: ../desk, ../desk"},
		{"a ring", map[string]string{"desk/workflow.yaml": named("Desk", "../a"), "a/workflow.yaml": named("A", "../b"), "b/workflow.yaml": named("B", "../a")},
			"../b/workflow.yaml:3:10: /extends: the folder extends itself: ../a, ../b, ../a"},
		{"a ring of two", map[string]string{"desk/workflow.yaml": named("Desk", "[../a]"), "a/workflow.yaml": named("A", "../desk")}, "/extends: the folder extends itself: ../a, ../desk, ../a"},
		{"the folder around", map[string]string{"desk/workflow.yaml": named("Desk", "./..")}, "./.. is not beside the folder of the workflow"},
		{"further out", map[string]string{"desk/workflow.yaml": named("Desk", "../../etc")}, "../../etc is not beside"},
		{"further out by a way round", map[string]string{"desk/workflow.yaml": named("Desk", "../a"), "a/workflow.yaml": named("A", "./x/../../..")}, "is not beside the folder of the workflow"},
		{"further out from inside", map[string]string{"desk/workflow.yaml": named("Desk", "./in/"), "desk/in/workflow.yaml": named("In", "../../../x")}, "../../../x is not beside"},
		{"a full path", map[string]string{"desk/workflow.yaml": named("Desk", "/etc")}, "/extends: must be toolbox:NAME or the path of a folder, ../NAME"},
		{"a name", map[string]string{"desk/workflow.yaml": named("Desk", "[base]")}, "must be toolbox:NAME or the path of a folder, ../NAME"},
		{"a number", map[string]string{"desk/workflow.yaml": named("Desk", "[5]")}, "/extends"},
		{"a mapping", map[string]string{"desk/workflow.yaml": named("Desk", "{a: b}")}, "/extends"},
		{"nothing there", map[string]string{"desk/workflow.yaml": named("Desk", "../bse")}, "../bse/workflow.yaml: is missing"},
		{"too deep", deep, "/extends: more than 8 folders extend one another"},
		{"too many", wide, "/extends: the workflow is made of more than 32 folders"},
		{"a fault there", map[string]string{"desk/workflow.yaml": named("Desk", "../base"), "base/workflow.yaml": "name: B\ndescription: d\n", "base/commands/x.yaml": "description: x\neffect: raed\nprocess: {argv: [x]}\n"},
			"../base/commands/x.yaml:2:9: /effect: must be one of"},
		{"a fault of form there", map[string]string{"desk/workflow.yaml": named("Desk", "../base"), "base/workflow.yaml": "name: [\n"}, "../base/workflow.yaml:1:1: not valid YAML"},
		{"a folder mistyped there", map[string]string{"desk/workflow.yaml": named("Desk", "../base"), "base/workflow.yaml": "name: B\ndescription: d\n", "base/comands/x.yaml": ""}, "../base/comands: this folder is not read"},
		{"no folder to stand for", map[string]string{"desk/workflow.yaml": "name: D\ndescription: d\n", "desk/commands/x.yaml": "description: x\neffect: read\nprocess: {argv: [\"${WORKFLOW_DIR}/x\"]}\n"},
			"commands/x.yaml:3:18: /process/argv: this workflow is not in a folder, so ${WORKFLOW_DIR} has no value"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := beside(tt.files, command.LoadOptions{Tools: []command.Tool{}})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	// What is wrong there is said once, and not of the files that build on it.
	_, _, err := beside(map[string]string{
		"desk/workflow.yaml": named("Desk", "../base"), "desk/commands/x.yaml": "utterances: [x]\n", "desk/contexts/C.yaml": "title: c\n",
		"base/workflow.yaml": "name: B\ndescription: d\n", "base/commands/x.yaml": "description: x\neffect: raed\nprocess: {argv: [x]}\n", "base/contexts/C.yaml": "description: c\nkey: c\n",
	}, command.LoadOptions{Tools: []command.Tool{}})
	var bad *command.FolderError
	if !errors.As(err, &bad) || len(bad.Faults) != 2 {
		t.Errorf("got %v, want the two faults of the base", err)
	}
	if _, err := command.Load(fstest.MapFS{"workflow.yaml": {Data: []byte(named("Desk", "../a"))}}, command.LoadOptions{}); err == nil || !strings.Contains(err.Error(), "there are no other folders here") {
		t.Errorf("got %v, want nothing to be extended where there is no disk", err)
	}
}
