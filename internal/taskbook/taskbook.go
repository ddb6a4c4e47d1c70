// Package taskbook keeps which server made which task for whom, so that a task is found again on another connection of
// the same user, and after workbench was restarted.
//
// There is a file for each user and server, so that one server that makes tasks without end costs no other its own. A
// file has no ids, which may be all that is needed to read a task, but digests of them: who asks for a task names it.
// What cannot be read or kept is lost; nothing but such tasks depends on it.
package taskbook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-workbench/workbench/internal/logkey"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

// MaxAge is how long a task is kept at most, also one that says that it has no end.
const MaxAge = 30 * 24 * time.Hour

// Bounds of a file: how many tasks are left when it has become longer than so many bytes.
const (
	maxTasks = 1000
	maxFile  = 128 << 10
)

// Server is a server by its place in the configuration.
type Server struct {
	Toolbox string `json:"toolbox"`
	Name    string `json:"server"`
}

// Book is one folder of such files. It is safe for concurrent use, also by several processes. A nil Book keeps nothing.
type Book struct {
	dir string
	log zerolog.Logger
	mu  sync.Mutex // one writer of this process at a time
}

// New gives the book in a folder, which is made when something is put there. What cannot be read or kept is said to
// log, at debug.
func New(dir string, log zerolog.Logger) *Book { return &Book{dir: dir, log: log} }

func digest(of string) string {
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:16])
}

const suffix = ".tasks"

func (b *Book) path(user string, of Server) string {
	return filepath.Join(b.dir, digest(user)+"-"+digest(of.Toolbox+"\x00"+of.Name)+suffix)
}

// Put notes that a server made a task for a user, who knows it by an id, and until when it is worth asking for.
func (b *Book) Put(user, id string, of Server, until time.Time) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.put(b.path(user, of), id, of, until); err != nil {
		b.log.Debug().AnErr(logkey.Err, err).Msg("a task cannot be kept for other connections")
	}
}

func (b *Book) put(path, id string, of Server, until time.Time) error {
	if err := openfile.MakeFolder(b.dir, 0o700); err != nil {
		return err
	}
	size, err := add(path, fmt.Sprintf("%s %d\n", digest(id), until.Unix()), of)
	if err != nil || size < maxFile {
		return err
	}
	return shorten(path, of) // after the file was closed, for Windows replaces none that is open
}

// add puts a line at the end of a file, and gives the size that it had.
func add(path, line string, of Server) (size int64, err error) {
	f, err := openfile.Append(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if info.Size() == 0 {
		line = string(head(of)) + line
	}
	_, err = f.WriteString(line)
	return info.Size(), err
}

// head is the first line of a file.
func head(of Server) []byte {
	text, err := json.Marshal(of)
	if err != nil {
		panic("taskbook: names cannot be encoded: " + err.Error())
	}
	return append(text, '\n')
}

// shorten leaves the newest tasks in a file.
func shorten(path string, of Server) error {
	data, _, err := openfile.Read(path, 2*maxFile)
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	kept := head(of)
	for _, line := range lines[max(0, len(lines)-maxTasks):] {
		if len(line) > 0 && line[0] != '{' {
			kept = append(kept, line...)
		}
	}
	return openfile.Replace(path, kept)
}

// Get returns the server that made a task for a user, who names it by its id.
func (b *Book) Get(user, id string) (of Server, ok bool) {
	if b == nil {
		return Server{}, false
	}
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			b.log.Debug().AnErr(logkey.Err, err).Msg("tasks of other connections cannot be read")
		}
		return Server{}, false
	}
	now, wanted := time.Now(), digest(id)
	for _, e := range entries {
		path := filepath.Join(b.dir, e.Name())
		if info, err := e.Info(); err != nil || !strings.HasSuffix(e.Name(), suffix) {
			continue
		} else if now.Sub(info.ModTime()) > MaxAge {
			_ = os.Remove(path) // another process may have done it
			continue
		}
		if !strings.HasPrefix(e.Name(), digest(user)+"-") {
			continue
		}
		if of, ok := find(path, wanted, now); ok {
			return of, true
		}
	}
	return Server{}, false
}

// find looks for a task in a file.
func find(path, wanted string, now time.Time) (of Server, ok bool) {
	data, info, err := openfile.Read(path, 2*maxFile)
	if err != nil || !openfile.Private(info) {
		return Server{}, false
	}
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	if json.Unmarshal(first, &of) != nil {
		return Server{}, false
	}
	for line := range bytes.Lines(rest) {
		key, until, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		if seconds, err := strconv.ParseInt(until, 10, 64); key == wanted && err == nil && seconds > now.Unix() {
			return of, true
		}
	}
	return Server{}, false
}
