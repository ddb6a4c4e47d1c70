package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/cli"
	"github.com/mcp-workbench/workbench/config"
	"github.com/mcp-workbench/workbench/internal/foreign"
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
}

// config gives the files of the configuration with what is wrong with them, and what check finds.
func (v *viewing) config(ctx context.Context, _ *page.Query) (any, error) {
	shown := shownConfig{Files: []shownFile{}, Faults: []shownFault{}}
	from, err := cli.FindSources(v.env.Environment)
	if err != nil {
		return nil, err
	}
	_, err = from.Load((*config.Source).Parse)
	var faults *config.Error
	if errors.As(err, &faults) {
		for _, f := range faults.Faults {
			shown.Faults = append(shown.Faults, shownFault{f.File, f.Line, foreign.NewText(f.Message).String()})
		}
	}
	for _, path := range []string{from.Places.Named, from.Places.User, from.Places.Project} {
		if path == "" {
			continue
		}
		src, err := config.Read(path)
		if err != nil {
			shown.Faults = append(shown.Faults, shownFault{path, 0, foreign.NewText(err.Error()).String()})
			continue
		}
		shown.Files = append(shown.Files, shownFile{path, foreign.Block(masked(path, src.Data))})
	}
	shown.Checked, err = v.json(ctx, "check", "--json")
	return shown, err
}
