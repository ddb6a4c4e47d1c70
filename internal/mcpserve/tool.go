package mcpserve

import (
	"context"
	"encoding/json"
	"maps"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/cut"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/internal/wire"
)

// A Tool is what clients are told of a tool.
type Tool struct {
	Name, Title, Description string
	// Input and Output are JSON Schemas of objects. What is required stands last in Output.
	Input, Output                   string
	ReadOnly, Idempotent, OpenWorld bool // one of an open world may destroy something; nothing is said of that
}

// An About is what a server says of itself.
type About struct{ Name, Version, Description, Instructions string }

// NewEngine returns the engine of a server whose tools are the same for everybody as long as the program runs. The
// structured content of a call that fails has the members of fault.
func NewEngine(a About, tools []Tool, fault []string, opts ...mcpserver.ServerOption) *mcpserver.MCPServer {
	engine := mcpserver.NewMCPServer(a.Name, a.Version, append(opts, mcpserver.WithToolCapabilities(false), mcpserver.WithDescription(a.Description),
		mcpserver.WithInstructions(a.Instructions), mcpserver.WithCacheHints(int64(3600*1000), mcp.CacheScopePublic))...)
	for _, t := range tools {
		hints := mcp.ToolAnnotation{Title: t.Title, ReadOnlyHint: &t.ReadOnly, IdempotentHint: &t.Idempotent, OpenWorldHint: &t.OpenWorld}
		if !t.OpenWorld {
			hints.DestructiveHint = new(bool)
		}
		engine.AddTool(mcp.Tool{
			Name: t.Name, Title: t.Title, Description: t.Description, Annotations: hints,
			RawInputSchema: json.RawMessage(t.Input), RawOutputSchema: withFault(t.Output, fault),
		}, nil) // calls do not go through the engine
	}
	return engine
}

// withFault lets an output schema admit what a call that fails returns: clients check the structured content of errors,
// too.
func withFault(output string, fault []string) json.RawMessage {
	i := strings.LastIndex(output, `,"required":`)
	required := strings.TrimSuffix(output[i+1:], "}")
	return json.RawMessage(output[:i] + `,"anyOf":[{` + required + `},{"required":` + string(wire.MustEncode(fault)) + `}]}`)
}

// Stranger says which of the arguments of a call, the first by name, the tool does not have, "" if it has all.
func Stranger(tool string, arguments map[string]json.RawMessage, known []string) string {
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if slices.Contains(known, name) {
			continue
		}
		details := "unknown argument " + strconv.Quote(cut.Short(name))
		if near := nearest.Names(name, known, 1); len(near) > 0 {
			return details + "; did you mean " + strconv.Quote(near[0]) + "?"
		}
		if len(known) == 0 {
			return details + "; " + tool + " takes none"
		}
		return details + "; known are " + strings.Join(known, ", ")
	}
	return ""
}

// Recover is deferred by what carries out a tool: a panic costs one call alone, for which failed is called.
func Recover(log zerolog.Logger, tool string, failed func()) {
	if p := recover(); p != nil {
		log.Error().Str(logkey.Tool, tool).Interface(logkey.Panic, p).Bytes(logkey.Stack, debug.Stack()).Msg("a call failed within")
		failed()
	}
}

// Elicit asks the user (MCP 2025-06-18, "Elicitation"). The answer has no State.
func (a Asker) Elicit(ctx context.Context, message string, form []byte) (Answer, error) {
	raw, err := a(ctx, wire.NewObject(nil).Text("message", message).Raw("requestedSchema", form).End())
	if err != nil {
		return Answer{}, err
	}
	var said struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content"`
	}
	err = json.Unmarshal(raw, &said)
	return Answer{Action: said.Action, Form: said.Content}, err
}
