package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/jsontype"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/toolbox"
)

// showTool prints one tool as a person reads it.
func showTool(ctx context.Context, env *opening.Environment, name string, asJSON, offline bool) error {
	box, server, name, err := whoseItem(env, toolbox.Tools, name)
	if err != nil {
		return err
	}
	have := env.OpenBoxes
	if offline {
		have = env.RecallBoxes
	}
	boxes, closeAll, err := have(ctx, opening.Alone(server), box)
	if err != nil {
		return err
	}
	defer closeAll()
	it, err := pick(env, boxes[0], toolbox.Tools, server, name)
	if err != nil {
		return err
	}
	if asJSON {
		return printWhole(env, opening.Located(it, offline))
	}
	_, err = fmt.Fprint(env.Out, toolPage(it, cli.TextWidth(env.Environment)))
	return err
}

// toolPage describes a tool: whose it is, what it does, what it takes, and how to call it.
func toolPage(it toolbox.Item, width int) string {
	def := readDefinition(it.Raw)
	var b strings.Builder
	of := fmt.Sprintf("%s/%s/%s", it.Server.Toolbox, it.Server.Name, it.Key)
	fmt.Fprintf(&b, "%s\n", of)
	if title := foreign.NewText(def.Title); !title.IsEmpty() {
		fmt.Fprintf(&b, "%s\n", title)
	}
	fmt.Fprintf(&b, "agents see it as %s\n", toolbox.ExposedName(it.Server.Toolbox, it.Server.Name, it.Key.Verbatim()))
	if text := foreign.NewLines(strings.TrimSpace(def.Description)).String(); text != "" {
		fmt.Fprintf(&b, "\n%s", terminal.Wrap(text, "", width))
	}
	var schema map[string]any
	_ = json.Unmarshal(def.InputSchema, &schema)
	required, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(map[string]any)
	call := shellword.Line("workbench", "call", of)
	if len(properties) == 0 {
		fmt.Fprintf(&b, "\nIt names no arguments.\n\n%s\n", call)
		return b.String()
	}
	fmt.Fprintln(&b, "\nArguments:")
	for _, name := range jsontype.Properties(def.InputSchema) {
		p, _ := properties[name].(map[string]any)
		notes := strings.Join(jsontype.Of(schema, properties[name]), " or ")
		if notes == "" {
			notes = "any"
		}
		must := slices.Contains(required, any(name))
		if must {
			notes += ", required"
			call += " " + shellword.Word(foreign.NewName(name).String()) + "=…"
		}
		if list, _ := p["enum"].([]any); len(list) > 0 && len(list) <= 20 {
			values := make([]string, len(list))
			for i, v := range list {
				values[i] = foreign.NewName(fmt.Sprint(v)).String()
			}
			notes += ", one of " + strings.Join(values, ", ")
		}
		if v, ok := p["default"]; ok {
			if raw, err := json.Marshal(v); err == nil {
				notes += ", else " + foreign.NewName(string(raw)).String()
			}
		}
		fmt.Fprintf(&b, "  %s  %s\n", foreign.NewName(name), foreign.NewText(notes))
		if text, _ := p["description"].(string); text != "" {
			b.WriteString(terminal.Wrap(foreign.NewLines(strings.TrimSpace(text)).String(), "      ", width))
		}
	}
	fmt.Fprintf(&b, "\n%s\n", call)
	return b.String()
}
