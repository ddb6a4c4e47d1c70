package pageview

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/mask"
	"github.com/mcp-workbench/workbench/internal/page"
)

// shownConfig is what the page is told of the configuration.
type shownConfig struct {
	Files   []shownFile     `json:"files"`
	Faults  []shownFault    `json:"faults"`
	Checked json.RawMessage `json:"checked"` // what workbench check --json says
}

type shownFile struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

type shownFault struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// configuration shows the files of the configuration.
type configuration struct {
	files func() (paths []string, wrong, err error)
	run   commands
}

// show gives the files with what is wrong with them, and what check finds.
func (c configuration) show(ctx context.Context, _ *page.Query) (any, error) {
	paths, wrong, err := c.files()
	if err != nil {
		return nil, err
	}
	shown := shownConfig{Files: []shownFile{}, Faults: []shownFault{}}
	if faults, ok := errors.AsType[*config.Error](wrong); ok {
		for _, f := range faults.Faults {
			shown.Faults = append(shown.Faults, shownFault{f.File, f.Line, foreign.NewText(f.Message).String(), foreign.NewText(f.Hint).String()})
		}
	}
	for _, path := range paths {
		src, err := config.Read(path)
		if err != nil {
			shown.Faults = append(shown.Faults, shownFault{File: path, Message: foreign.NewText(err.Error()).String()})
			continue
		}
		shown.Files = append(shown.Files, shownFile{path, foreign.Block(mask.Settings(path, src.Data))})
	}
	shown.Checked, err = c.run.json(ctx, "check", "--json")
	return shown, err
}
