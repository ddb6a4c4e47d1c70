package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rawShown finds where a file shows text of others as it is: where an argument of a call that prints, logs or makes an
// error is such text, straight or by a variable of the same function. What went through internal/foreign is none.
func rawShown(file *ast.File) (found []ast.Node) {
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		raw := make(map[string]bool)
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if set, ok := n.(*ast.AssignStmt); ok && len(set.Rhs) == 1 && isRaw(set.Rhs[0], raw) {
				if name, ok := set.Lhs[0].(*ast.Ident); ok {
					raw[name.Name] = true
				}
			}
			if call, ok := n.(*ast.CallExpr); ok && shows(call) {
				for _, arg := range call.Args {
					if isRaw(arg, raw) {
						found = append(found, arg)
					}
				}
			}
			return true
		})
	}
	return found
}

// shows reports whether a call prints, logs or makes an error.
func shows(call *ast.CallExpr) bool {
	fn, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch on, _ := fn.X.(*ast.Ident); {
	case on != nil && on.Name == "fmt":
		return !strings.HasPrefix(fn.Sel.Name, "Append") // which makes messages
	case on != nil && on.Name == "errors":
		return fn.Sel.Name == "New"
	}
	return slices.Contains([]string{"Str", "Strs", "Stringer", "Bytes", "RawJSON", "Interface", "Any", "Msg", "Msgf"}, fn.Sel.Name) && len(call.Args) > 1
}

// isRaw reports whether an expression is text of others as they wrote it: a name verbatim, a string out of a message,
// an entry of a list. Variables in raw are.
func isRaw(e ast.Expr, raw map[string]bool) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return raw[e.Name]
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (isRaw(e.X, raw) || isRaw(e.Y, raw))
	case *ast.SliceExpr:
		return isRaw(e.X, raw)
	case *ast.IndexExpr:
		return isRaw(e.X, raw)
	case *ast.SelectorExpr:
		return e.Sel.Name == "Raw"
	case *ast.CallExpr:
		switch fn := e.Fun.(type) {
		case *ast.Ident:
			return fn.Name == "string" && isRaw(e.Args[0], raw)
		case *ast.ArrayType:
			return isRaw(e.Args[0], raw)
		case *ast.SelectorExpr:
			on, _ := fn.X.(*ast.Ident)
			if on != nil && on.Name == "strings" {
				return slices.ContainsFunc(e.Args, func(arg ast.Expr) bool { return isRaw(arg, raw) })
			}
			return fn.Sel.Name == "Verbatim" || on != nil && on.Name == "wire" && fn.Sel.Name == "Unquote"
		}
	}
	return false
}

// Text of others is shown by way of internal/foreign alone.
func TestTextOfOthersIsNotShownRaw(t *testing.T) {
	files := 0
	for _, folder := range []string{"../toolbox", "../proxy", "../cmd/workbench", "child", "status", "catalogue"} {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files++
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, n := range rawShown(file) {
				t.Errorf("%s: text of others as they wrote it; make a foreign.Text or foreign.Name of it", set.Position(n.Pos()))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 100 {
		t.Errorf("got %d files, want those of the program", files)
	}
}

// A rule that nothing breaks shows nothing unless what breaks it is found.
func TestRawTextIsFound(t *testing.T) {
	const text = `package x

func bad() {
	name := it.Key.Verbatim()
	text, _ := wire.Unquote(raw)
	fmt.Errorf("%s", name)
	fmt.Fprintln(out, strings.TrimSpace(text)[:3])
	log.Info().Str("k", it.Key.Verbatim()).Msg("")
	errors.New("x" + string(it.Raw))
	fmt.Printf("%s", m.Raw[1:])
}

func good() {
	name := it.Key.Verbatim()
	fmt.Errorf("%s %d", foreign.NewName(name), len(name))
	fmt.Fprintln(out, foreign.JSON(it.Raw))
	b = fmt.Appendf(b, "%s", name)
	log.Info().Stringer("k", it.Key).Msg("")
}
`
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "x.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, n := range rawShown(file) {
		lines = append(lines, set.Position(n.Pos()).Line)
	}
	if want := []int{6, 7, 8, 9, 10}; !slices.Equal(lines, want) {
		t.Errorf("got the lines %v, want %v", lines, want)
	}
}
