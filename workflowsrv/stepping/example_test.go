package stepping_test

import (
	"fmt"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/stepping"
)

func ExampleNext() {
	w, err := new(definition.Parser).Parse("sample.json", definition.Sample())
	if err != nil {
		fmt.Println(err)
		return
	}
	done := []string{"understand", "carry-out", "check"}
	for _, context := range []map[string]any{nil, {"size": "large"}, {"size": "small"}} {
		a, err := stepping.Next(w, stepping.Request{Completed: done, Context: context})
		switch {
		case err != nil:
			fmt.Println(err)
		case a.Step != nil:
			fmt.Println(context, "leads to", a.Step.ID)
		case a.IsComplete:
			fmt.Println(context, "completes the workflow")
		default:
			fmt.Println(context, "lacks", a.Missing[0].Variable)
		}
	}
	// Output:
	// map[] lacks size
	// map[size:large] leads to plan
	// map[size:small] completes the workflow
}
