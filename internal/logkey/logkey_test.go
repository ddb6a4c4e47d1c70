package logkey_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// keyed are the methods of zerolog's Event and Context that take a key and a value.
func keyed() []string {
	return []string{"AnErr", "Errs", "Any", "Array", "Bool", "Bools", "Bytes", "Dict", "Dur", "Durs", "Float32", "Float64", "Hex", "Int", "Int8", "Int16",
		"Int32", "Int64", "Ints", "Interface", "IPAddr", "Object", "RawJSON", "Str", "Stringer", "Strs", "Time", "Times", "Type", "Uint", "Uint8", "Uint16", "Uint32", "Uint64"}
}

// logged is what the program's log calls have in them.
type logged struct {
	keys     map[string]bool // names of constants of this package
	messages map[string]token.Position
}

// Log calls use these keys and say what happened in constant words, so that lines can be searched for and counted.
func TestLogCallsUseTheKeys(t *testing.T) {
	log := readTree(t)
	constants := constants(t)
	for name := range constants {
		if !log.keys[name] {
			t.Errorf("the key %s is used nowhere", name)
		}
	}
	page, err := os.ReadFile("../../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := make(map[string]bool) // first cells of tables
	for _, row := range regexp.MustCompile("(?m)^\\| `([^|]*)` \\|").FindAllStringSubmatch(string(page), -1) {
		documented[row[1]] = true
	}
	for _, key := range constants {
		if !documented[key] {
			t.Errorf("docs/observability.md has no row for the key %q", key)
		}
	}
	for message, at := range log.messages {
		if !documented[message] {
			t.Errorf("%s: docs/observability.md has no row for the message %q", at, message)
		}
	}
	if len(log.messages) < 10 {
		t.Errorf("only the messages %v were found, so the search for them is broken", log.messages)
	}
}

// constants gives the keys by their names.
func constants(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "logkey.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, d := range file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range decl.Specs {
			value := s.(*ast.ValueSpec)
			for i, name := range value.Names {
				text, err := strconv.Unquote(value.Values[i].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				all[name.Name] = text
			}
		}
	}
	return all
}

// readTree reads the log calls of the program.
func readTree(t *testing.T) logged {
	t.Helper()
	log := logged{keys: make(map[string]bool), messages: make(map[string]token.Position)}
	files := token.NewFileSet()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains([]string{"bench", "test", "testdata", "node_modules", "bin"}, d.Name()) || strings.HasPrefix(d.Name(), ".") && d.Name() != ".."):
			if path == "../.." {
				return nil
			}
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if imports(file, "github.com/rs/zerolog") || imports(file, "github.com/mcp-workbench/workbench/internal/logkey") || logs(file) {
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					log.read(t, files, call)
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func imports(file *ast.File, path string) bool {
	return slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == strconv.Quote(path) })
}

// logs reports whether a file that does not import zerolog has a log call: one that ends in Msg.
func logs(file *ast.File) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Msg" {
			found = true
		}
		return !found
	})
	return found
}

// read notes what one call logs.
func (l *logged) read(t *testing.T, files *token.FileSet, call *ast.CallExpr) {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	at := files.Position(call.Pos())
	switch name := method.Sel.Name; {
	case name == "Msg" && len(call.Args) == 1:
		l.message(t, at, call.Args[0])
	case name == "Msgf", name == "Err" && len(call.Args) == 1 && chained(method.X), name == "Send" && len(call.Args) == 0 && chained(method.X):
		t.Errorf("%s: %s is not for log calls here: write AnErr(logkey.Err, err), and Msg with a constant text", at, name)
	case len(call.Args) == 2 && slices.Contains(keyed(), name) && chained(method.X):
		key, ok := call.Args[0].(*ast.SelectorExpr)
		if pkg, is := keyPackage(key); !ok || !is || pkg != "logkey" {
			t.Errorf("%s: the key of %s is not one of internal/logkey", at, name)
			return
		}
		l.keys[key.Sel.Name] = true
	}
}

func keyPackage(s *ast.SelectorExpr) (string, bool) {
	if s == nil {
		return "", false
	}
	pkg, ok := s.X.(*ast.Ident)
	if !ok {
		return "", false
	}
	return pkg.Name, true
}

// chained reports whether an expression may be a log line that is being made: a call, or a variable that holds one.
func chained(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.CallExpr:
		return true
	case *ast.Ident:
		return slices.Contains([]string{"e", "ev", "event", "line"}, x.Name)
	}
	return false
}

// message notes a text: a constant, or one with the state of a server after it.
func (l *logged) message(t *testing.T, at token.Position, x ast.Expr) {
	state := ""
	if sum, ok := x.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
		x, state = sum.X, "STATE"
	}
	lit, ok := x.(*ast.BasicLit)
	if !ok {
		t.Errorf("%s: the text of Msg is not a constant", at)
		return
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		t.Fatal(err)
	}
	l.messages[text+state] = at
}
