package main

import (
	"path/filepath"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/opening"
	"github.com/mcp-workbench/workbench/internal/habits"
	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/taskbook"
)

// taskBook is where it is kept which server made which task; nil if there is no place for it.
func taskBook(e *opening.Environment, log zerolog.Logger) *taskbook.Book {
	dir, err := e.StateDir()
	if err != nil {
		log.Debug().AnErr(logkey.Err, err).Msg("there is no place for tasks")
		return nil
	}
	return taskbook.New(filepath.Join(dir, "tasks"), log)
}

// seenClients is where it is kept what was seen of clients; nil if there is no place for it.
func seenClients(e *opening.Environment, log zerolog.Logger) *habits.Memory {
	dir, err := e.StateDir()
	if err != nil {
		log.Debug().AnErr(logkey.Err, err).Msg("there is no place for the notes on clients")
		return nil
	}
	return habits.New(filepath.Join(dir, "clients.json"), log)
}
