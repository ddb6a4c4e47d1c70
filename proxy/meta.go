package proxy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/results"
)

// The meta tools and the names that later versions give them.
const (
	openTool      = "workbench_open_toolbox"
	useTool       = "workbench_use_tool"
	statusTool    = "workbench_status"
	findTool      = "workbench_find_tools"
	readTool      = results.Tool
	scriptTool    = "workbench_run_script"
	openToolLater = "open_toolbox"
	useToolLater  = "use_tool"
	findToolLater = "find_tools"
)

// metaTool is a tool of workbench's own: its definition as it stands in
// tools/list.
type metaTool struct {
	name       string
	definition []byte
}

// maxDescription keeps our descriptions below the 2 KB at which some clients
// cut them.
const maxDescription = 1900

// ownTools makes the definitions of all tools of workbench's own for a configuration.
func ownTools(cfg *config.Config) []metaTool {
	return slices.Concat(metaTools(cfg), scriptTools(cfg), resultTools(cfg.CodeMode, cfg.Toolboxes))
}

// metaTools makes the definitions for a configuration. They name the
// toolboxes, because some clients do not show the instructions to the model.
func metaTools(cfg *config.Config) []metaTool {
	if cfg.ToolMode == config.ToolModeSearch {
		return briefMetaTools()
	}
	names := make([]any, len(cfg.Toolboxes))
	var purposes strings.Builder
	for i, t := range cfg.Toolboxes {
		names[i] = t.Name
		line := fmt.Sprintf("\n- %s: %s", t.Name, describe(t.Description))
		if purposes.Len()+len(line) <= maxDescription {
			purposes.WriteString(line)
		}
	}
	toolboxName := map[string]any{"type": "string", "description": "Name of the toolbox. Available:" + purposes.String(), "enum": names}
	if len(names) == 0 {
		toolboxName = map[string]any{"type": "string", "description": "Name of the toolbox. There is none."}
	}
	return []metaTool{
		define(openTool, "Open toolbox",
			"Start the servers of a toolbox and see its tools: with parameters, or by name where there are many. Opening an open toolbox again is harmless, shows its present state, and tells more of the tools you name in tools. Call the tools by their exposed names if they are offered to you, else through "+useTool+".",
			map[string]any{
				"toolbox_name": toolboxName,
				"tools": map[string]any{
					"type":        "array",
					"items":       map[string]any{"type": "string"},
					"description": "See these alone: tools (NAME or SERVER/NAME), whole servers, or patterns with * in them",
				},
				"detail": map[string]any{"type": "string", "enum": details(), "description": "See that much of each tool; without it, as much as fits in a short answer"},
			}, []string{"toolbox_name"},
			openHints()),
		define(useTool, "Use tool",
			"Call a tool of a toolbox by its name, as given by "+openTool+". The toolbox is opened if it is not. The result is the tool's own.",
			map[string]any{
				"toolbox_name": toolboxName,
				"tool_name":    map[string]any{"type": "string", "description": "Name of the tool; where two servers of the toolbox have one of that name, server/tool"},
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
		define(findTool, "Find tools",
			"Find the tools of all toolboxes that fit what you want to do, opened or not. Starts nothing. The answer names servers with their tools, best first, and tells the parameters of the best few.",
			map[string]any{
				"query":   map[string]any{"type": "string", "description": "What you want to do, in a few words"},
				"toolbox": map[string]any{"type": "string", "description": "Search this toolbox alone"},
				"detail":  map[string]any{"type": "string", "enum": details(), "description": "How much of the best tools is told; without it, their parameters"},
				"limit":   map[string]any{"type": "integer", "minimum": 1, "description": "How many tools are named at most"},
			}, []string{"query"},
			readHints()),
		define(statusTool, "Status",
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

func define(name, title, description string, properties map[string]any, required []string, hints mcp.ToolAnnotation) metaTool {
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
	return metaTool{name: name, definition: def}
}

// isMeta reports whether a name is one that the meta tools of the client answer
// to.
func (s *Session) isMeta(name string) bool {
	switch name {
	case openToolLater:
		name = openTool
	case useToolLater:
		name = useTool
	case findToolLater:
		name = findTool
	}
	return slices.ContainsFunc(s.view.Load().meta, func(t metaTool) bool { return t.name == name })
}

// isMetaName reports whether a name is that of a meta tool that clients may
// have.
func isMetaName(name string) bool {
	switch name {
	case openTool, useTool, findTool, statusTool, readTool, scriptTool, openToolLater, useToolLater, findToolLater:
		return true
	}
	return false
}
