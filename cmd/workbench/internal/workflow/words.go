package workflow

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

// contextOf reads variables as they stand on the command line.
func contextOf(variables []string) (map[string]any, error) {
	context := map[string]any{}
	for _, v := range variables {
		name, text, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return nil, cli.Hint(cli.Usage(fmt.Errorf("--context: got %q", v)), "write --context name=value")
		}
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		var value any
		if dec.Decode(&value) != nil || dec.More() {
			value = text
		}
		context[name] = value
	}
	return context, nil
}

func printAnswer(out io.Writer, a stepping.Answer) {
	for _, w := range a.Warnings {
		fmt.Fprintf(out, "warning: %s\n", w)
	}
	if a.Step != nil {
		fmt.Fprintf(out, "%s: %s\n\n", a.Step.ID, a.Step.Title)
	}
	fmt.Fprint(out, terminal.Wrap(a.Text(), "  ", 100))
	for _, m := range a.Waiting {
		fmt.Fprintf(out, "\nnot yet: %s, until %s is set\n", strings.Join(m.Steps, ", "), m.Variable)
	}
	if len(a.ValidationCriteria) > 0 {
		fmt.Fprintln(out, "\nThe output is checked for:")
		for _, text := range a.ValidationCriteria {
			fmt.Fprintf(out, "  - %s\n", text)
		}
	}
}
