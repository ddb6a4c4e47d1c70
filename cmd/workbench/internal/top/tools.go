package top

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/signature"
)

// tools are those of all toolboxes, as they were seen last, and those of servers inside this program.
type tools struct {
	rows  []tool
	wrong error
}

type tool struct {
	Toolbox    string `json:"toolbox"`
	Server     string `json:"server"`
	Definition struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
	} `json:"definition"`
}

func (t *tool) name() string { return t.Toolbox + "/" + t.Server + "/" + t.Definition.Name }

// toolsOf reads which there are.
func toolsOf(ctx context.Context, env *opening.Environment) tools {
	var found tools
	if found.wrong = printed(ctx, env, &found.rows, "tools", "--offline", "--json"); found.wrong != nil {
		return found
	}
	boxes, _, err := env.Recalled()
	if err != nil {
		return tools{wrong: err}
	}
	for _, b := range boxes {
		inside, err := env.Builtins(ctx, b.Name)
		if err != nil {
			found.wrong = err
		}
		for _, raw := range inside {
			var one tool
			if json.Unmarshal(raw, &one) == nil {
				found.rows = append(found.rows, one)
			}
		}
	}
	return found
}

// printed reads what a command prints as JSON.
func printed(ctx context.Context, env *opening.Environment, into any, args ...string) error {
	var out, fault bytes.Buffer
	if err := env.Aside(ctx, &out, &fault, args...); err != nil {
		return err
	}
	return json.Unmarshal(out.Bytes(), into)
}

func (t *tools) heard(what any)    { take(t, what) }
func (t *tools) name() string      { return "tools" }
func (t *tools) len() int          { return len(t.rows) }
func (t *tools) id(row int) string { return t.rows[row].name() }
func (t *tools) columns() []string { return []string{"TOOL", "ARGUMENTS"} }
func (t *tools) words(row int) string {
	return t.rows[row].name() + " " + t.rows[row].Definition.Description
}

func (t *tools) none() string {
	return because(t.wrong, "no server was seen yet; open a toolbox, or run workbench index")
}

func (t *tools) cells(row int) []string {
	return []string{foreign.NewName(t.rows[row].name()).String(), foreign.NewText(signature.Of(t.rows[row].Definition.InputSchema)).String()}
}

func (t *tools) about(row, width int) string {
	return terminal.Wrap(strings.ReplaceAll(foreign.Block(t.rows[row].Definition.Description), "\n", " "), "", width)
}

func (t *tools) keys() []key {
	return []key{
		{key: "enter", does: "call", form: func(row int) *form {
			return newForm(t.rows[row].name(), t.rows[row].Definition.InputSchema)
		}},
		{key: "i", does: "what it does and takes", command: func(row int) []string { return []string{"tools", t.rows[row].name()} }},
	}
}
