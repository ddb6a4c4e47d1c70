package workbench_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// What is only compiled for Windows and macOS has correct types there. Nothing is compiled, which takes a minute for
// each; make cross does that.
func TestOtherSystems(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // all that is parsed stays
	others, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	files := parsed{fset: token.NewFileSet(), files: make(map[string]func() (*ast.File, error)),
		others: strings.Split(strings.TrimSpace(string(others)), "\n")}
	var both sync.WaitGroup
	for _, system := range []string{"windows", "darwin"} {
		both.Go(func() { files.check(t, system) })
	}
	both.Wait()
}

// parsed are the files that were parsed for one system, most of which the other has too. Types are found without changing
// them. Of other people's packages it has declarations alone, which leaves imports that are not used.
type parsed struct {
	fset   *token.FileSet
	others []string // the folders of other people's packages
	mu     sync.Mutex
	files  map[string]func() (*ast.File, error) // each parsed once
}

// check reports what is wrong with the program and its tests for a system.
func (p *parsed) check(t *testing.T, system string) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedTypesSizes,
		Fset: p.fset, ParseFile: p.parse,
		Env: append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"), Tests: true}, "./...")
	if err != nil || len(loaded) < 100 {
		t.Errorf("%s: got %d packages, %v", system, len(loaded), err)
		return
	}
	packages.Visit(loaded, nil, func(of *packages.Package) {
		for _, fault := range of.Errors {
			if !p.foreign(fault.Pos) || !strings.Contains(fault.Msg, "and not used") {
				t.Errorf("%s: %v", system, fault)
			}
		}
		if system == "windows" && strings.HasPrefix(of.PkgPath, "github.com/mcp-workbench/workbench/") {
			checkErrors(t, of.CompiledGoFiles)
		}
	})
}

// foreign reports whether a file, or a place in it, is of other people's packages.
func (p *parsed) foreign(place string) bool {
	return slices.ContainsFunc(p.others, func(folder string) bool {
		return strings.HasPrefix(place, folder+string(filepath.Separator))
	})
}

// parse is a packages.Config.ParseFile.
func (p *parsed) parse(fset *token.FileSet, name string, text []byte) (*ast.File, error) {
	p.mu.Lock()
	file := p.files[name]
	if file == nil {
		file = sync.OnceValues(func() (*ast.File, error) {
			if p.foreign(name) {
				if file, err := parser.ParseFile(fset, name, withoutBodies(text), parser.SkipObjectResolution); err == nil {
					return file, nil
				}
			}
			return parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		})
		p.files[name] = file
	}
	p.mu.Unlock()
	return file()
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

// table is the first line of a variable whose elements do not matter to its type.
var table = regexp.MustCompile(`^var .*= (\[\d*\]|map\[)[^ ]*\{$`)

// withoutBodies returns a Go file, as gofmt writes it, without what its functions do and without the elements of its
// tables. A brace at the start of a line within a text is taken for the end of a function, which leaves a file that does not
// parse.
func withoutBodies(text []byte) []byte {
	cut := make([]byte, 0, len(text))
	for {
		line, _, more := bytes.Cut(text, []byte("\n"))
		cut, text = append(cut, line...), text[len(line):]
		if !more {
			return cut
		}
		empty := ""
		switch {
		case !bytes.HasSuffix(line, []byte("{")):
		case bytes.HasPrefix(line, []byte("func ")):
			empty = "for {}" // which needs no return behind it
		case table.Match(line):
			empty = "\n"
		}
		if empty == "" {
			cut, text = append(cut, '\n'), text[1:]
		} else if end := bytes.Index(text, []byte("\n}")); end >= 0 {
			cut, text = append(cut, empty...), text[end+1:]
		}
	}
}
