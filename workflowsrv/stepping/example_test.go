package stepping_test

import (
	"context"
	"fmt"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

func ExampleNext() {
	w, err := definition.Parse("sample.json", definition.Sample())
	if err != nil {
		fmt.Println(err)
		return
	}
	done := []string{"understand", "carry-out", "check"}
	for _, variables := range []map[string]any{nil, {"size": "large"}, {"size": "small"}} {
		a, err := stepping.Next(context.Background(), w, stepping.Request{Completed: done, Context: variables})
		switch {
		case err != nil:
			fmt.Println(err)
		case a.Step != nil:
			fmt.Println(variables, "leads to", a.Step.ID)
		case a.IsComplete:
			fmt.Println(variables, "completes the workflow")
		default:
			fmt.Println(variables, "lacks", a.Missing[0].Variable)
		}
	}
	// Output:
	// map[] lacks size
	// map[size:large] leads to plan
	// map[size:small] completes the workflow
}
