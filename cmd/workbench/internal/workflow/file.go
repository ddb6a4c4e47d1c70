package workflow

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/workflowsrv"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
)

// workflowOf finds a workflow by its id or by its file. file is "" for one that
// is part of the program.
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
	routines, err := readRoutines(e, []string{name})
	if err != nil {
		return nil, "", opts, err
	}
	w, err = new(definition.Parser).ParseWith(name, data, routines)
	var bad *definition.Error
	if errors.As(err, &bad) {
		err = cli.Hint(fmt.Errorf("%s is not valid", name), "workbench workflow validate "+name+" says why")
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
