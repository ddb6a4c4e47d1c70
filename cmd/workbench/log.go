package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
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
	var file *logFile
	if e.logFile != "" {
		file = &logFile{path: e.logFile}
		if err := file.reopen(); err != nil {
			return zerolog.Nop(), fmt.Errorf("--log-file: %w", err)
		}
		w = file
	} else if isTerminal(e.err) {
		w = zerolog.ConsoleWriter{Out: e.err, TimeFormat: time.TimeOnly}
	}
	log := zerolog.New(e.logs.to(w)).Level(level).With().Timestamp().Logger()
	if file != nil {
		file.log = log
		e.logs.mu.Lock()
		e.logs.files = append(e.logs.files, file)
		e.logs.mu.Unlock()
	}
	return log, nil
}

// droppedLines is the line that stands for n lines of the log that nobody read in time.
func droppedLines(n int) []byte {
	var line bytes.Buffer
	log := zerolog.New(&line).With().Timestamp().Logger()
	log.Warn().Int(logkey.Dropped, n).Msg("lines of the log were dropped")
	return line.Bytes()
}

// logFile is a file that lines are appended to. It can be moved away: then a new one is made when it is opened again.
type logFile struct {
	path string
	log  zerolog.Logger // which writes to it
	f    atomic.Pointer[os.File]
}

func (l *logFile) Write(line []byte) (int, error) {
	for {
		f := l.f.Load()
		n, err := f.Write(line)
		if !errors.Is(err, os.ErrClosed) || f == l.f.Load() {
			return n, err
		}
	}
}

// reopen opens the file that has the name now. If that fails, the one before goes on.
func (l *logFile) reopen() error {
	f, err := openfile.Append(l.path)
	if err != nil {
		return err
	}
	if old := l.f.Swap(f); old != nil {
		_ = old.Close()
	}
	return nil
}

// logs are those that the program writes.
type logs struct {
	mu    sync.Mutex
	all   []*logqueue.Writer
	files []*logFile
}

// reopen opens the files of the logs again.
func (l *logs) reopen() {
	l.mu.Lock()
	files := l.files
	l.mu.Unlock()
	for _, f := range files {
		if err := f.reopen(); err != nil {
			f.log.Warn().AnErr(logkey.Err, err).Msg("the log file cannot be opened again; the one before goes on")
		}
	}
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
		case toolbox.Starting, toolbox.Installing:
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
