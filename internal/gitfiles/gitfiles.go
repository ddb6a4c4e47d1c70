// Package gitfiles keeps files of git repositories: those of one folder of one commit, without a working tree.
//
// A repository is fetched by the git program, once; after that the files are there without a network, and stay those of
// the commit until somebody has them brought up to date. Files are read out of git's objects and written by this
// package, so that nothing of a repository is carried out: no hooks, no submodules, no links, no filters.
package gitfiles

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workbench/workbench/internal/gitaddress"
	"github.com/mcp-workbench/workbench/internal/openfile"
	"github.com/mcp-workbench/workbench/internal/slots"
)

// Bounds of what is fetched and kept.
const (
	MaxTime  = 2 * time.Minute // for all of it
	maxFetch = 64 << 20        // bytes that git may write
	maxFiles = 1000
	maxFile  = 1 << 20
	maxBytes = 8 << 20
)

// A Keeper keeps the files of repositories in a folder.
type Keeper struct {
	// Dir is the folder; it is made when something is kept.
	Dir string
	// Run runs a program with these variables besides those that any program may see, and returns what it prints. It
	// ends the program with all that it has started when ctx ends.
	Run func(ctx context.Context, argv, environ []string) ([]byte, error)
}

// Folder is where the files of a repository are, or will be.
func (k Keeper) Folder(r gitaddress.Repository) string {
	sum := sha256.Sum256([]byte(r.URL + "\x00" + r.Ref))
	return filepath.Join(k.Dir, hex.EncodeToString(sum[:16]))
}

// commitFile is the file, beside those of the repository, that names the commit they are of. No other begins with a
// dot.
const commitFile = ".commit"

// Commit is the commit whose files are kept, "" if none are.
func (k Keeper) Commit(r gitaddress.Repository) string {
	text, _, err := openfile.Read(filepath.Join(k.Folder(r), commitFile), 100)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// Fetch has the files of a repository kept, as they are there now, those that wanted accepts by name. They lie in the
// folder workflows of the repository, or, where there is none, at its top. It returns the commit. Of those who fetch one
// repository at a time, in whatever process, one waits for the other.
func (k Keeper) Fetch(ctx context.Context, r gitaddress.Repository, wanted func(name string) bool) (commit string, err error) {
	done, err := slots.New(k.Dir, 1).Take(ctx, k.Folder(r))
	if err != nil {
		return "", err
	}
	defer done()
	ctx, cancel := context.WithTimeoutCause(ctx, MaxTime, fmt.Errorf("git did not end within %v", MaxTime))
	defer cancel()
	work := filepath.Join(k.Dir, ".fetch-"+filepath.Base(k.Folder(r)))
	if err := os.RemoveAll(work); err != nil { // of one that was killed
		return "", err
	}
	if err := openfile.MakeFolder(work, 0o700); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	g := git{dir: filepath.Join(work, "git"), program: k.Run}
	if _, err := g.run(ctx, "init", "--quiet", "--bare", "--template=", g.dir); err != nil {
		return "", err
	}
	stop := g.bounded(ctx, cancel)
	ref := cmp.Or(r.Ref, "HEAD")
	_, err = g.run(ctx, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--", r.URL, "+"+ref+":refs/workbench/fetched")
	if large := stop(); large != nil {
		err = large
	}
	if err != nil {
		return "", fmt.Errorf("fetch %s: %w", r.URL, err)
	}
	out, err := g.run(ctx, "rev-parse", "--verify", "--quiet", "refs/workbench/fetched^{commit}")
	if err != nil {
		return "", fmt.Errorf("%s is no commit of %s", ref, r.URL)
	}
	commit = strings.TrimSpace(string(out))
	files, err := g.list(ctx, commit, wanted)
	if err != nil {
		return "", err
	}
	fresh := filepath.Join(work, "files")
	if err := openfile.MakeFolder(fresh, 0o700); err != nil {
		return "", err
	}
	for _, f := range files {
		text, err := g.run(ctx, "cat-file", "blob", f.object)
		if err != nil {
			return "", err
		}
		if err := openfile.Replace(filepath.Join(fresh, f.name), text); err != nil {
			return "", err
		}
	}
	if err := openfile.Replace(filepath.Join(fresh, commitFile), []byte(commit+"\n")); err != nil {
		return "", err
	}
	return commit, swap(fresh, k.Folder(r), filepath.Join(work, "old"))
}

// swap puts a folder in the place of another, which goes to old.
func swap(fresh, place, old string) error {
	if err := openfile.Move(place, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := openfile.Move(fresh, place); err != nil {
		return errors.Join(err, openfile.Move(old, place))
	}
	return nil
}

// A git runs the git program on a repository without a working tree.
type git struct {
	dir     string
	program func(ctx context.Context, argv, environ []string) ([]byte, error)
}

// run returns what git prints. What a repository or its server says is never carried out, and nobody is asked.
func (g git) run(ctx context.Context, args ...string) ([]byte, error) {
	argv := []string{"git", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "protocol.allow=never", "-c", "protocol.https.allow=always",
		"-c", "protocol.ssh.allow=always", "-c", "protocol.file.allow=always", "-c", "http.followRedirects=initial", "-c", "gc.auto=0", "-c", "maintenance.auto=false"}
	environ := []string{"GIT_DIR=" + g.dir, "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=https:ssh:file", "GIT_SSH_COMMAND=ssh -o BatchMode=yes",
		"SSH_ASKPASS_REQUIRE=never", "LC_ALL=C"}
	return g.program(ctx, append(argv, args...), environ)
}

// bounded ends what runs when the repository becomes too large. stop ends that, and says whether it has.
func (g git) bounded(ctx context.Context, end context.CancelFunc) (stop func() error) {
	over, done := make(chan struct{}), make(chan error, 1)
	go func() {
		tick := time.Tick(200 * time.Millisecond)
		for {
			select {
			case <-over:
				done <- g.tooLarge()
				return
			case <-ctx.Done():
				done <- nil
				return
			case <-tick:
				if err := g.tooLarge(); err != nil {
					end()
					done <- err
					return
				}
			}
		}
	}()
	return func() error { close(over); return <-done }
}

func (g git) tooLarge() error {
	size := int64(0)
	_ = filepath.WalkDir(g.dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // It is gone again: git renames its files.
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	if size > maxFetch {
		return fmt.Errorf("the repository has more than %d MiB", maxFetch>>20)
	}
	return nil
}

// A blob is a file of a commit.
type blob struct{ name, object string }

// list names the files that are wanted.
func (g git) list(ctx context.Context, commit string, wanted func(string) bool) ([]blob, error) {
	for _, folder := range [][]string{{"--", "workflows/"}, nil} {
		out, err := g.run(ctx, append([]string{"ls-tree", "-z", "-l", commit}, folder...)...)
		if err != nil {
			return nil, err
		}
		if len(out) == 0 {
			continue
		}
		var list []blob
		total := int64(0)
		for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			head, name, _ := strings.Cut(entry, "\t")
			fields := strings.Fields(head) // mode, kind, object, size
			name = path.Base(name)
			if len(fields) != 4 || fields[0] != "100644" && fields[0] != "100755" || !plain(name) || !wanted(name) {
				continue // a folder, a link, a submodule
			}
			size, err := strconv.ParseInt(fields[3], 10, 64)
			if err != nil || size > maxFile {
				continue
			}
			if total += size; total > maxBytes || len(list) == maxFiles {
				return nil, fmt.Errorf("the repository has more than %d workflow files, or more than %d MiB of them", maxFiles, maxBytes>>20)
			}
			list = append(list, blob{name, fields[2]})
		}
		return list, nil
	}
	return nil, nil
}

// plain reports whether a name is that of a file in this folder on every system.
func plain(name string) bool {
	return filepath.IsLocal(name) && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, `/\:`) &&
		!strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f })
}
