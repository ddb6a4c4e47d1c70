package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/logqueue"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/toolbox"
)

// logEnd is how long the log may take to be written at the end.
const logEnd = 100 * time.Millisecond

// logger makes the program's logger. On a terminal it is made for eyes, else one
// JSON object a line. Nobody who tells it something waits for who reads it.
func (e *environment) logger() (zerolog.Logger, error) {
	level := zerolog.Disabled
	if e.logLevel != "off" {
		var err error
		if level, err = zerolog.ParseLevel(e.logLevel); err != nil || level < zerolog.DebugLevel || level > zerolog.ErrorLevel {
			return zerolog.Nop(), usageError{fmt.Errorf("--log-level: got %q, want debug, info, warn, error or off", e.logLevel)}
		}
	}
	var w io.Writer = e.err
	if e.logFile != "" {
		f, err := openfile.Append(e.logFile)
		if err != nil {
			return zerolog.Nop(), fmt.Errorf("--log-file: %w", err)
		}
		w = f
	} else if isTerminal(e.err) {
		w = zerolog.ConsoleWriter{Out: e.err, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(e.logs.to(w)).Level(level).With().Timestamp().Logger(), nil
}

// droppedLines is the line that stands for n lines of the log that nobody read in time.
func droppedLines(n int) []byte {
	var line bytes.Buffer
	log := zerolog.New(&line).With().Timestamp().Logger()
	log.Warn().Int(logkey.Dropped, n).Msg("lines of the log were dropped")
	return line.Bytes()
}

// logs are those that the program writes.
type logs struct {
	mu  sync.Mutex
	all []*logqueue.Writer
}

// to returns what writes a log to w.
func (l *logs) to(w io.Writer) io.Writer {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := logqueue.New(w, droppedLines)
	l.all = append(l.all, queue)
	return queue
}

// close has what was logged written, if that does not take long.
func (l *logs) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, queue := range l.all {
		queue.Close(logEnd)
	}
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
