// Package checkout tells which git repository and branch a folder is in, by the files of git alone: git itself need not
// be there, and nothing is run.
package checkout

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-workbench/workbench/internal/foreign"
	"github.com/mcp-workbench/workbench/internal/openfile"
)

// Of returns the name of the folder that holds the repository, and the branch, or the beginning of the commit where
// none is checked out. Both are "" for a folder that is in no repository.
func Of(dir string) (repository, branch string) {
	for {
		git := filepath.Join(dir, ".git")
		if info, err := os.Stat(git); err == nil {
			if !info.IsDir() { // of a worktree or a submodule: it says where the folder is
				to, _ := strings.CutPrefix(line(git), "gitdir: ")
				if !filepath.IsAbs(to) {
					to = filepath.Join(dir, to)
				}
				git = to
			}
			return foreign.NewName(filepath.Base(dir)).String(), head(git)
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", ""
		}
		dir = above
	}
}

func head(git string) string {
	text := line(filepath.Join(git, "HEAD"))
	if branch, ok := strings.CutPrefix(text, "ref: refs/heads/"); ok {
		return foreign.NewName(branch).String()
	}
	if len(text) > 12 {
		text = text[:12]
	}
	return foreign.NewName(text).String()
}

// line reads the first line of a small file, "" if there is none.
func line(path string) string {
	text, _, err := openfile.Read(path, 4<<10)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(first)
}
