// Command knots prints how the files of each package hang together, and which types are large:
//
//	go run ./test/knots [-ties] [package pattern]…
//
// A file reaches another of its package if it names a type, function, method, field, variable or constant that is
// declared there. A knot is a largest set of files that all reach each other, by way of others too: nobody can read one
// of them alone. A type is listed from 31 methods on, or 13 fields below one mutex, which by our custom guards them.
// Tests are not counted. With -ties the names are printed by which the files of each largest knot reach each other:
// what to move to undo it. The command measures, and never fails for what it finds.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// Types are listed from these numbers on.
const (
	manyMethods = 31
	manyFields  = 13
)

func main() {
	all := flag.Bool("all", false, "list every package, and not only those of ten files and more")
	ties := flag.Bool("ties", false, "print by which names the files of each largest knot reach each other")
	flag.Parse()
	patterns := flag.Args()
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	if err := run(os.Stdout, patterns, *all, *ties); err != nil {
		fmt.Fprintln(os.Stderr, "knots:", err)
		os.Exit(1)
	}
}

// listed is a package as go list tells of it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
	Module                  *struct{ Path string }
}

func run(out io.Writer, patterns []string, all, ties bool) error {
	pkgs, err := list(patterns)
	if err != nil {
		return err
	}
	exports := make(map[string]string, len(pkgs))
	for _, p := range pkgs {
		exports[p.ImportPath] = p.Export
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "package\tfiles\tarrows\tlargest knot\tof files")
	var large []string
	var tied strings.Builder
	for _, p := range pkgs {
		if p.DepOnly || len(p.GoFiles) == 0 {
			continue
		}
		h, err := read(fset, imports, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		large = append(large, h.large...)
		if len(p.GoFiles) < 10 && !all {
			continue
		}
		knot := h.largestKnot()
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%.0f %%\n", h.name, len(p.GoFiles), h.arrows(), len(knot), 100*float64(len(knot))/float64(len(p.GoFiles)))
		if ties {
			h.printTies(&tied, knot)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	slices.Sort(large)
	for _, l := range large {
		fmt.Fprintln(out, l)
	}
	_, err = io.WriteString(out, tied.String())
	return err
}

func list(patterns []string) (pkgs []listed, err error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles,DepOnly,Module"}, patterns...)...)
	var fault bytes.Buffer
	cmd.Stderr = &fault
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &fault)
	}
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p listed
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return pkgs, nil
		case err != nil:
			return nil, err
		}
		pkgs = append(pkgs, p)
	}
}

// house is a package: its files, by which names each reaches which, and what is large in it.
type house struct {
	name    string
	reaches map[string]map[string][]string
	large   []string
}

// read finds the references between the files of a package.
func read(fset *token.FileSet, imports types.Importer, p listed) (*house, error) {
	h := &house{name: strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, p.Module.Path), "/"), reaches: make(map[string]map[string][]string)}
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		h.reaches[name] = make(map[string][]string)
	}
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	pkg, err := (&types.Config{Importer: imports}).Check(p.ImportPath, fset, files, info)
	if err != nil {
		return nil, err
	}
	file := func(pos token.Pos) string { return filepath.Base(fset.Position(pos).Filename) }
	for id, object := range info.Uses {
		if object.Pkg() != pkg || !object.Pos().IsValid() || object.Parent() != nil && object.Parent() != pkg.Scope() {
			continue // it is of another package, or local to a function
		}
		if from, to := file(id.Pos()), file(object.Pos()); from != to && !slices.Contains(h.reaches[from][to], id.Name) {
			h.reaches[from][to] = append(h.reaches[from][to], id.Name)
		}
	}
	for _, name := range pkg.Scope().Names() {
		h.weigh(pkg.Scope().Lookup(name))
	}
	for _, f := range files {
		h.guarded(f)
	}
	return h, nil
}

// weigh notes a type of many methods.
func (h *house) weigh(object types.Object) {
	if named, ok := object.Type().(*types.Named); ok && named.Obj() == object && named.NumMethods() >= manyMethods {
		h.large = append(h.large, fmt.Sprintf("%s.%s has %d methods", h.name, object.Name(), named.NumMethods()))
	}
}

// guarded notes structs of which one mutex guards many fields: those that stand below it.
func (h *house) guarded(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		s, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true
		}
		below := -1
		for _, field := range s.Fields.List {
			switch {
			case isMutex(field.Type):
				h.note(spec.Name.Name, below)
				below = 0
			case below >= 0:
				below += max(1, len(field.Names))
			}
		}
		h.note(spec.Name.Name, below)
		return true
	})
}

func (h *house) note(name string, fields int) {
	if fields >= manyFields {
		h.large = append(h.large, fmt.Sprintf("%s.%s has %d fields below one mutex", h.name, name, fields))
	}
}

func isMutex(e ast.Expr) bool {
	sel, ok := e.(*ast.SelectorExpr)
	return ok && (sel.Sel.Name == "Mutex" || sel.Sel.Name == "RWMutex")
}

func (h *house) arrows() (n int) {
	for _, to := range h.reaches {
		n += len(to)
	}
	return n
}

// largestKnot returns the largest set of files that all reach each other, in order; one file if there is none.
func (h *house) largestKnot() (largest []string) {
	reach := make(map[string]map[string]bool, len(h.reaches))
	for name := range h.reaches {
		seen := make(map[string]bool)
		for queue := []string{name}; len(queue) > 0; queue = queue[1:] {
			for to := range h.reaches[queue[0]] {
				if !seen[to] {
					seen[to] = true
					queue = append(queue, to)
				}
			}
		}
		reach[name] = seen
	}
	names := slices.Sorted(maps.Keys(reach))
	for _, a := range names {
		var knot []string
		for _, b := range names {
			if a == b || reach[a][b] && reach[b][a] {
				knot = append(knot, b)
			}
		}
		if len(knot) > len(largest) {
			largest = knot
		}
	}
	return largest
}

// printTies prints by which names the files of a knot reach each other.
func (h *house) printTies(out io.Writer, knot []string) {
	for _, from := range knot {
		for _, to := range knot {
			if names := h.reaches[from][to]; names != nil {
				slices.Sort(names)
				fmt.Fprintf(out, "%s/%s -> %s: %s\n", h.name, from, to, strings.Join(names, " "))
			}
		}
	}
}
