package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/cmd/workbench/internal/logfile"
	"github.com/mcp-workbench/workbench/cmd/workbench/internal/terminal"
	"github.com/mcp-workbench/workbench/internal/logkey"
)

// Logger makes the program's logger. On a terminal it is made for eyes, else one JSON object a line. Nobody who tells
// it something waits for who reads it.
func (e *Environment) Logger() (zerolog.Logger, error) {
	level := zerolog.Disabled
	if e.LogLevel != "off" {
		var err error
		if level, err = zerolog.ParseLevel(e.LogLevel); err != nil || level < zerolog.DebugLevel || level > zerolog.ErrorLevel {
			return zerolog.Nop(), Usage(fmt.Errorf("--log-level: got %q, want debug, info, warn, error or off", e.LogLevel))
		}
	}
	var w io.Writer = e.Err
	var file *logfile.File
	if e.LogFile != "" {
		var err error
		if file, err = logfile.Open(e.LogFile); err != nil {
			return zerolog.Nop(), fmt.Errorf("--log-file: %w", err)
		}
		w = file
	} else if terminal.Is(e.Err) {
		w = zerolog.ConsoleWriter{Out: e.Err, NoColor: !terminal.Draws(e.Err, e.Lookup), TimeFormat: time.TimeOnly, FieldsExclude: []string{logkey.Workbench}}
	}
	log := logfile.New(e.Logs.To(w)).Level(level)
	if file != nil {
		e.Logs.Follow(file, log)
	}
	return log, nil
}
