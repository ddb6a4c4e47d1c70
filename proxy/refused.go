package proxy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/internal/eras"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/reshape"
	"github.com/mcp-workbench/workbench/internal/signature"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/proxy/meta"
	"github.com/mcp-workbench/workbench/proxy/naming"
	"github.com/mcp-workbench/workbench/toolbox"
)

// maxArguments is how long the arguments of a call may be that are kept until it is answered.
const maxArguments = 64 << 10

// inner is the call that stood in the arguments of workbench_use_tool, kept to explain how the tool is called if the
// server refuses it.
type inner struct {
	server    *toolbox.Server // nil if this is no call of workbench_use_tool
	tool      string
	arguments []byte // nil if they are too long to be kept
	// beside are members that stand where no argument of the tool is looked for; they are gathered only where there are
	// no arguments.
	beside []string
}

// maxBeside is how many members are named that stand beside the arguments.
const maxBeside = 5

// strayArguments returns the members of a call of workbench_use_tool that it does not know. Members that were meant for
// the tool are certain: they are parameters of the tool, or objects such as "args".
func strayArguments(c *call, schema []byte) (names, certain []string) {
	parameters := make(map[string]bool)
	if at, err := wire.FindPath(schema, wire.Whole(schema), "properties"); err == nil {
		for key := range wire.Members(schema, at) {
			name, _ := wire.Unquote(schema[key.Start:key.End])
			parameters[name] = true
		}
	}
	gather := func(in wire.Span, under string, known ...string) {
		for key, value := range wire.Members(c.Raw, in) {
			name, _ := wire.Unquote(c.Bytes(key))
			if slices.Contains(known, name) {
				continue
			}
			shown := under + foreign.NewName(name).String()
			if len(names) < maxBeside {
				names = append(names, shown)
			}
			if len(certain) < maxBeside && (parameters[name] || holdsMembers(c.Raw, value)) {
				certain = append(certain, shown)
			}
		}
	}
	gather(c.Args, "", "toolbox_name", "toolbox", "server_name", "server", "tool_name", "arguments", "tool")
	if tool, err := wire.FindPath(c.Raw, c.Args, "tool"); err == nil {
		gather(tool, "tool.", "toolbox", "server", "name")
	}
	return names, certain
}

// holdsMembers reports whether a value is an object that is not empty.
func holdsMembers(raw []byte, value wire.Span) bool {
	for range wire.Members(raw, value) {
		return true
	}
	return false
}

// misplaced refuses a call that gives the tool no arguments, and has members that were meant as these: a tool that needs
// none would do something else than what was asked for, perhaps to everything there is.
func misplaced(c *call, arguments wire.Span, to naming.Route) error {
	if holdsMembers(c.Raw, arguments) {
		return nil
	}
	if names, _ := strayArguments(c, nil); names == nil {
		return nil
	}
	in := inner{server: to.Server, tool: to.Key}
	schema, _ := in.schema()
	if _, certain := strayArguments(c, schema); certain != nil {
		return fmt.Errorf("%s did not call the tool: its own arguments belong in %q, and %s beside it; it is called as %s",
			meta.UseTool, "arguments", standing(certain), signature.Name(in.tool)+signature.Of(schema))
	}
	return nil
}

// newInner keeps what a call of workbench_use_tool asks for.
func newInner(r *request, srv *toolbox.Server, tool string, arguments []byte) inner {
	in := inner{server: srv, tool: tool}
	if len(arguments) <= maxArguments {
		in.arguments = r.keep(arguments)
	}
	return in
}

// refusal says how the tool is called, if a reply refuses the arguments that it was called with: that is certain of the
// error -32602, and of any other error and of a result that says it is one if the arguments do not fit the schema. A
// model that opened a large toolbox, and whose client lists no tools, may have guessed them. "" if there is nothing to
// say.
func (in *inner) refusal(m *wire.Message) string {
	certain := false
	switch m.Kind {
	case wire.Result:
		if !m.SaysError {
			return ""
		}
	case wire.Failure:
		certain = string(m.Get(m.Error, "code")) == fmt.Sprint(wire.CodeInvalidParams)
	}
	schema, ok := in.schema()
	if !ok {
		return ""
	}
	misfit := ""
	if in.arguments != nil {
		misfit = signature.Misfit(schema, reshape.Shown(schema, in.arguments))
	}
	how := "it is called as " + signature.Name(in.tool) + signature.Of(schema)
	switch {
	case misfit != "" && in.beside != nil:
		return fmt.Sprintf("workbench: the tool's own arguments belong in %q of %s, and %s beside it; %s",
			"arguments", meta.UseTool, standing(in.beside), how)
	case misfit != "":
		return "workbench: the arguments do not fit the tool's schema: " + misfit + "; " + how
	case certain:
		return "workbench: " + how
	}
	return ""
}

// standing says that members stand somewhere.
func standing(names []string) string {
	if len(names) == 1 {
		return names[0] + " stands"
	}
	return strings.Join(names, ", ") + " stand"
}

// schema gives the input schema of the tool, if its server has it still.
func (in *inner) schema() ([]byte, bool) {
	for _, it := range in.server.Items(toolbox.Tools) {
		if it.Key.Verbatim() == in.tool {
			schema := wire.Get(it.Raw, wire.Whole(it.Raw), "inputSchema")
			return schema, schema != nil
		}
	}
	return nil, false
}

// explained gives the edits that add to a server's refusal how its tool is called: at the end of an error's message, or
// of a result's content.
func (in *inner) explained(m *wire.Message) []wire.Edit {
	if in.server == nil {
		return nil
	}
	text := in.refusal(m)
	if text == "" {
		return nil
	}
	if m.Kind == wire.Failure {
		at, err := wire.FindPath(m.Raw, m.Error, "message")
		said, ok := wire.Unquote(m.Bytes(at))
		if err != nil || !ok {
			return nil
		}
		return []wire.Edit{{Span: at, New: wire.AppendQuote(nil, said+"\n"+text)}}
	}
	at, err := wire.FindPath(m.Raw, m.Result, "content")
	if err != nil || !at.Present() || m.Raw[at.Start] != '[' {
		return nil
	}
	item := append(wire.AppendQuote([]byte(`{"type":"text","text":`), text), '}')
	for range wire.Elements(m.Raw, at) {
		item = append([]byte{','}, item...)
		break
	}
	return []wire.Edit{{Span: wire.At(at.End - 1), New: item}}
}

// noResource words why a uri leads to no server.
func noResource(uri string, why error, e eras.Era) error {
	if errors.Is(why, naming.ErrUnknown) {
		why = errors.New("no open toolbox has a server with it")
	}
	shown := foreign.NewText(uri) // the specification wants it in the data
	data := append(wire.AppendQuote([]byte(`{"uri":`), shown.String()), '}')
	return &wire.Error{Code: e.NoResource(), Message: fmt.Sprintf("Resource not found: %s: %v", shown, why), Data: data}
}
