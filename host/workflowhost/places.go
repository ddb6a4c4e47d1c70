package workflowhost

import (
	"context"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/gitaddress"
	"github.com/mcp-workbench/workbench/internal/gitfiles"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/workflowsrv/definition"
	"github.com/mcp-workbench/workbench/workflowsrv/library"
)

// Places are where workflows are looked for.
type Places struct {
	Project func() (string, error) // the folder that the program works in
	Home    string                 // of the user
	Path    string                 // more folders, as in PATH
	// Keeper keeps the workflows of git repositories.
	Keeper func() (gitfiles.Keeper, error)
	Logger zerolog.Logger

	fetching sync.WaitGroup
}

// Sources gives the places with those that a configuration adds, and the folder of the project. Folders are those of
// the client's projects, none if they are not known. What is not there of a git repository is fetched meanwhile, once.
func (p *Places) Sources(added, folders []string) (sources []definition.Source, project string, err error) {
	if project, err = p.Project(); err != nil {
		return nil, "", err
	}
	dirs, fetched, err := p.repositories(added)
	layers := definition.Layers{Embedded: library.Files(), Home: p.Home, Project: project, Folders: folders, Path: p.Path, Dirs: dirs, Fetched: fetched}
	if len(folders) > 0 {
		project = folders[0]
	}
	return layers.Sources(), project, err
}

// repositories gives the folders for places of workflows: a git repository is the folder where its files are kept, and
// absent says of each why it is not there.
func (p *Places) repositories(places []string) (dirs []string, absent map[string]func() string, err error) {
	absent = map[string]func() string{}
	for _, place := range places {
		if !strings.HasPrefix(place, gitaddress.Prefix) {
			dirs = append(dirs, place)
			continue
		}
		r, err := gitaddress.Parse(place)
		if err != nil {
			return nil, nil, err
		}
		keeper, err := p.Keeper()
		if err != nil {
			return nil, nil, err
		}
		var mu sync.Mutex
		why := "it is being fetched"
		dir := keeper.Folder(r)
		dirs = append(dirs, dir)
		absent[dir] = func() string {
			mu.Lock()
			defer mu.Unlock()
			return why
		}
		if keeper.Commit(r) != "" {
			continue
		}
		p.fetching.Go(func() {
			commit, err := keeper.Fetch(context.Background(), r, definition.IsWorkflowName)
			if err != nil {
				p.Logger.Warn().AnErr(logkey.Err, err).Str(logkey.URL, r.URL).Msg("workflows of a repository could not be fetched")
				mu.Lock()
				why = err.Error()
				mu.Unlock()
				return
			}
			p.Logger.Info().Str(logkey.URL, r.URL).Str(logkey.Detail, commit).Msg("workflows of a repository were fetched")
		})
	}
	return dirs, absent, nil
}
