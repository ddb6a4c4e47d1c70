package meta

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/results"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// The meta tools and the names that later versions give them.
const (
	OpenTool      = "workbench_open_toolbox"
	UseTool       = "workbench_use_tool"
	StatusTool    = "workbench_status"
	FindTool      = "workbench_find_tools"
	ReadTool      = results.Tool
	ScriptTool    = "workbench_run_script"
	openToolLater = "open_toolbox"
	useToolLater  = "use_tool"
	findToolLater = "find_tools"
)

// Tool is a tool of workbench's own: its definition as it stands in tools/list.
type Tool struct {
	Name       string
	Definition []byte
}

// maxNamed is how long the names of toolboxes may be in the description of the tool that opens them, in bytes. Some
// clients show the model no instructions, and of a tool that it has not asked for only the name and the first 160
// characters of the description.
const maxNamed = 120

// maxDescription keeps our descriptions below the 2 KB at which some clients cut them.
const maxDescription = 1900

// Tools makes the definitions of all tools of workbench's own for a configuration.
func Tools(cfg *config.Config) []Tool {
	return slices.Concat(fullTools(cfg), scriptTools(cfg), ResultTools(cfg.CodeMode, cfg.Toolboxes))
}

// fullTools makes the definitions for a configuration. They name the toolboxes, because some clients do not show the
// instructions to the model.
func fullTools(cfg *config.Config) []Tool {
	if cfg.ToolMode == config.ToolModeSearch {
		return briefTools()
	}
	names := make([]any, len(cfg.Toolboxes))
	var purposes strings.Builder
	for i, t := range cfg.Toolboxes {
		names[i] = t.Name
		line := fmt.Sprintf("\n- %s: %s", t.Name, Describe(t.Description))
		if purposes.Len()+len(line) <= maxDescription {
			purposes.WriteString(line)
		}
	}
	opens := "Open a toolbox"
	if len(names) > 0 {
		opens += " (" + named(cfg.Toolboxes, maxNamed) + ")"
	}
	toolboxName := map[string]any{"type": "string", "description": "Name of the toolbox. Available:" + purposes.String(), "enum": names}
	if len(names) == 0 {
		toolboxName = map[string]any{"type": "string", "description": "Name of the toolbox. There is none."}
	}
	return []Tool{
		define(OpenTool, "Open toolbox",
			opens+": starts its servers and shows its tools, with parameters, or only names if there are many. Opening an open toolbox again does no harm: it shows the present state, and more of the tools you name in tools. Call the tools by their exposed names if they are offered to you, otherwise through "+UseTool+".",
			map[string]any{
				"toolbox_name": toolboxName,
				"tools": map[string]any{
					"type":        "array",
					"items":       map[string]any{"type": "string"},
					"description": "Show only these: tools (NAME or SERVER/NAME), whole servers, or patterns with *",
				},
				"detail": map[string]any{"type": "string", "enum": Details(), "description": "How much to show of each tool; by default as much as fits in a short answer"},
			}, []string{"toolbox_name"},
			openHints()),
		define(UseTool, "Use tool",
			"Call a tool of a toolbox by its name, as given by "+OpenTool+". Opens the toolbox if needed. Returns the tool's own result.",
			map[string]any{
				"toolbox_name": toolboxName,
				"tool_name":    map[string]any{"type": "string", "description": "Name of the tool; server/tool if two servers of the toolbox have one of that name"},
				"arguments":    map[string]any{"type": "object", "description": "Arguments of the tool, as its input schema says", "additionalProperties": true},
				"tool": map[string]any{
					"type":        "object",
					"description": "Another way to name the tool, instead of toolbox_name and tool_name",
					"properties": map[string]any{
						"toolbox": map[string]any{"type": "string"},
						"server":  map[string]any{"type": "string"},
						"name":    map[string]any{"type": "string"},
					},
					"required": []string{"toolbox", "name"},
				},
			}, nil,
			useHints()),
		define(FindTool, "Find tools",
			"Find the tools of all toolboxes that fit what you want to do, opened or not. Starts nothing. Returns servers with their tools, best first, and the parameters of the best few.",
			map[string]any{
				"query":   map[string]any{"type": "string", "description": "What you want to do, in a few words"},
				"toolbox": map[string]any{"type": "string", "description": "Search only this toolbox"},
				"detail":  map[string]any{"type": "string", "enum": Details(), "description": "How much to show of the best tools; by default their parameters"},
				"limit":   map[string]any{"type": "integer", "minimum": 1, "description": "The largest number of tools to name"},
			}, []string{"query"},
			readHints()),
		define(StatusTool, "Status",
			"See which servers of the open toolboxes are ready, and what to do about those that are not. Starts nothing.",
			map[string]any{}, nil,
			readHints()),
	}
}

// The hints say what a meta tool does to what there is.
func openHints() mcp.ToolAnnotation { return hints(false, false, true, false) }
func useHints() mcp.ToolAnnotation  { return hints(false, true, false, true) }
func readHints() mcp.ToolAnnotation { return hints(true, false, true, false) }

func hints(readOnly, destructive, idempotent, openWorld bool) mcp.ToolAnnotation {
	return mcp.ToolAnnotation{
		ReadOnlyHint: &readOnly, DestructiveHint: &destructive, IdempotentHint: &idempotent, OpenWorldHint: &openWorld,
	}
}

func define(name, title, description string, properties map[string]any, required []string, hints mcp.ToolAnnotation) Tool {
	hints.Title = title
	def, err := json.Marshal(mcp.Tool{
		Name:        name,
		Description: description,
		InputSchema: mcp.ToolInputSchema{Type: "object", Properties: properties, Required: required},
		Annotations: hints,
	})
	if err != nil {
		panic(fmt.Sprintf("the definition of %s cannot be encoded: %v", name, err))
	}
	return Tool{Name: name, Definition: def}
}

// ResultTools gives the meta tool that a client has where large results are kept, of scripts or of some server.
func ResultTools(scripts bool, toolboxes []config.Toolbox) []Tool {
	keeps := func(t config.Toolbox) bool {
		return slices.ContainsFunc(t.Servers, func(s config.Server) bool { return s.LargeResults.Do == config.LargePreview })
	}
	if !scripts && !slices.ContainsFunc(toolboxes, keeps) {
		return nil
	}
	return []Tool{define(ReadTool, "Read result",
		"Read more of a result that was too large to show: some lines, the matches of a JSONPath or of a regular expression; one page at a time.",
		map[string]any{
			"id":    map[string]any{"type": "string", "description": "The id in the preview of the result"},
			"lines": map[string]any{"type": "string", "description": "Such as 10-20, 10- or 10"},
			"path":  map[string]any{"type": "string", "description": "JSONPath, such as $.items[0:10].name or $.items[?@.state=='open'].title"},
			"grep":  map[string]any{"type": "string", "description": "Regular expression (RE2); (?i) at its beginning ignores case"},
			"page":  map[string]any{"type": "integer", "minimum": 1},
		}, []string{"id"}, readHints())}
}

// scriptTools gives the meta tool that a client has where scripts are allowed.
func scriptTools(cfg *config.Config) []Tool {
	if !cfg.CodeMode {
		return nil
	}
	return []Tool{define(ScriptTool, "Run script",
		"Run JavaScript that calls tools, and see only what it returns and writes to console. Good for many calls, or for large results of which you need little. "+
			"The code is the body of an async function. await tools.TOOLBOX.SERVER.TOOL({parameter: value}) gives the tool's structured content, else its text, parsed if that is a JSON object or array, else its content; a tool that fails throws. "+
			"Names that are not identifiers go in brackets: tools['my-box'].server['do-it'](). Calls may run in parallel (Promise.all). There is no other input or output. "+
			"Example: const issues = await tools.dev.github.list_issues({repo: 'a/b'}); return issues.filter(i => i.open).map(i => i.title)",
		map[string]any{
			"code": map[string]any{"type": "string", "description": "JavaScript (ES2023), with return for the answer"},
		}, []string{"code"}, useHints())}
}

// Details are the values of the argument detail.
func Details() []string { return []string{"names", "signatures", "schemas"} }

// Canonical gives the name of a meta tool for that which later versions give it; any other name stays.
func Canonical(name string) string {
	switch name {
	case openToolLater:
		return OpenTool
	case useToolLater:
		return UseTool
	case findToolLater:
		return FindTool
	}
	return name
}

// Reserved reports whether a name is that of a meta tool, or could be that of a later one.
func Reserved(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "workbench_") || Canonical(name) != name
}

// CallParams are the params of a tools/call of [UseTool], to which others may be added.
func CallParams(toolbox, server, tool string, arguments []byte) wire.Object {
	key := wire.NewObject(nil).Text("toolbox", toolbox).Text("server", server).Text("name", tool).End()
	inner := wire.NewObject(nil).Raw("tool", key).Raw("arguments", arguments).End()
	return wire.NewObject(nil).Text("name", UseTool).Raw("arguments", inner)
}
