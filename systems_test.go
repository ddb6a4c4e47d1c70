package workbench_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// What is only compiled for Windows and macOS has correct types there. Nothing is compiled, which takes a minute for
// each; make cross does that.
func TestOtherSystems(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // all that is parsed stays
	files := parsed{fset: token.NewFileSet(), files: make(map[string]*ast.File)}
	for _, system := range []string{"windows", "darwin"} {
		loaded, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
				packages.NeedTypes | packages.NeedTypesSizes,
			Fset: files.fset, ParseFile: files.parse,
			Env: append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"), Tests: true}, "./...")
		if err != nil || len(loaded) < 100 {
			t.Fatalf("got %d packages, %v", len(loaded), err)
		}
		packages.Visit(loaded, nil, func(p *packages.Package) {
			for _, fault := range p.Errors {
				t.Errorf("%s: %v", system, fault)
			}
			if system == "windows" && strings.HasPrefix(p.PkgPath, "github.com/mcp-workbench/workbench/") {
				checkErrors(t, p.CompiledGoFiles)
			}
		})
	}
}

// parsed are the files that were parsed for one system, most of which the other has too. Types are found without changing
// them.
type parsed struct {
	fset  *token.FileSet
	mu    sync.Mutex
	files map[string]*ast.File
}

// parse is a packages.Config.ParseFile.
func (p *parsed) parse(fset *token.FileSet, name string, text []byte) (*ast.File, error) {
	p.mu.Lock()
	file := p.files[name]
	p.mu.Unlock()
	if file != nil {
		return file, nil
	}
	file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if err == nil { // what is wrong with a file is to be said of each system
		p.mu.Lock()
		p.files[name] = file
		p.mu.Unlock()
	}
	return file, err
}

// unixError is what Unix calls an error of the system. On Windows package syscall has numbers for it that nothing returns.
var unixError = regexp.MustCompile(`^syscall\.E[A-Z0-9]+$`)

// checkErrors reports the files of Windows that look for errors of Unix, which internal/syserr knows for each system.
func checkErrors(t *testing.T, files []string) {
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, name := range selectors(file) {
			if unixError.MatchString(name) {
				t.Errorf("%s says %s, which is no error of Windows: ask internal/syserr", path, name)
			}
		}
	}
}
