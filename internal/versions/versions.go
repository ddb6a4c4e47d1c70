// Package versions changes files that people keep. A file is there whole or not at all, keeps its mode and the link
// that leads to it, and its last five versions are kept in a folder, so that changes can be undone one by one.
//
//	Change ── new text ──▶ file      (its old text is kept)
//	Undo   ── old text ──▶ file
//
// A folder may be used by several processes at once.
package versions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/slots"
)

// most is how many versions of a file are kept.
const most = 5

// maxSize bounds a file, in bytes.
const maxSize = 32 << 20

// Errors of Undo.
var (
	ErrNone    = errors.New("no earlier version is kept")
	ErrChanged = errors.New("somebody else has changed the file since")
)

// Versions are kept in one folder.
type Versions struct {
	dir   string
	turns *slots.Slots
}

// New uses a folder, which is made when the first version is kept.
func New(dir string) *Versions { return &Versions{dir: dir, turns: slots.New(dir, 1)} }

// version is one that is kept: its name is the time, the digest of what came after it, and "none" if there was no file.
type version struct {
	name, after string
	at          int64 // in Unix nanoseconds, and after those before it
	none        bool
}

// Change replaces the text of a file by what change makes of it, and keeps the old one. Nil stands for no file, both
// ways. A text that stays the same is not written.
func (v *Versions) Change(ctx context.Context, path string, change func(old []byte) ([]byte, error)) error {
	path, done, err := v.begin(ctx, path)
	if err != nil {
		return err
	}
	defer done()
	old, mode, err := read(path)
	if err != nil {
		return err
	}
	text, err := change(old)
	if err != nil || (old == nil) == (text == nil) && string(old) == string(text) {
		return err
	}
	if err := v.keep(path, old, text); err != nil {
		return fmt.Errorf("the old version cannot be kept: %w", err)
	}
	if err := write(path, text, mode); err != nil {
		return err
	}
	v.trim(path)
	return nil
}

// Undo brings the last version of a file back, and is what it was before the last Change. It fails with ErrNone where
// there is none, and with ErrChanged where what Change wrote is not there any more, unless anyway is set.
func (v *Versions) Undo(ctx context.Context, path string, anyway bool) error {
	path, done, err := v.begin(ctx, path)
	if err != nil {
		return err
	}
	defer done()
	now, mode, err := read(path)
	if err != nil {
		return err
	}
	list, unmade, err := v.list(path, now)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return ErrNone
	}
	last := list[len(list)-1]
	if digest(now) != last.after && !anyway {
		return ErrChanged
	}
	text, err := v.text(path, last)
	if err != nil {
		return err
	}
	if err := write(path, text, mode); err != nil {
		return err
	}
	return v.remove(path, append(unmade, last))
}

// Earlier returns the texts that a file had before its changes, the last one first, as far back as nobody else has
// changed it. The text nil stands for no file.
func (v *Versions) Earlier(path string) ([][]byte, error) {
	path = real(path)
	now, _, err := read(path)
	if err != nil {
		return nil, err
	}
	list, _, err := v.list(path, now)
	if err != nil {
		return nil, err
	}
	var texts [][]byte
	for _, kept := range slices.Backward(list) {
		if kept.after != digest(now) {
			break
		}
		if now, err = v.text(path, kept); err != nil {
			return nil, err
		}
		texts = append(texts, now)
	}
	return texts, nil
}

// begin waits until nobody else changes the file, and finds out where it really is.
func (v *Versions) begin(ctx context.Context, path string) (string, func(), error) {
	path = real(path)
	if err := openfile.MakeFolder(v.dir, 0o700); err != nil {
		return "", nil, fmt.Errorf("there is no place for versions: %w", err)
	}
	done, err := v.turns.Take(ctx, path)
	return path, done, err
}

// maxLinks is how many links to a file that does not exist are followed, as many as Linux follows.
const maxLinks = 40

// real follows the links of a path, so that links stay when the file is replaced, and a file has the same name before
// it exists and after. Where links lead in a circle, reading the path fails.
func real(path string) string {
	for range maxLinks {
		target, err := filepath.EvalSymlinks(path)
		if err == nil {
			return target
		}
		dir := filepath.Dir(path)
		if !errors.Is(err, fs.ErrNotExist) || dir == path {
			return path
		}
		dir = real(dir)
		path = filepath.Join(dir, filepath.Base(path))
		link, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if path = link; !filepath.IsAbs(link) {
			path = filepath.Join(dir, link)
		}
	}
	return path
}

func (v *Versions) folder(path string) string { return filepath.Join(v.dir, digest([]byte(path))) }

// digest names a text; "" is no file.
func digest(text []byte) string {
	if text == nil {
		return "none"
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// list returns the versions of a file with the text now, the oldest first, and apart from them those of changes that
// were not made after all: they could not be written, or the process was killed before. Then the file still has the
// text that was kept.
func (v *Versions) list(path string, now []byte) (made, unmade []version, err error) {
	made, err = v.all(path)
	for len(made) > 0 {
		last := made[len(made)-1]
		if text, err := v.text(path, last); err != nil || last.after == digest(now) || digest(text) != digest(now) {
			break
		}
		made, unmade = made[:len(made)-1], append(unmade, last)
	}
	return made, unmade, err
}

func (v *Versions) remove(path string, those []version) (err error) {
	for _, kept := range those {
		err = errors.Join(err, os.Remove(filepath.Join(v.folder(path), kept.name)))
	}
	return err
}

// trim takes away the oldest of too many versions. One that stays harms nobody.
func (v *Versions) trim(path string) {
	if all, err := v.all(path); err == nil && len(all) > most {
		_ = v.remove(path, all[:len(all)-most])
	}
}

func (v *Versions) all(path string) ([]version, error) {
	entries, err := os.ReadDir(v.folder(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []version
	for _, e := range entries { // by name, so by time
		parts := strings.Split(e.Name(), "-")
		if len(parts) != 3 || !e.Type().IsRegular() {
			continue
		}
		if at, err := strconv.ParseInt(parts[0], 10, 64); err == nil && at < math.MaxInt64 {
			list = append(list, version{name: e.Name(), at: at, after: parts[1], none: parts[2] == "none"})
		}
	}
	return list, nil
}

func (v *Versions) text(path string, kept version) ([]byte, error) {
	if kept.none {
		return nil, nil
	}
	text, _, err := openfile.Read(filepath.Join(v.folder(path), kept.name), maxSize)
	if err == nil && text == nil {
		text = []byte{}
	}
	return text, err
}

// keep puts a version with the others.
func (v *Versions) keep(path string, old, text []byte) error {
	folder := v.folder(path)
	if err := openfile.MakeFolder(folder, 0o700); err != nil {
		return err
	}
	list, unmade, err := v.list(path, old)
	if err != nil {
		return err
	}
	if err := v.remove(path, unmade); err != nil {
		return err
	}
	was := "file"
	if old == nil {
		was = "none"
	}
	at := time.Now().UnixNano()
	if len(list) > 0 {
		at = max(at, list[len(list)-1].at+1) // the clock may have been put back
	}
	name := fmt.Sprintf("%020d-%s-%s", at, digest(text), was)
	return openfile.Replace(filepath.Join(folder, name), old)
}

// read returns the text of a file and its mode; nil where there is none.
func read(path string) ([]byte, fs.FileMode, error) {
	text, info, err := openfile.Read(path, maxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0o600, nil
	case err != nil:
		return nil, 0, err
	case text == nil:
		text = []byte{}
	}
	return text, info.Mode().Perm(), nil
}

// write replaces a file, or removes it.
func write(path string, text []byte, mode fs.FileMode) error {
	if text == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := openfile.MakeFolder(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return openfile.Write(path, func(f *os.File) error {
		if _, err := f.Write(text); err != nil {
			return err
		}
		return f.Chmod(mode)
	})
}
