package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// wordings returns what the errors of a folder's package and of those below it say: the texts that errors are made of,
// without what is filled in, by the place of each.
func wordings(t *testing.T, folder string) map[string][]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	deeper, _ := filepath.Glob(filepath.Join(folder, "*", "*.go"))
	names = append(names, deeper...)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: got %d files, %v", folder, len(names), err)
	}
	found := make(map[string][]string)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		// whole takes every text below a node; else only those of calls that make errors count.
		var visit func(n ast.Node, whole bool)
		visit = func(n ast.Node, whole bool) {
			ast.Inspect(n, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					if n.Body != nil && n.Name.Name == "Error" && n.Recv != nil && !whole {
						visit(n.Body, true)
						return false
					}
				case *ast.CallExpr:
					if makesError(n) && !whole {
						for _, arg := range n.Args {
							visit(arg, true)
						}
						return false
					}
				case *ast.CompositeLit:
					if typ, ok := n.Type.(*ast.SelectorExpr); ok && typ.Sel.Name == "Error" && !whole {
						visit(&ast.CompositeLit{Elts: n.Elts}, true)
						return false
					}
				case *ast.BasicLit:
					if text, err := strconv.Unquote(n.Value); whole && n.Kind == token.STRING && err == nil {
						for _, piece := range pieces(text) {
							at := files.Position(n.Pos())
							found[piece] = append(found[piece], filepath.Base(at.Filename)+":"+strconv.Itoa(at.Line))
						}
					}
				}
				return true
			})
		}
		visit(file, false)
	}
	return found
}

// makesError reports whether a call is errors.New or fmt.Errorf.
func makesError(call *ast.CallExpr) bool {
	fn, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := fn.X.(*ast.Ident)
	return ok && (of.Name == "errors" && fn.Sel.Name == "New" || of.Name == "fmt" && fn.Sel.Name == "Errorf")
}

var verb = regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z]`)

// pieces returns what a format says of its own, but for single words.
func pieces(format string) (found []string) {
	for _, piece := range verb.Split(format, -1) {
		piece = strings.Trim(piece, " \n:;,.()\"")
		if strings.Contains(piece, " ") {
			found = append(found, piece)
		}
	}
	return found
}

// unsaid are pieces of errors that nobody is shown.
var unsaid = []string{
	"no room",                      // a call waits then
	"no such name",                 // said as "tool not found" and "prompt not found"
	"the server is being replaced", // its calls go to the other
	"outbox is full",               // of internal/wire alone
	"outbox is closed",             //
	"cannot write without waiting", //
	"malformed message",            // between workbench and its guard
	"not an event id of ours",      // the stream begins anew
	"what came after it is no longer kept",
	"not a state of ours",   // said as params.requestState …
	"there is no transport", // the configuration refuses it
}

// What errors say, and every state, is in docs/troubleshooting.md with what to do.
func TestTroubleshooting(t *testing.T) {
	text, err := os.ReadFile("../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := strings.Join(strings.Fields(string(text)), " ")
	for _, folder := range []string{"../toolbox", "../proxy", "child", "wire"} {
		said := wordings(t, folder)
		if len(said) < 5 {
			t.Errorf("%s: got the texts %q, want more", folder, said)
		}
		for piece, places := range said {
			if !slices.Contains(unsaid, piece) && !strings.Contains(doc, piece) {
				t.Errorf("docs/troubleshooting.md has nothing of %q (%s of %s)", piece, strings.Join(places, ", "), folder)
			}
		}
	}
	all := states(t)
	if len(all) < 8 {
		t.Errorf("got the states %q, want more", all)
	}
	for _, state := range all {
		if row := "| `" + state + "` |"; !strings.Contains(doc, row) {
			t.Errorf("docs/troubleshooting.md has no row %s", row)
		}
	}
}

// states returns those of a server.
func states(t *testing.T) (all []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../toolbox/state.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			typ, _ := spec.Type.(*ast.Ident)
			value, _ := spec.Values[0].(*ast.BasicLit)
			if typ != nil && typ.Name == "State" && value != nil {
				text, _ := strconv.Unquote(value.Value)
				all = append(all, text)
			}
		}
		return true
	})
	return all
}

// Only what errors are made of is taken for their wording.
func TestWordingsAreRead(t *testing.T) {
	const source = `package x

import ("errors"; "fmt")

type E struct{}

func (E) Error() string { return "one text" + fmt.Sprintf("of %d two: %q", 1, "") }

var a, b = errors.New("three of them"), &wire.Error{Message: "four of %s"}

func f() error { log("none here"); return fmt.Errorf("%s: five texts: %w", "six texts", nil) }
`
	dir := t.TempDir()
	for _, name := range []string{"x.go", "x_test.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := wordings(t, dir)
	got := slices.Sorted(maps.Keys(found))
	if want := []string{"five texts", "four of", "one text", "six texts", "three of them"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := found["one text"]; !slices.Equal(got, []string{"x.go:7"}) {
		t.Errorf("got the places %q, want x.go:7", got)
	}
}
