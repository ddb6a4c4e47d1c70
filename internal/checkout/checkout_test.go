package checkout_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcp-workbench/workbench/internal/checkout"
)

func TestOf(t *testing.T) {
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root := t.TempDir()
	shop, tree, odd := filepath.Join(root, "shop"), filepath.Join(root, "tree"), filepath.Join(root, "odd")
	write(filepath.Join(shop, ".git", "HEAD"), "ref: refs/heads/fix/login\n")
	write(filepath.Join(shop, ".git", "worktrees", "tree", "HEAD"), "0123456789abcdef0123456789abcdef01234567\n")
	write(filepath.Join(shop, "src", "main.go"), "")
	write(filepath.Join(tree, ".git"), "gitdir: ../shop/.git/worktrees/tree\n")
	write(filepath.Join(odd, ".git", "HEAD"), "ref: refs/heads/a\x1b[31mb\n")
	for _, tt := range []struct{ dir, repository, branch string }{
		{shop, "shop", "fix/login"},
		{filepath.Join(shop, "src"), "shop", "fix/login"},
		{tree, "tree", "0123456789ab"},
		{odd, "odd", "ab"},
	} {
		if repository, branch := checkout.Of(tt.dir); repository != tt.repository || branch != tt.branch {
			t.Errorf("%s: got %q and %q, want %q and %q", tt.dir, repository, branch, tt.repository, tt.branch)
		}
	}
}
