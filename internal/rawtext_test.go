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
// error, or a member of an error, is such text, straight or by a variable of the same function. What went through internal/foreign is none.
func rawShown(file *ast.File) (found []ast.Node) {
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		raw := make(map[string]bool)
		var look func(n ast.Node) bool
		look = func(n ast.Node) bool {
			var shown []ast.Expr
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, from := range n.Rhs {
					ast.Inspect(from, look) // with what the variables are before
				}
				for i, to := range n.Lhs {
					if name, ok := to.(*ast.Ident); ok && len(n.Rhs) == 1 {
						raw[name.Name] = i == 0 && isRaw(n.Rhs[0], raw) || i == len(n.Lhs)-1 && misread(n.Rhs[0])
					}
				}
				return false
			case *ast.CallExpr:
				if shows(n) {
					shown = n.Args
				}
			case *ast.CompositeLit:
				if isError(n.Type) {
					shown = n.Elts
				}
			}
			for _, what := range shown {
				if isRaw(what, raw) {
					found = append(found, what)
				}
			}
			return true
		}
		ast.Inspect(fn.Body, look)
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
	if fn.Sel.Name == "NewToolResultError" {
		return true
	}
	return slices.Contains([]string{"Str", "Strs", "Stringer", "Bytes", "RawJSON", "Interface", "Any", "Msg", "Msgf"}, fn.Sel.Name) && len(call.Args) > 1
}

// misread reports whether an expression gives the error of package json, which quotes what others wrote, and names types
// of this program.
func misread(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	fn, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	on, _ := fn.X.(*ast.Ident)
	return on != nil && on.Name == "json" && fn.Sel.Name == "Unmarshal" || fn.Sel.Name == "Decode" && (on == nil || on.Name != "pem")
}

// isError reports whether a type is one of errors, by its name.
func isError(of ast.Expr) bool {
	if in, ok := of.(*ast.SelectorExpr); ok {
		of = in.Sel
	}
	name, ok := of.(*ast.Ident)
	return ok && strings.HasSuffix(name.Name, "Error")
}

// isRaw reports whether an expression is text of others as they wrote it: a name verbatim, a string out of a message,
// an entry of a list, an error about JSON. Variables in raw are.
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
	case *ast.KeyValueExpr:
		return isRaw(e.Value, raw)
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
			if fn.Sel.Name == "Error" {
				return isRaw(fn.X, raw)
			}
			return fn.Sel.Name == "Verbatim" || on != nil && on.Name == "wire" && fn.Sel.Name == "Unquote"
		}
	}
	return false
}

// Text of others is shown by way of internal/foreign alone.
func TestTextOfOthersIsNotShownRaw(t *testing.T) {
	files := 0
	for _, folder := range []string{"../toolbox", "../proxy", "../cmd/workbench", "../workflowsrv", "../config", "../host", "."} {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test") {
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
	err := json.Unmarshal(data, &x)
	err = fmt.Errorf("x: %w", err)
	if err := d.Decode(&x); err != nil {
		return &InvalidError{What: "x: " + err.Error()}
	}
}

func good() {
	name := it.Key.Verbatim()
	fmt.Errorf("%s %d", foreign.NewName(name), len(name))
	fmt.Fprintln(out, foreign.JSON(it.Raw))
	b = fmt.Appendf(b, "%s", name)
	log.Info().Stringer("k", it.Key).Msg("")
	err := json.Unmarshal(data, &x)
	err = fmt.Errorf("x: %w", foreign.NewError(err))
	fmt.Fprintln(out, err)
	name, err = os.Open(it.Path)
	fmt.Errorf("%w", err)
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
	if want := []int{6, 7, 8, 9, 10, 12, 14}; !slices.Equal(lines, want) {
		t.Errorf("got the lines %v, want %v", lines, want)
	}
}
