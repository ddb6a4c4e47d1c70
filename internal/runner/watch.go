package runner

import (
	"crypto/rand"
	"crypto/sha512"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/child"
	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

const (
	// maxLooked is how many entries of caches are looked at each time.
	maxLooked = 4000
	// lookDepth is how deep the folders are that are looked at, below the cache.
	lookDepth = 3
	// coarseTime is how much earlier than it was a file system may say that something changed.
	coarseTime = 20 * time.Millisecond
	// quietTime is how long nothing may have changed in a folder in which nobody installs.
	quietTime = time.Minute
	// lockTouch is more than the time within which a living npm touches its lock again.
	lockTouch = 2500 * time.Millisecond
)

// A Watch tells whether a runner that was started is installing. It is used by one goroutine.
type Watch struct {
	r      *Runner
	env    variables
	began  time.Time
	caches []string
	stood  map[string]bool // the folders of npx that were whole before it was started
	seen   bool
}

// variables are an environment, of KEY=VALUE.
type variables []string

// of gives the value of a variable, "" if it is not set.
func (v variables) of(name string) string {
	value, _ := child.Getenv(v, name)
	return value
}

// Watch begins to watch a runner that is about to be started with an environment, KEY=VALUE. What an earlier
// installation of the same package has left torn is taken away.
func (r *Runner) Watch(environ []string) *Watch {
	w := &Watch{r: r, env: environ, stood: make(map[string]bool)}
	if r.kind.caches != nil {
		w.caches = slices.DeleteFunc(r.kind.caches(w.env), func(dir string) bool { return dir == "" })
	}
	w.clear()
	if dir := w.npxDir(); dir != "" && isWhole(dir) {
		w.stood[dir] = true
	}
	w.began = time.Now().Add(-coarseTime)
	return w
}

// Installing reports whether the runner has been seen to install: its cache has changed since it was started, or it
// writes what it writes then.
func (w *Watch) Installing(written foreign.Words) bool {
	if w.seen {
		return true
	}
	w.seen = w.grew() || slices.ContainsFunc(written, func(line foreign.Text) bool { return w.r.kind.says.MatchString(line.String()) })
	return w.seen
}

// grew reports whether a folder of the caches has changed since the start. Times of files may be coarse: a change
// within the second of the start is not counted unless it came after it.
func (w *Watch) grew() bool {
	left := maxLooked
	for _, dir := range w.caches {
		if w.changed(dir, lookDepth, &left) {
			return true
		}
	}
	return false
}

func (w *Watch) changed(dir string, depth int, left *int) bool {
	if w.stood[dir] {
		dir, depth = filepath.Join(dir, "node_modules"), 0 // npx writes beside it whenever it only runs what is there
	}
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	if info.ModTime().After(w.began) {
		return true
	}
	if depth == 0 {
		return false
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if *left--; *left < 0 {
			return false
		}
		if e.IsDir() && w.changed(filepath.Join(dir, e.Name()), depth-1, left) {
			return true
		}
	}
	return false
}

// npxDir is the folder in which npx installs the packages of the command line; "" if that cannot be told.
func (w *Watch) npxDir() string {
	packages := packagesOf(w.r.args)
	if !w.r.kind.npm || len(packages) == 0 {
		return ""
	}
	folder := npxFolder(w.env)
	if folder == "" {
		return ""
	}
	slices.Sort(packages)
	sum := sha512.Sum512([]byte(strings.Join(packages, "\n")))
	return filepath.Join(folder, hex.EncodeToString(sum[:])[:16])
}

// packagesOf are all packages that npx is asked for.
func packagesOf(args []string) (packages []string) {
	for i := 0; i < len(args); i++ {
		value, with := strings.CutPrefix(args[i], "--package=")
		switch {
		case with:
			packages = append(packages, value)
		case (args[i] == "-p" || args[i] == "--package") && i+1 < len(args):
			i++
			packages = append(packages, args[i])
		case strings.HasPrefix(args[i], "-"):
		case len(packages) == 0:
			return []string{args[i]}
		default:
			return packages
		}
	}
	return packages
}

// End notes that the runner is about to be ended in the middle of an installation: what it leaves torn is taken away at
// the next start, if there was no time for Mend.
func (w *Watch) End() {
	if dir := w.npxDir(); dir != "" && !w.stood[dir] {
		_ = openfile.Cache(filepath.Join(dir, endedName), nil) // without a folder there is nothing to note
	}
}

// Mend takes away what the runner has left torn that was ended in the middle of an installation, so that the next start
// begins anew. It is called when all processes of the runner are gone, and returns the folder, "" if there was nothing
// to do. A folder that was whole before is left alone, and one in which another npx may install is left to the next
// start. It does not wait.
func (w *Watch) Mend() (string, error) {
	dir := w.npxDir()
	if dir == "" || w.stood[dir] || !isTorn(dir) || isFresh(filepath.Join(dir, lockName)) {
		return "", nil
	}
	return dir, remove(dir)
}

// remove takes a folder of npx away: at once, whatever is then left of it.
func remove(dir string) error {
	away := filepath.Join(filepath.Dir(dir), endedName+"-"+rand.Text())
	if openfile.Move(dir, away) == nil {
		dir = away
	}
	return os.RemoveAll(dir)
}

// Torn returns the folders of npx that an installation which did not come to its end has left unusable, by an
// environment. A folder in which something has changed within the last minute is not among them: somebody may be
// installing there.
func Torn(environ []string) (dirs []string) {
	folder := npxFolder(environ)
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if dir := filepath.Join(folder, e.Name()); e.IsDir() && isTorn(dir) && isQuiet(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// clear takes away what an earlier installation of the same package has left torn, whoever ended it.
func (w *Watch) clear() {
	dir := w.npxDir()
	if dir == "" {
		return
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), endedName+"-*"))
	for _, part := range left {
		_ = os.RemoveAll(part) // who removed it was cut off
	}
	ended := filepath.Join(dir, endedName)
	_, err := os.Stat(ended)
	switch {
	case isTorn(dir) && (isQuiet(dir) || err == nil && !isTouched(filepath.Join(dir, lockName))):
		_ = remove(dir) // if that fails npx tells what is wrong
	case err == nil && isWhole(dir):
		_ = os.Remove(ended) // another npx has come to an end there; if it stays it is looked at again
	}
}

// endedName is the file by which a folder of npx is known in which an installation was ended by this program, and how
// the names of those begin that are being removed.
const endedName = ".ended"

// lockName is what npm keeps in a folder of npx while it reads or installs there, and touches each second.
const lockName = "concurrency.lock"

// isWhole reports whether npm has finished what it installed in a folder: the last that it writes is the list of it.
func isWhole(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "node_modules", ".package-lock.json"))
	return err == nil
}

// isTorn reports whether a folder of npx holds modules that npm has not finished to install.
func isTorn(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "node_modules"))
	return err == nil && !isWhole(dir)
}

// isQuiet reports whether nothing has changed in a folder of npx for a while.
func isQuiet(dir string) bool {
	for _, part := range []string{"", "node_modules", lockName} {
		if info, err := os.Stat(filepath.Join(dir, part)); err == nil && time.Since(info.ModTime()) < quietTime {
			return false
		}
	}
	return true
}

// isFresh reports whether a lock may be that of a living npm.
func isFresh(lock string) bool {
	info, err := os.Stat(lock)
	return err == nil && time.Since(info.ModTime()) <= lockTouch
}

// isTouched reports whether a living npm holds a lock: it touches it each second, unlike one that was killed.
func isTouched(lock string) bool {
	began := time.Now()
	for {
		info, err := os.Stat(lock)
		switch {
		case err != nil:
			return false
		case info.ModTime().After(began):
			return true
		case time.Since(info.ModTime()) > lockTouch:
			return false
		}
		time.Sleep(lockTouch / 10)
	}
}
