package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/host/toolcaller"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/toolbox"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

func newCommand(env *opening.Environment) *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "new DIR",
		Short: "Make the folder of a command workflow",
		Long: `New makes a folder with workflow.yaml and the files of commands. With --from
toolbox:NAME it starts the servers of the toolbox and writes a file for each tool,
with its description, its effect, and one utterance; add more utterances. If you
delete a file, the command stays as the server defines it.

Without --from there is one command, which runs a program. New never changes an
existing file.`,
		Example: `  workbench commands new notes --from toolbox:dev
  workbench commands new hello`,
		Args: cli.Between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return newCommands(cmd.Context(), env, args[0], from)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "begin with the tools of `toolbox:NAME`")
	return cmd
}

// newFile is the file of a command, as its author goes on with it.
type newFile struct {
	Description string         `yaml:"description"`
	Effect      command.Effect `yaml:"effect"`
	Utterances  []string       `yaml:"utterances,flow"`
	Process     map[string]any `yaml:"process,omitempty"`
}

func newCommands(ctx context.Context, env *opening.Environment, dir, from string) error {
	files := map[string]any{}
	whole, err := cli.Abs(dir)
	if err != nil {
		return err
	}
	name := filepath.Base(whole)
	workflow := map[string]string{"name": name, "description": "Say here what the workflow is for"}
	if from == "" {
		files["commands/version.yaml"] = newFile{"Say which workbench this is", command.Read, []string{"which version is this", "what workbench do I have"},
			map[string]any{"argv": []string{"workbench", "version"}}}
	} else {
		box, ok := strings.CutPrefix(from, config.CommandsToolbox)
		if !ok || box == "" {
			return cli.Usage(fmt.Errorf("--from: %q is not toolbox:NAME", from))
		}
		workflow["extends"] = from
		w, err := projected(ctx, env, box)
		if err != nil {
			return err
		}
		for _, c := range w.Commands {
			description, _, _ := strings.Cut(strings.TrimSpace(c.Description), "\n")
			files["commands/"+c.Name+".yaml"] = newFile{Description: description, Effect: c.Effect, Utterances: []string{command.Spaced(c.Leaf)}}
		}
	}
	files["workflow.yaml"] = workflow
	if _, err := os.Lstat(filepath.Join(dir, "workflow.yaml")); !errors.Is(err, fs.ErrNotExist) {
		return cli.Hint(fmt.Errorf("%s has a workflow.yaml already", dir), "name another folder")
	}
	var written []string
	for file, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(file))
		if !filepath.IsLocal(filepath.FromSlash(file)) {
			return fmt.Errorf("the command %s cannot be a file", file)
		}
		data, err := yaml.Marshal(content)
		if err != nil {
			return err
		}
		if err := openfile.MakeFolder(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := openfile.PutNew(path, data); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		written = append(written, path)
	}
	slices.Sort(written)
	for _, path := range written {
		fmt.Fprintln(env.Out, cli.Shown(path))
	}
	word := cli.Shown(shellword.Word(dir))
	fmt.Fprintln(env.Out, env.Advice(fmt.Sprintf("Next: workbench commands check %s, and workbench commands chat %s", word, word)))
	return nil
}

// projected is a toolbox as a workflow, with its servers started for that.
func projected(ctx context.Context, e *opening.Environment, name string) (*command.Workflow, error) {
	boxes, closeAll, err := e.OpenBoxes(ctx, toolcaller.WithoutCommands, name)
	if err != nil {
		return nil, err
	}
	defer closeAll()
	var tools []command.Tool
	for _, s := range opening.Servers(boxes) {
		if err := opening.Missing(s, false); err != nil {
			return nil, err
		}
		for _, it := range s.Items(toolbox.Tools) {
			tools = append(tools, command.Tool{Toolbox: name, Server: s.Name, Raw: it.Raw})
		}
	}
	if len(tools) == 0 {
		return nil, cli.Hint(fmt.Errorf("the toolbox %s has no tools", name), "try: workbench tools "+shellword.Word(name))
	}
	return command.Project(name, name, tools), nil
}
