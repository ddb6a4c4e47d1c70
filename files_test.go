package workbench_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// opening are the functions that open, make or give a mode to a file by its path.
var opening = regexp.MustCompile(`^(os\.(Open|OpenFile|OpenRoot|OpenInRoot|Create|CreateTemp|ReadFile|WriteFile|Chmod|Lchown|Chown|Mkdir|MkdirAll|MkdirTemp|DirFS|CopyFS|Truncate|Rename|Link)|(syscall|unix)\.(Open|Openat|Openat2|Creat|Chmod|Fchmodat|Mkdir|Mknod|Mkfifo)|tls\.LoadX509KeyPair|ioutil\..*)$`)

// openers are the places that do so past internal/openfile, and why.
func openers() map[string]string {
	return map[string]string{
		"internal/openfile/":                  "it is the way",
		"internal/child/processes_linux.go":   "what the kernel shows in /proc",
		"internal/child/guard_linux.go":       "its own name in /proc/self",
		"internal/child/group_linux.go":       "control groups of the kernel",
		"internal/child/distant_linux.go":     "what the kernel shows in /proc/self",
		"internal/child/link_unix.go":         "the null device",
		"internal/sandbox/enter_linux.go":     "it names paths to the kernel (O_PATH), and reads and writes nothing",
		"internal/status/memory_linux.go":     "what the kernel shows in /proc/self",
		"internal/footprint/program_linux.go": "what the kernel shows in /proc/self",
		"bench/":                              "it measures, and is no part of the program",
		"release/":                            "it makes packages, and is no part of the program",
		"internal/pgtest/":                    "it is for tests",
		"test/":                               "they are tests",
	}
}

// Files are opened in one way, so that no pipe, device or link of somebody else's is opened by another.
func TestFilesAreOpenedInOneWay(t *testing.T) {
	allowed, used := openers(), map[string]bool{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "testdata"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, call := range selectors(file) {
			if !opening.MatchString(call) {
				continue
			}
			place := ""
			for where := range allowed {
				if strings.HasPrefix(filepath.ToSlash(path), where) {
					place = where
				}
			}
			if place == "" {
				t.Errorf("%s calls %s: files are opened by internal/openfile", path, call)
			}
			used[place] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for where := range allowed {
		if !used[where] {
			t.Errorf("%s opens no file: take it off the list", where)
		}
	}
}

// selectors returns what a file says of packages, such as os.Open.
func selectors(file *ast.File) (found []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				found = append(found, x.Name+"."+s.Sel.Name)
			}
		}
		return true
	})
	return found
}
