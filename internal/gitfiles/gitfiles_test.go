package gitfiles_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workbench/workbench/internal/gitaddress"
	"github.com/mcp-workbench/workbench/internal/gitfiles"
)

// run is a program without a guard.
func run(ctx context.Context, argv, environ []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"}, environ...)
	out, err := cmd.Output()
	return out, err
}

// A source is a repository with a working tree that a test writes.
type source struct {
	t   *testing.T
	dir string
}

func newSource(t *testing.T) source {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	s := source{t, filepath.Join(t.TempDir(), "flows")}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.git("init", "--quiet", "--initial-branch=main")
	return s
}

func (s source) git(args ...string) string {
	s.t.Helper()
	argv := append([]string{"git", "-C", s.dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"}, args...)
	out, err := run(s.t.Context(), argv, nil)
	if err != nil {
		s.t.Fatalf("git %q: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

func (s source) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		s.t.Fatal(err)
	}
}

func (s source) commit() string {
	s.t.Helper()
	s.git("add", "--all")
	s.git("commit", "--quiet", "-m", "m")
	return s.git("rev-parse", "HEAD")
}

func isJSON(name string) bool { return strings.HasSuffix(name, ".json") }

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		if !e.Type().IsRegular() {
			t.Errorf("got %s, which is no regular file", e.Name())
		}
		list = append(list, e.Name())
	}
	return list
}

// Of two who fetch at a time, the one who came later has the last word.
func TestFetchAtOnce(t *testing.T) {
	s := newSource(t)
	s.write("one.json", "{}")
	s.commit()
	k := gitfiles.Keeper{Dir: filepath.Join(t.TempDir(), "kept"), Run: run}
	r, err := gitaddress.Parse("git+file://" + s.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(k.Dir, ".fetch-"+filepath.Base(k.Folder(r)), "git"), 0o700); err != nil {
		t.Fatal(err)
	}
	fetched, overtaken := make(chan struct{}), make(chan struct{})
	slow := gitfiles.Keeper{Dir: k.Dir, Run: func(ctx context.Context, argv, environ []string) ([]byte, error) {
		if slices.Contains(argv, "rev-parse") {
			close(fetched)
			select {
			case <-overtaken:
			case <-time.After(200 * time.Millisecond):
			}
		}
		return run(ctx, argv, environ)
	}}
	var first sync.WaitGroup
	first.Go(func() {
		if _, err := slow.Fetch(t.Context(), r, isJSON); err != nil {
			t.Error(err)
		}
	})
	<-fetched
	s.write("two.json", "{}")
	want := s.commit()
	if commit, err := k.Fetch(t.Context(), r, isJSON); err != nil || commit != want {
		t.Errorf("got %q and %v, want %s", commit, err, want)
	}
	close(overtaken)
	first.Wait()
	if got := k.Commit(r); got != want {
		t.Errorf("the files of %s are kept, want those of %s", got, want)
	}

	if left, err := filepath.Glob(filepath.Join(k.Dir, ".fetch-*")); err != nil || left != nil {
		t.Errorf("got %q and %v, want nothing left of what was fetched, also by one that was killed", left, err)
	}
}

// Files of a commit are kept until they are fetched anew, and nothing but plain files comes out of a repository.
func TestFetch(t *testing.T) {
	s := newSource(t)
	s.write("workflows/one.json", "{}")
	s.write("workflows/notes.txt", "no workflow")
	s.write("workflows/below/two.json", "{}")
	s.write("top.json", "not where workflows are")
	s.write("workflows/large.json", strings.Repeat(" ", 1<<20+1))
	s.write(".gitattributes", "*.json filter=evil\n")
	marker := filepath.Join(t.TempDir(), "carried-out")
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-update", "pre-receive"} {
		s.write(".git/hooks/"+hook, "#!/bin/sh\ntouch "+marker+"\n")
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(s.dir, "workflows", "link.json")); err != nil {
		t.Skipf("this system has no links: %v", err)
	}
	other := newSource(t)
	other.write("x", "x")
	other.commit()
	s.git("submodule", "--quiet", "add", "file://"+other.dir, "workflows/sub.json")
	first := s.commit()
	_ = os.Remove(marker) // by the commit itself

	k := gitfiles.Keeper{Dir: filepath.Join(t.TempDir(), "kept"), Run: run}
	r, err := gitaddress.Parse("git+file://" + s.dir + "#main")
	if err != nil {
		t.Fatal(err)
	}
	if got := k.Commit(r); got != "" {
		t.Errorf("got the commit %s before anything was fetched", got)
	}
	commit, err := k.Fetch(t.Context(), r, isJSON)
	if err != nil || commit != first || k.Commit(r) != first {
		t.Fatalf("got %q, %q and %v, want %s", commit, k.Commit(r), err, first)
	}
	if got, want := names(t, k.Folder(r)), []string{".commit", "one.json"}; !slices.Equal(got, want) {
		t.Errorf("got the files %q, want %q", got, want)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a hook of the repository was carried out")
	}

	s.write("workflows/three.json", "{}")
	second := s.commit()
	if got := k.Commit(r); got != first {
		t.Errorf("got %s, want the files to stay those of %s", got, first)
	}
	if commit, err = k.Fetch(t.Context(), r, isJSON); err != nil || commit != second {
		t.Fatalf("got %q and %v, want %s", commit, err, second)
	}
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	if _, err = k.Fetch(t.Context(), r, isJSON); err == nil || k.Commit(r) != second || len(names(t, k.Folder(r))) != 3 {
		t.Errorf("got %v and %q, want an error and the files of before", err, k.Commit(r))
	}
	if left, err := filepath.Glob(filepath.Join(k.Dir, ".fetch-*")); err != nil || len(left) > 0 {
		t.Errorf("got %q left over", left)
	}
}

// What names no repository is refused before git sees it.
func TestParse(t *testing.T) {
	for _, good := range []string{"git+https://example.com/flows.git", "git+https://example.com/flows.git#v1.2", "git+ssh://git@example.com/team/flows#main", "git+file:///srv/flows.git#0123456789abcdef"} {
		if _, err := gitaddress.Parse(good); err != nil {
			t.Errorf("%s: got %v, want no error", good, err)
		}
	}
	for _, bad := range []string{
		"", "https://example.com/flows", "git+http://example.com/flows", "git+ext::sh -c id", "git+ext://sh", "git+https://", "git+file://host/flows", "git+ssh://-oProxyCommand=id/flows",
		"git+ssh://-l@example.com/flows", "git+https://user:secret@example.com/flows", "git+https://token@example.com/flows", "git+https://example.com/flows#--upload-pack=id",
		"git+https://example.com/flows#a..b", "git+https://example.com/flows#a@{1}", "git+https://example.com/flows#a b", "git+https://example.com/flows?x=1", "git+https://example.com/a b",
		"git+https://example.com/flows#" + strings.Repeat("a", 300), "git+ssh://example.com/-flows",
	} {
		if r, err := gitaddress.Parse(bad); err == nil {
			t.Errorf("%q: got %+v, want an error", bad, r)
		}
	}
}
