package workflow

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/workflowsrv/author"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// sampleID is the id of the sample.
const sampleID = "my-first-workflow"

func workflowInitCommand(env *opening.Environment) *cobra.Command {
	var asYAML bool
	cmd := &cobra.Command{
		Use:   "init [ID|FILE]",
		Short: "Write a sample workflow to begin with",
		Long: `Init writes a small valid workflow to workflows/ID.json, where workbench finds it at
once, or to the given file, whose name is then its id. It writes YAML with --yaml, or
if the name of the file ends like that. "-" is standard output. An existing file is
not changed.`,
		Example: `  workbench workflow init
  workbench workflow init release-notes --yaml
  workbench workflow init ~/.workbench/workflows/release.json`,
		Args: cli.Between(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := sampleID
			if len(args) == 1 {
				name = args[0]
			}
			return initWorkflow(env, name, asYAML)
		},
	}
	cmd.Flags().BoolVar(&asYAML, "yaml", false, "write YAML instead of JSON")
	return cmd
}

func initWorkflow(env *opening.Environment, name string, asYAML bool) error {
	id, file := name, filepath.Join("workflows", name+".json")
	switch {
	case name == "-":
		id = sampleID
	case isWorkflowFile(name):
		file = name
		id = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
		asYAML = asYAML || filepath.Ext(name) == ".yaml" || filepath.Ext(name) == ".yml"
	case asYAML:
		file = filepath.Join("workflows", name+".yaml")
	}
	text, err := sample(id, asYAML)
	if err != nil {
		return err
	}
	if name == "-" {
		_, err := env.Out.Write(text)
		return err
	}
	if err := openfile.MakeFolder(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := openfile.MakeNew(file, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return cli.Hint(fmt.Errorf("%s exists already", file), "name another one")
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(openfile.Advised(err), os.Remove(file))
	}
	follow := id
	if filepath.Dir(file) != "workflows" {
		follow = shellword.Word(file)
	}
	fmt.Fprintf(env.Out, "wrote %s\ncheck it:  %s\nfollow it: %s\n", file, env.Advice("workbench workflow validate "+shellword.Word(file)), env.Advice("workbench workflow walk "+follow))
	return nil
}

// sample is the sample under another id. It is checked, since the id is what somebody typed.
func sample(id string, asYAML bool) ([]byte, error) {
	text := bytes.Replace(definition.Sample(), []byte(`"`+sampleID+`"`), fmt.Appendf(nil, "%q", id), 1)
	if id != sampleID {
		text = bytes.Replace(text, []byte(`"My first workflow"`), fmt.Appendf(nil, "%q", id), 1)
	}
	if _, err := definition.Parse("sample.json", text); err != nil {
		return nil, cli.Hint(cli.Usage(fmt.Errorf("%q cannot be the id of a workflow", id)), "an id has 3 to 64 lower-case letters, digits, '-' and '_', such as release-notes")
	}
	if asYAML {
		return author.ToYAML(text)
	}
	return text, nil
}
