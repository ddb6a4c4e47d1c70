// Package internal_test holds the list of faults and the tests of the repository together.
package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// fault is one entry of faultlist.yaml.
type fault struct {
	ID     string `yaml:"id"`
	Fault  string `yaml:"fault"`  // what goes wrong
	Wanted string `yaml:"wanted"` // what is to come of it
}

// Every fault of the list has a test, and every test of a fault has its fault in the list.
func TestFaultList(t *testing.T) {
	faults := readFaults(t)
	tests := faultTests(t, "..")
	if len(faults) == 0 || len(tests) == 0 {
		t.Fatalf("got %d faults and tests of %d", len(faults), len(tests))
	}
	listed := make(map[string]bool)
	for _, f := range faults {
		if listed[f.ID] {
			t.Errorf("%s is listed twice", f.ID)
		}
		listed[f.ID] = true
		if !regexp.MustCompile(`^[A-HU][1-9][0-9]?$`).MatchString(f.ID) || f.Fault == "" || f.Wanted == "" {
			t.Errorf("got %+v, want an id like A1, the fault and what is wanted", f)
		}
		if tests[f.ID] == nil {
			t.Errorf("%s (%s) has no test: want a func TestFault%s_…", f.ID, f.Fault, f.ID)
		}
	}
	for id, names := range tests {
		if !listed[id] {
			t.Errorf("%s: the list has no fault %s", strings.Join(names, ", "), id)
		}
	}
}

// What is no test of a fault is not taken for one.
func TestFaultTestsAreRead(t *testing.T) {
	const text = `package x

import "testing"

func TestFaultA1_Plain(t *testing.T)     { t.Log() }
func TestFaultA2B13_Two(t *testing.T)    { t.Parallel() }
func TestFaultA3(t *testing.T)           { t.Log() }
func TestFaultA4_Skipped(t *testing.T)   { t.Skip("fault: does not work") }
func TestFaultA5_Benchmark(b *testing.B) { b.Log() }
func (x) TestFaultA6_Method(t *testing.T) { t.Log() }
func testFaultA7_Helper(t *testing.T)    { t.Log() }
func TestFaultA8_Somewhere(t *testing.T) { if testing.Short() { t.Skip() } }
func TestFaultA9_Empty(t *testing.T)     {}
`
	dir := t.TempDir()
	for _, name := range []string{"x_test.go", "x.go", "node_modules/x_test.go"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := faultTests(t, dir)
	for _, id := range []string{"A1", "A2", "B13", "A8"} {
		if len(got[id]) != 1 {
			t.Errorf("%s: got the tests %q, want one", id, got[id])
		}
		delete(got, id)
	}
	for id, names := range got {
		t.Errorf("%s: got the tests %q, want none", id, names)
	}
}

func readFaults(t *testing.T) (faults []fault) {
	t.Helper()
	f, err := os.Open("faultlist.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := yaml.NewDecoder(f)
	d.KnownFields(true)
	if err := d.Decode(&faults); err != nil {
		t.Fatal(err)
	}
	return faults
}

// faultTests returns the tests of faults below a folder, by the faults that they name.
func faultTests(t *testing.T, folder string) map[string][]string {
	t.Helper()
	tests := make(map[string][]string)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "node_modules":
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && isTest(fn) {
				for _, id := range faultsOf(fn.Name.Name) {
					tests[id] = append(tests[id], fn.Name.Name)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}

// faultsOf returns the ids in the name of a test.
func faultsOf(name string) []string {
	ids := regexp.MustCompile(`^TestFault((?:[A-Z][0-9]+)+)_`).FindStringSubmatch(name)
	if ids == nil {
		return nil
	}
	return regexp.MustCompile(`[A-Z][0-9]+`).FindAllString(ids[1], -1)
}

// isTest reports whether go test runs a function, and the function does not begin with skipping itself.
func isTest(fn *ast.FuncDecl) bool {
	params := fn.Type.Params.List
	if fn.Recv != nil || len(params) != 1 || len(fn.Body.List) == 0 {
		return false
	}
	pointer, _ := params[0].Type.(*ast.StarExpr)
	if pointer == nil {
		return false
	}
	kind, _ := pointer.X.(*ast.SelectorExpr)
	if kind == nil || kind.Sel.Name != "T" {
		return false
	}
	statement, _ := fn.Body.List[0].(*ast.ExprStmt)
	if statement == nil {
		return true
	}
	call, _ := statement.X.(*ast.CallExpr)
	if call == nil {
		return true
	}
	skip, _ := call.Fun.(*ast.SelectorExpr)
	return skip == nil || !strings.HasPrefix(skip.Sel.Name, "Skip")
}
