package commandhost

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/workflowsrv/command"
)

// An edited folder is looked at when its commands are wanted, at most once in this time.
const lookAgain = time.Second

// An editedFolder notices that the folder of a workflow was edited. It is for one goroutine at a time.
type editedFolder struct {
	load func(context.Context) (*command.Workflow, error)
	log  zerolog.Logger
	dir  string
	name string // of the workflow, which its conversations are kept under
	with command.Options

	at    time.Time
	print string // of the folder that is served
	told  string // why, and of which folder, another is not
}

// engine runs the workflow as it now is, if that is another one than before and can be used; otherwise it is nil, and
// what was served goes on.
func (e *editedFolder) engine(ctx context.Context) *command.Engine {
	if time.Since(e.at) < lookAgain {
		return nil
	}
	e.at = time.Now()
	print := footprint(e.dir)
	if print == e.print {
		return nil
	}
	w, err := e.load(context.WithoutCancel(ctx))
	if err == nil && w.Name != e.name {
		err = fmt.Errorf("its name is %q now, and was %q, under which conversations are kept; start workbench again for that", w.Name, e.name)
	}
	if err != nil { // it is tried again: what was wrong may have been the moment
		if told := print + err.Error(); told != e.told {
			e.told = told
			e.log.Error().AnErr(logkey.Err, err).Str(logkey.Detail, e.dir).Msg("edited commands cannot be served")
		}
		return nil
	}
	e.print, e.told = print, ""
	e.log.Info().Str(logkey.Detail, e.dir).Msg("edited commands are served")
	return command.New(w, e.with)
}

// footprint tells a workflow from what it was, by the names, sizes and times of the files in its folder and in those
// that it extends.
func footprint(dir string) string {
	root, err := OpenFolder(dir)
	if err != nil {
		return err.Error()
	}
	defer root.Close()
	h, seen := sha256.New(), 0
	for _, folder := range command.Folders(root.FS(), root.Options()) {
		files := root.FS()
		if folder != "." {
			if files, err = root.open(folder); err != nil {
				continue // Folders has just read it: the next look tells
			}
		}
		for _, part := range []string{"workflow.yaml", "workflow.yml", "contexts", "commands"} {
			_ = fs.WalkDir(files, part, func(path string, d fs.DirEntry, err error) error {
				if err != nil {
					return nil // what is not there has no footprint
				}
				if seen++; seen > maxFootprint {
					return fs.SkipAll
				}
				if info, err := fs.Stat(files, path); err == nil && !info.IsDir() {
					fmt.Fprintf(h, "%s\x00%s\x00%d\x00%d\x00", folder, path, info.Size(), info.ModTime().UnixNano())
				}
				return nil
			})
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// maxFootprint is more than a workflow may have.
const maxFootprint = 10_000
