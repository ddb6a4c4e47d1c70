package meta

import (
	"fmt"
	"strings"

	"github.com/mcp-workbench/workbench/config"
)

// What a client is told at once in toolMode "search" costs few tokens, however many toolboxes and tools there are.

// AtOnce gives how many bytes a client is told before its first call where no toolbox is open without being asked for:
// the instructions, and the definitions of workbench's own tools.
func AtOnce(cfg *config.Config) int {
	size := len(Instructions(cfg))
	for _, t := range Tools(cfg) {
		size += len(t.Definition) + len(",")
	}
	return size + len("[]") - len(",")
}

// maxBrief is how long the instructions are then, in bytes.
const maxBrief = 1600

// howToFind ends the instructions.
const howToFind = "\n\nTo find a tool by what it does, in any toolbox, use workbench_find_tools; call it through workbench_use_tool."

// briefInstructions presents the first toolboxes as the contract has it, as many as there is room for beside the names
// of the others.
func briefInstructions(toolboxes []config.Toolbox) string {
	size := len(introducing) + len(howToOpen) + len(others(toolboxes)) + len(howToFind)
	var b strings.Builder
	b.WriteString(introducing)
	rest := toolboxes
	for i := range toolboxes {
		text := presented(&toolboxes[i])
		less := len(others(rest)) - len(others(rest[1:]))
		if size += len(text) - less; size > maxBrief {
			break
		}
		b.WriteString(text)
		rest = rest[1:]
	}
	b.WriteString(howToOpen)
	return b.String() + others(rest) + howToFind
}

// maxOthers is how long the names of toolboxes may be that are not presented, in bytes.
const maxOthers = 800

// others names toolboxes.
func others(toolboxes []config.Toolbox) string {
	if len(toolboxes) == 0 {
		return ""
	}
	const more = "\n\nMore toolboxes: "
	return more + named(toolboxes, maxOthers-len(more))
}

// named gives the names of toolboxes, and how many more there are than have room in so many bytes.
func named(toolboxes []config.Toolbox, room int) string {
	var b []byte
	for i := range toolboxes {
		if len(b)+len(toolboxes[i].Name) > room {
			return string(fmt.Appendf(b, "… and %d more", len(toolboxes)-i))
		}
		b = append(append(b, toolboxes[i].Name...), ", "...)
	}
	return string(b[:len(b)-len(", ")])
}

// briefTools makes the definitions of the meta tools, which then name no toolboxes and leave out what can be done in
// another way.
func briefTools() []Tool {
	text := map[string]any{"type": "string"}
	names := map[string]any{"type": "array", "items": text}
	return []Tool{
		define(FindTool, "Find tools",
			"Find tools in all toolboxes by what you want to do. Returns servers with their tools, best first, and the parameters of the best few. Starts nothing.",
			map[string]any{
				"query":   map[string]any{"type": "string", "description": "What you want to do, in a few words"},
				"toolbox": map[string]any{"type": "string", "description": "Search only this toolbox"},
				"detail":  map[string]any{"type": "string", "enum": Details()},
			}, []string{"query"}, readHints()),
		define(UseTool, "Use tool",
			"Call a tool that was found. Opens its toolbox if needed.",
			map[string]any{
				"toolbox_name": text,
				"tool_name":    map[string]any{"type": "string", "description": "SERVER/TOOL, or TOOL if only one server has it"},
				"arguments":    map[string]any{"type": "object"},
			}, []string{"toolbox_name", "tool_name"}, useHints()),
		define(OpenTool, "Open toolbox",
			"Start the servers of a toolbox and see its tools, or those named, with their parameters.",
			map[string]any{
				"toolbox_name": text,
				"tools":        names,
				"detail":       map[string]any{"type": "string", "enum": Details()},
			}, []string{"toolbox_name"}, openHints()),
		define(StatusTool, "Status",
			"See the state of the servers of open toolboxes, and what to do about those that are not ready.",
			map[string]any{}, nil, readHints()),
	}
}
