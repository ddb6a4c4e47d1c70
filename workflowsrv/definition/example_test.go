package definition_test

import (
	"fmt"

	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

func ExampleParse() {
	_, err := definition.Parse("flows/release.yaml", []byte(`
id: release
name: Release
description: Makes a release.
version: 1.0.0
steps:
  - id: tag-it
    title: Tag it
    promt: Tag the commit.
`))
	fmt.Println(err)
	// Output:
	// flows/release.yaml:7:5: /steps/0: needs one of "prompt", "promptBlocks", "templateCall"
	// flows/release.yaml:9:5: /steps/0/promt: unknown key "promt"; did you mean "prompt"?
}
