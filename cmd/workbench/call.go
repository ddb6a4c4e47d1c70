package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/jsontype"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/wire"
	"github.com/mcp-workbench/workbench/toolbox"
)

func callCommand(env *environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "call TOOLBOX/SERVER/TOOL [JSON | @FILE | - | KEY=VALUE...]",
		Short: "Call one tool",
		Long: `Call opens the toolbox, calls the tool and prints the text of its result.

Arguments are one JSON object, a file that holds one (@FILE, or - for standard
input), or KEY=VALUE pairs; a value is read as the tool's input schema says, and
as text where that says nothing. The exit code is 1 if the call fails or the
tool answers with an error.`,
		Example: `  workbench call workflows/workflow/workflow_list
  workbench call files/filesystem/read_text_file path=README.md
  workbench call files/filesystem/read_text_file '{"path":"README.md","head":3}'`,
		Args: between(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return callTool(cmd.Context(), env, args[0], args[1:], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole result as the server sent it")
	return cmd
}

func callTool(ctx context.Context, env *environment, name string, args []string, asJSON bool) error {
	parts := strings.SplitN(name, "/", 3)
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return usageError{hinted{fmt.Errorf("%q does not name a tool", name), "write TOOLBOX/SERVER/TOOL, as workbench tools lists them"}}
	}
	boxes, closeAll, err := env.openServers(ctx, []string{parts[1]}, nil, parts[0])
	if err != nil {
		return err
	}
	defer closeAll()
	tool, err := pick(boxes[0], parts[1], parts[2])
	if err != nil {
		return err
	}
	arguments, err := env.arguments(tool, args)
	if err != nil {
		return err
	}
	params := wire.AppendQuote([]byte(`{"name":`), tool.Key.Verbatim())
	params = append(append(append(params, `,"arguments":`...), arguments...), '}')
	result, err := tool.Server.Request(ctx, "tools/call", params)
	if gone := new(toolbox.UnavailableError); errors.As(err, &gone) {
		return absent(gone.Toolbox, gone.Server, gone.Status)
	}
	if err != nil {
		return err
	}
	return env.printResult(result, asJSON)
}

// pick finds a tool of an open toolbox.
func pick(b *toolbox.Toolbox, server, name string) (toolbox.Item, error) {
	srv, ok := b.Server(server)
	if !ok {
		var known []string
		for _, s := range b.Servers() {
			known = append(known, s.Name)
		}
		return toolbox.Item{}, usageError{hinted{fmt.Errorf("toolbox %q has no server %q", b.Name, server), "its servers are: " + join(known)}}
	}
	var known []string
	for _, it := range srv.Items(toolbox.Tools) {
		if it.Key.Verbatim() == name {
			return it, nil
		}
		known = append(known, it.Key.String())
	}
	for _, h := range srv.Held(toolbox.Tools) {
		if h.Key.Verbatim() == name {
			return toolbox.Item{}, fmt.Errorf("tool %q of server %q is held back: %s", h.Key, server, h.Why)
		}
	}
	if st := srv.Status(); st.State != toolbox.Ready {
		return toolbox.Item{}, absent(b.Name, server, st)
	}
	hint := "its tools are: " + join(known)
	if n := srv.Hidden(); n > 0 {
		hint += fmt.Sprintf("; its toolFilters leave out %d more", n)
	}
	if near := nearest.Names(name, known, 1); near != nil {
		hint = fmt.Sprintf("did you mean %q?", near[0])
	}
	return toolbox.Item{}, usageError{hinted{fmt.Errorf("server %q has no tool %q", server, name), hint}}
}

// arguments reads a tool's arguments from the command line.
func (e *environment) arguments(tool toolbox.Item, args []string) ([]byte, error) {
	if len(args) == 0 {
		return []byte("{}"), nil
	}
	if first := args[0]; len(args) == 1 && !strings.Contains(beforeBrace(first), "=") {
		data, from, err := e.source(first)
		if err != nil {
			return nil, err
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(data, &object); err != nil {
			fault := fmt.Errorf("the arguments %s are not a JSON object", from)
			if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
				fault = fmt.Errorf("%w: %w", fault, err)
			}
			return nil, usageError{hinted{fault, "write '{\"key\": \"value\"}' or key=value"}}
		}
		var b bytes.Buffer
		if err := json.Compact(&b, data); err != nil {
			return nil, err
		}
		return b.Bytes(), nil
	}
	types := propertyTypes(tool)
	given := make(map[string]bool)
	object := []byte{'{'}
	for i, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok || key == "" {
			return nil, usageError{hinted{fmt.Errorf("argument %q is not KEY=VALUE", arg), "or give all arguments as one JSON object"}}
		}
		if given[key] {
			return nil, usageError{hinted{fmt.Errorf("argument %s is given twice", key), "a list is written as JSON: key='[1, 2]'"}}
		}
		given[key] = true
		if i > 0 {
			object = append(object, ',')
		}
		object = append(wire.AppendQuote(object, key), ':')
		v, err := jsontype.Value(value, types[key])
		if err != nil {
			return nil, usageError{hinted{fmt.Errorf("argument %s: %w", key, err), "workbench tools --json shows the input schema; values other than text are written as JSON"}}
		}
		object = append(object, v...)
	}
	return append(object, '}'), nil
}

// propertyTypes reads which types the input schema gives its properties.
func propertyTypes(tool toolbox.Item) map[string][]string {
	var def struct {
		InputSchema map[string]any `json:"inputSchema"`
	}
	types := make(map[string][]string)
	if json.Unmarshal(tool.Raw, &def) != nil {
		return types // a schema of another shape: everything is text
	}
	properties, _ := def.InputSchema["properties"].(map[string]any)
	for name, p := range properties {
		types[name] = jsontype.Of(def.InputSchema, p)
	}
	return types
}

func beforeBrace(s string) string {
	before, _, _ := strings.Cut(s, "{")
	return before
}

// maxArgument is the most bytes that arguments in a file may have.
const maxArgument = 64 << 20

// source reads the JSON that an argument stands for.
func (e *environment) source(arg string) (data []byte, from string, err error) {
	switch {
	case arg == "-":
		data, err = io.ReadAll(e.in)
		return data, "on standard input", err
	case strings.HasPrefix(arg, "@"):
		data, _, err = openfile.Read(arg[1:], maxArgument)
		return data, "in " + arg[1:], err
	default:
		return []byte(arg), "given", nil
	}
}

// printResult prints the text of a result, or all of it.
func (e *environment) printResult(result []byte, asJSON bool) error {
	var r struct {
		Content []struct {
			Type foreign.Name `json:"type"`
			Text string       `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return fmt.Errorf("the result cannot be read: %w", foreign.NewError(err))
	}
	if asJSON {
		var b bytes.Buffer
		if err := json.Indent(&b, result, "", "  "); err != nil {
			return err
		}
		fmt.Fprintln(e.out, string(foreign.JSON(b.Bytes())))
	} else {
		for _, c := range r.Content {
			if c.Type.Verbatim() == "text" {
				fmt.Fprintln(e.out, foreign.Block(c.Text))
			} else {
				fmt.Fprintf(e.out, "[%s content; --json shows it]\n", c.Type)
			}
		}
	}
	if r.IsError {
		return errors.New("the tool answered with an error")
	}
	return nil
}
