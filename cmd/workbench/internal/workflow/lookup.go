package workflow

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/internal/nearest"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/shellword"
	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// workflowOf finds a workflow by its id or by its file. file is "" for one that is part of the program.
func workflowOf(e *opening.Environment, name string) (w *definition.Workflow, file string, opts workflowsrv.Options, err error) {
	if !isWorkflowFile(name) {
		c, opts, err := readCatalogue(e)
		if err != nil {
			return nil, "", opts, err
		}
		entry, err := findWorkflow(c, name)
		if err != nil {
			return nil, "", opts, err
		}
		if entry.Origin == definition.Embedded {
			return entry.Workflow, "", opts, nil
		}
		return entry.Workflow, entry.File, opts, nil
	}
	if opts, err = e.Configured("", zerolog.Nop()); err != nil {
		return nil, "", opts, err
	}
	data, _, err := openfile.Read(name, definition.MaxFileSize)
	if err != nil {
		return nil, "", opts, err
	}
	routines, err := routinesFor(e, []string{name})
	if err != nil {
		return nil, "", opts, err
	}
	w, err = definition.ParseWith(name, data, routines(data))
	var bad *definition.Error
	if errors.As(err, &bad) {
		err = cli.Hint(fmt.Errorf("%s is not valid", name), "workbench workflow validate "+shellword.Word(name)+" says why")
	}
	return w, name, opts, err
}

// isWorkflowFile tells the name of a file from an id.
func isWorkflowFile(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json", ".yaml", ".yml":
		return true
	}
	return strings.ContainsRune(name, filepath.Separator) || strings.Contains(name, "/")
}

// readCatalogue reads the workflows that apply here.
func readCatalogue(e *opening.Environment) (*definition.Catalogue, workflowsrv.Options, error) {
	opts, err := e.Configured("", zerolog.Nop())
	if err != nil {
		return nil, opts, err
	}
	e.Hosts.Workflows.Wait()
	return definition.NewStore(opts.Sources).Catalogue(), opts, nil
}

// findWorkflow looks up a workflow by its id.
func findWorkflow(c *definition.Catalogue, id string) (*definition.Entry, error) {
	if e := c.Entry(id); e != nil {
		return e, nil
	}
	for _, f := range c.Invalid {
		if f.ID == id {
			return nil, cli.Hint(fmt.Errorf("workflow %q: %s is not valid", id, f.File),
				"workbench workflow validate "+shellword.Word(f.File)+" says why")
		}
	}
	return nil, cli.Hint(fmt.Errorf("there is no workflow %q", id), nearest.Before(id, c.IDs(), "workbench workflow list shows what there is"))
}

// needs wants from least to most arguments, as cli.Between does, and says what they are.
func needs(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if cli.Between(least, most)(cmd, args) == nil {
			return nil
		}
		return cli.Hint(cli.Usage(fmt.Errorf("%s needs %s", cmd.Name(), what)), cmd.CommandPath()+" --help says more")
	}
}

// oneID wants the id of a workflow.
func oneID(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return cli.Hint(cli.Usage(fmt.Errorf("%s needs the id of one workflow", cmd.Name())), "workbench workflow list shows what there is")
}

// completeWorkflow offers the ids for shell completion.
func completeWorkflow(e *opening.Environment) cli.Completion {
	return cli.Offer(func() []string {
		defer e.Quiet()()
		c, _, err := readCatalogue(e)
		if err != nil {
			return nil
		}
		return c.IDs()
	})
}

// routinesFor gives what finds the routines that the content of a file can call: those that lie beside the files, in
// folders named routines there, and in the places of workflows. All these places are read for the first file that calls
// a routine.
func routinesFor(e *opening.Environment, files []string) (func(data []byte) definition.Routines, error) {
	var dirs []string
	for _, file := range files {
		dir := filepath.Dir(file)
		for _, dir := range []string{dir, filepath.Join(dir, "routines")} {
			if !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	sources, _, err := e.WorkflowPlaces(zerolog.Nop()).Sources(dirs, nil)
	if err != nil {
		return nil, err
	}
	read := sync.OnceValue(func() definition.Routines { return definition.NewStore(sources).Catalogue().Routines() })
	return func(data []byte) definition.Routines {
		if !definition.CallsRoutines(data) {
			return nil
		}
		return read()
	}, nil
}

// workflowFiles puts the workflow files of a directory in its place.
func workflowFiles(names []string) ([]string, error) {
	var files []string
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil || !info.IsDir() {
			files = append(files, name)
			continue
		}
		entries, err := os.ReadDir(name)
		if err != nil {
			return nil, err
		}
		found := 0
		for _, entry := range entries {
			if !entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") && isWorkflowFile(entry.Name()) {
				files = append(files, filepath.Join(name, entry.Name()))
				found++
			}
		}
		if found == 0 {
			return nil, cli.Hint(fmt.Errorf("there is no workflow file in %s", name), "their names end in .json, .yaml or .yml")
		}
	}
	return files, nil
}
