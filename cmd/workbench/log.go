package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/toolbox"
)

// logger makes the program's logger; close ends its file. On a terminal it is
// made for eyes, else one JSON object a line.
func (e *environment) logger() (_ zerolog.Logger, close func() error, err error) {
	close = func() error { return nil }
	level := zerolog.Disabled
	if e.logLevel != "off" {
		if level, err = zerolog.ParseLevel(e.logLevel); err != nil || level < zerolog.DebugLevel || level > zerolog.ErrorLevel {
			return zerolog.Nop(), close, usageError{fmt.Errorf("--log-level: got %q, want debug, info, warn, error or off", e.logLevel)}
		}
	}
	var w io.Writer = e.err
	if e.logFile != "" {
		f, err := openfile.Append(e.logFile)
		if err != nil {
			return zerolog.Nop(), close, fmt.Errorf("--log-file: %w", err)
		}
		w, close = f, f.Close
	} else if isTerminal(e.err) {
		w = zerolog.ConsoleWriter{Out: e.err, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(w).Level(level).With().Timestamp().Logger(), close, nil
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// logEvent writes a change of a server's state.
func logEvent(log zerolog.Logger) func(toolbox.Event) {
	return func(e toolbox.Event) {
		ev := log.Info()
		switch e.Status.State {
		case toolbox.Starting:
			ev = log.Debug()
		case toolbox.Backoff, toolbox.Open, toolbox.Failed, toolbox.NeedsLogin:
			ev = log.Warn()
		}
		ev = ev.Str(logkey.Toolbox, e.Toolbox).Str(logkey.Server, e.Server)
		if e.Status.PID != 0 {
			ev = ev.Int(logkey.PID, e.Status.PID)
		}
		if e.Status.State == toolbox.Ready {
			ev = ev.Dur(logkey.Dur, e.Took)
		}
		if e.Status.Starts > 1 {
			ev = ev.Int(logkey.Attempt, e.Status.Starts)
		}
		if e.Status.Cause != nil {
			ev = ev.AnErr(logkey.Err, e.Status.Cause)
		}
		ev.Msg("server " + string(e.Status.State))
	}
}
