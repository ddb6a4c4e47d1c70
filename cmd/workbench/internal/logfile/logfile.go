// Package logfile writes the logs of the program: by queues that nobody waits for, and into files that are opened again
// when they were moved away.
package logfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/logqueue"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

// end is how long the log may take to be written at the end.
const end = 100 * time.Millisecond

// New makes a logger whose lines say when they were written, and by which process: several may write to one file.
func New(w io.Writer) zerolog.Logger {
	return zerolog.New(w).With().Timestamp().Int(logkey.Workbench, os.Getpid()).Logger()
}

// Dropped is the line that stands for n lines of the log that nobody read in time.
func Dropped(n int) []byte {
	var line bytes.Buffer
	log := New(&line)
	log.Warn().Int(logkey.Dropped, n).Msg("lines of the log were dropped")
	return line.Bytes()
}

// File is a file that lines are appended to. It can be moved away: then a new one is made when it is opened again.
type File struct {
	path string
	log  zerolog.Logger // which writes to it
	f    atomic.Pointer[os.File]
}

func (l *File) Write(line []byte) (int, error) {
	for {
		f := l.f.Load()
		n, err := f.Write(line)
		if !errors.Is(err, os.ErrClosed) || f == l.f.Load() {
			return n, err
		}
	}
}

// Open opens a file that lines are appended to.
func Open(path string) (*File, error) {
	l := &File{path: path}
	return l, l.reopen()
}

// reopen opens the file that has the name now. If that fails, the one before goes on.
func (l *File) reopen() error {
	f, err := openfile.Append(l.path)
	if err != nil {
		return err
	}
	if old := l.f.Swap(f); old != nil {
		_ = old.Close()
	}
	return nil
}

// Logs are those that the program writes.
type Logs struct {
	mu    sync.Mutex
	all   []*logqueue.Writer
	files []*File
}

// Reopen opens the files of the logs again.
func (l *Logs) Reopen() {
	l.mu.Lock()
	files := l.files
	l.mu.Unlock()
	for _, f := range files {
		if err := f.reopen(); err != nil {
			f.log.Warn().AnErr(logkey.Err, err).Msg("the log file cannot be opened again; the one before stays in use")
		}
	}
}

// Follow has a file opened again with the others; log is what says that it cannot be.
func (l *Logs) Follow(file *File, log zerolog.Logger) {
	l.mu.Lock()
	defer l.mu.Unlock()
	file.log = log
	l.files = append(l.files, file)
}

// To returns what writes a log to w.
func (l *Logs) To(w io.Writer) io.Writer {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := logqueue.New(w, Dropped)
	l.all = append(l.all, queue)
	return queue
}

// Close has what was logged written, if that does not take long.
func (l *Logs) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var closing sync.WaitGroup
	for _, queue := range l.all {
		closing.Go(func() { queue.Close(end) })
	}
	closing.Wait()
}
